"""Command line of torchtitan <-> sections of a scenario.

Facts are those of `torchtitan/config/configs.py` (0.3.0), whose flags are frozen; what its Python recipes set,
such as converters to fp8, has no flag. Older spellings (`--model.name`, `--activation_checkpoint.mode`) are read.
Weights are sharded over all data ranks (FSDP) unless degrees say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.convert.arguments import Arguments, parse
from simulator.convert.values import plain

Section = dict[str, Any]

MODELS = {
    ("llama3", "1b"): ("llama-3.2-1b", 16, 2048),
    ("llama3", "3b"): ("llama-3.2-3b", 28, 3072),
    ("llama3", "8b"): ("llama-3.1-8b", 32, 4096),
    ("llama3", "70b"): ("llama-3.1-70b", 80, 8192),
    ("llama3", "405b"): ("llama-3.1-405b", 126, 16384),
    ("deepseek_v3", "16b"): ("deepseek-v2-lite", 27, 2048),
    ("deepseek_v3", "671b"): ("deepseek-v3", 61, 7168),
    ("qwen3", "0_6b"): ("qwen3-0.6b", 28, 1024),
    ("qwen3", "1_7b"): ("qwen3-1.7b", 28, 2048),
    ("qwen3", "4b"): ("qwen3-4b", 36, 2560),
    ("qwen3", "8b"): ("qwen3-8b", 36, 4096),
    ("qwen3", "14b"): ("qwen3-14b", 40, 5120),
    ("qwen3", "32b"): ("qwen3-32b", 64, 5120),
    ("qwen3", "30b_a3b"): ("qwen3-30b-a3b", 48, 2048),
    ("qwen3", "235b_a22b"): ("qwen3-235b-a22b", 94, 4096),
    ("gpt_oss", "20b"): ("gpt-oss-20b", 24, 2880),
    ("gpt_oss", "120b"): ("gpt-oss-120b", 36, 2880),
}
"""Module and size of a recipe -> catalog name, layers, hidden. Its 16B DeepSeek has the shape of DeepSeek-V2-Lite."""
SCHEDULES = {
    "1F1B": "1f1b",
    "GPipe": "gpipe",
    "Interleaved1F1B": "interleaved-1f1b",
    "ZBVZeroBubble": "zb-v",
    "DualPipeV": "dualpipe",
}
DTYPES = {"bfloat16": "bf16", "float32": "fp32"}
RECOMPUTE = {"none": "none", "selective": "selective", "full": "full"}
CHECKPOINT = "activation-checkpoint:"
"""The policy of recompute is a word of its own, after the flags."""


def read(text: str) -> dict[str, Any]:
    """Return the `model` name, `parallelism` and `training` that the command line gives."""
    return _sections(*_parsed(text))


def ignored(text: str) -> list[str]:
    """Return the flags that bear on none of these, sorted."""
    args, recompute = _parsed(text)
    _sections(args, recompute)
    return args.ignored()


def write(scenario: Mapping[str, Any]) -> str:
    """Return the command line of a scenario, one flag a line; the shard degree is left to fill the cluster."""
    training = plain(dict(scenario.get("training") or {}))
    parallelism = plain(dict(scenario.get("parallelism") or {}))
    data = _data(scenario.get("cluster"), parallelism)
    flags = _model_flags(scenario.get("model")) | _parallelism_flags(parallelism, training, data)
    flags |= _training_flags(training, parallelism.get("pipeline", 1), data)
    lines = [f"{flag} {value}".rstrip() for flag, value in flags.items() if value is not None]
    recompute = training.get("recompute")
    kind = recompute.get("kind") if isinstance(recompute, dict) else recompute
    return "\n".join([*lines, *([f"{CHECKPOINT}{kind}"] if kind in RECOMPUTE else [])]) + "\n"


def _parsed(text: str) -> tuple[Arguments, str | None]:
    policy = re.search(rf"(?:^|\s){CHECKPOINT}([\w-]+)", text)
    flags = re.sub(rf"(^|\s){CHECKPOINT}[\w-]+", r"\1", text)
    return parse(_underscored(flags)), policy[1] if policy else None


def _underscored(text: str) -> str:
    """Return `text` with one spelling of flags, since tyro takes hyphens and underscores alike."""
    return re.sub(r"(?<!\S)--[\w.-]+", lambda flag: "--" + flag[0][2:].replace("-", "_"), text)


def _sections(args: Arguments, recompute: str | None) -> dict[str, Any]:
    sections = {"model": _model(args), "parallelism": _parallelism(args), "training": _training(args, recompute)}
    return {name: section for name, section in sections.items() if section}


def _model(args: Arguments) -> str | None:
    module, size = args.text("--module", "--model.name"), args.text("--model.flavor")
    if recipe := args.text("--config"):
        size = recipe.removeprefix(f"{module}_")
    if module is None or size is None:
        return None
    key = (module, re.sub(r"[.-]", "_", size.lower()))
    if key not in MODELS:
        known = ", ".join(f"{module} {size}" for module, size in MODELS)
        raise ValueError(f"--module and --config: {module[:40]} {size[:40]} is not known; known are {known}")
    return MODELS[key][0]


def _parallelism(args: Arguments) -> Section:
    def degree(name: str, default: int = 1) -> int:
        value = args.number(f"--parallelism.{name}")
        return default if value is None else value

    pipeline = degree("pipeline_parallel_degree")
    tensor = degree("tensor_parallel_degree")
    off = args.switch("--parallelism.no_enable_sequence_parallel")
    off = off or args.text("--parallelism.enable_sequence_parallel") in ("False", "false")
    section: Section = {
        "tensor": tensor,
        "pipeline": pipeline,
        "context": degree("context_parallel_degree"),
        "expert": degree("expert_parallel_degree"),
        "expert_tensor": degree("expert_tensor_parallel_degree"),
        "sequence": tensor > 1 and not off,
        "shard": _shard(args, degree("data_parallel_replicate_degree"), degree("data_parallel_shard_degree", -1)),
    }
    schedule = args.choice(SCHEDULES, "--parallelism.pipeline_parallel_schedule", default="1f1b")
    if pipeline > 1:
        section["schedule"] = {"kind": schedule} | ({"chunks": 2} if schedule == "interleaved-1f1b" else {})
    return section


def _shard(args: Arguments, replicas: int, shards: int) -> Any:
    if shards == 1:
        return "none"
    kept = args.text("--parallelism.fsdp_reshard_after_forward") == "never"
    level = "gradients" if kept else "parameters"
    return {"level": level, "replicas": replicas} if replicas > 1 else level


def _training(args: Arguments, recompute: str | None) -> Section:
    local = args.number("--training.local_batch_size", "--training.batch_size")
    pipelined = (args.number("--parallelism.pipeline_parallel_degree") or 1) > 1
    part = args.number("--parallelism.pipeline_parallel_microbatch_size") or 1
    if pipelined and local:
        args.leave("--training.local_batch_size", f"{local} (a pipeline runs the whole batch of its data rank)")
    whole = args.number("--training.global_batch_size")
    mode = args.text("--activation_checkpoint.mode")
    section = {
        "steps": args.number("--training.steps"),
        "sequence_length": args.number("--training.seq_len"),
        "global_batch": whole if whole and whole > 0 else None,
        "microbatch": part if pipelined else local,
        "precision": args.choice(DTYPES, "--training.mixed_precision_param", "--training.dtype"),
        "recompute": RECOMPUTE.get(recompute or mode or ""),
    }
    if args.switch("--training.enable_cpu_offload"):
        section["offload"] = {"parameters": 1, "optimizer": 1, "to": "cpu"}
    return {key: value for key, value in section.items() if value is not None}


def _model_flags(model: Any) -> Section:
    """Return the recipe of a model by name; one whose shape was altered has none, so the user names it."""
    section = plain(dict(model)) if isinstance(model, Mapping) else {"base": model}
    for (module, size), (name, layers, hidden) in MODELS.items():
        altered = section.get("layers", layers) != layers or section.get("hidden", hidden) != hidden
        if section.get("base") == name and not altered:
            return {"--module": module, "--config": f"{module}_{size}"}
    return {}


def _data(cluster: Any, parallelism: Section) -> int | None:
    """Return the number of data ranks, where the scenario says how many GPUs there are."""
    cluster = plain(dict(cluster or {}))
    host = cluster.get("host")
    gpus = host.get("gpus") if isinstance(host, dict) else None
    if not isinstance(gpus, int) or not isinstance(cluster.get("hosts"), int):
        return None
    model_parallel: int = parallelism.get("tensor", 1) * parallelism.get("pipeline", 1) * _context(parallelism)
    return int(cluster["hosts"]) * gpus // model_parallel


def _context(parallelism: Section) -> int:
    context = parallelism.get("context", 1)
    size: int = context.get("size", 1) if isinstance(context, dict) else context
    return size


def _replicas(shard: Any, level: str, data: int | None) -> int:
    if level != "none":
        return shard.get("replicas", 1) if isinstance(shard, dict) else 1
    if data is None:
        raise ValueError("parallelism.shard: `none` needs the number of GPUs: give cluster.hosts and cluster.host.gpus")
    return data


def _parallelism_flags(section: Section, training: Section, data: int | None) -> Section:
    shard = section.get("shard", "parameters")
    level = shard.get("level", "parameters") if isinstance(shard, dict) else shard
    if level == "optimizer":
        raise ValueError("parallelism.shard: torchtitan shards gradients with the optimizer; it has no `optimizer`")
    schedule = section.get("schedule", "1f1b")
    kind = schedule.get("kind") if isinstance(schedule, dict) else schedule
    schedules = {theirs: name for name, theirs in SCHEDULES.items()}
    if kind not in schedules:
        raise ValueError(f"parallelism.schedule: torchtitan has no {kind}")
    pipelined = section.get("pipeline", 1) > 1
    tensor = section.get("tensor", 1)
    degrees = {
        "data_parallel_replicate_degree": _replicas(shard, level, data),
        "data_parallel_shard_degree": 1 if level == "none" else -1,
        "fsdp_reshard_after_forward": "never" if level == "gradients" else None,
        "tensor_parallel_degree": tensor,
        "no_enable_sequence_parallel": "" if tensor > 1 and not section.get("sequence", True) else None,
        "context_parallel_degree": _context(section),
        "expert_parallel_degree": section.get("expert", 1),
        "pipeline_parallel_degree": section.get("pipeline", 1),
        "pipeline_parallel_schedule": schedules[kind] if pipelined else None,
        "pipeline_parallel_microbatch_size": training.get("microbatch", 1) if pipelined else None,
    }
    return {f"--parallelism.{name}": value for name, value in degrees.items()}


def _training_flags(section: Section, pipeline: int, data: int | None) -> Section:
    local, whole = section.get("microbatch"), section.get("global_batch")
    if pipeline > 1:
        local = whole // data if whole and data else None
    precision = section.get("precision")
    kind = precision.get("kind") if isinstance(precision, dict) else precision
    dtypes = {theirs: name for name, theirs in DTYPES.items()}
    return {
        "--training.local_batch_size": local,
        "--training.global_batch_size": section.get("global_batch"),
        "--training.seq_len": section.get("sequence_length"),
        "--training.steps": section.get("steps") or _steps(section),
        "--training.mixed_precision_param": dtypes.get(kind or ""),
    }


def _steps(section: Section) -> int | None:
    """Return the steps that the tokens take; the last is a whole one."""
    tokens, step = section.get("tokens"), section.get("global_batch", 0) * section.get("sequence_length", 0)
    return -(-tokens // step) if tokens and step else None
