"""Arguments of Megatron-LM, as a command line or as the `MODEL_ARGS` of its tests <-> sections of a scenario.

Facts are those of `megatron/training/arguments.py` and `megatron/core/transformer/transformer_config.py`
(Megatron-Core 0.16). Tensor parallelism of experts is that of the rest unless it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.arguments import Arguments, parse
from simulator.convert.megatron_model import read_model, write_model
from simulator.convert.shape import complete
from simulator.convert.values import plain

Section = dict[str, Any]

SHARDS = {"no_shard": "none", "optim": "optimizer", "optim_grads": "gradients", "optim_grads_params": "parameters"}
CONTEXTS = {"p2p": "ring", "all_gather": "all-gather", "a2a": "ulysses", "a2a+p2p": "ring"}
RECIPES = {"delayed": "delayed", "tensorwise": "current", "blockwise": "block", "mxfp8": "mxfp8"}
MODULES = {
    "core_attn": "core_attention",
    "mla_up_proj": "mla_up",
    "layernorm": "layernorm",
    "mlp": "mlp",
    "moe": "moe",
    "moe_act": "moe_activation",
    "shared_experts": "shared_experts",
}
OPTIMIZERS = {"adam": "adamw", "sgd": "sgd", "muon": "muon", "dist_muon": "muon"}
MAPPED_ORDER = "tp-cp-ep-pp-dp"


def read(text: str) -> dict[str, Section]:
    """Return the `model`, `parallelism` and `training` that the arguments give."""
    return _sections(parse(text, "MODEL_ARGS"))


def ignored(text: str) -> list[str]:
    """Return the arguments that bear on none of these sections, sorted."""
    args = parse(text, "MODEL_ARGS")
    _sections(args)
    return args.ignored()


def write(scenario: Mapping[str, Any]) -> str:
    """Return the arguments of a scenario whose model is given by its shape, one a line."""
    flags: dict[str, Any] = {}
    if isinstance(shape := scenario.get("model"), Mapping):
        flags = write_model(shape)
    elif shape is not None:
        raise ValueError(f"model: {str(shape)[:80]!r} is a name; its shape is needed to write arguments")
    layers = flags.get("--num-layers")
    flags |= _parallelism_flags(plain(dict(scenario.get("parallelism") or {})), layers, "--num-experts" in flags)
    flags |= _training_flags(plain(dict(scenario.get("training") or {})))
    lines = [flag if value is True else f"{flag} {_quoted(value)}" for flag, value in flags.items() if _given(value)]
    text = "\n".join(lines) + "\n"
    if isinstance(shape, Mapping):
        _refuse_other_shape(complete(shape), complete(read(text)["model"]))
    return text


def _given(value: Any) -> bool:
    return value is not None and value is not False


def _quoted(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"'{value}'" if isinstance(value, str) and set(value) & set("()*[] ") else str(value)


def _refuse_other_shape(wanted: Section, written: Section) -> None:
    differing = [key for key in wanted if wanted[key] != written.get(key)]
    if differing:
        raise ValueError(f"Megatron-LM has no arguments for this model.{', model.'.join(differing)}")


def _sections(args: Arguments) -> dict[str, Section]:
    model = read_model(args)
    sections = {"model": model, "parallelism": _parallelism(args, model.get("layers")), "training": _training(args)}
    return {name: section for name, section in sections.items() if section}


def _parallelism(args: Arguments, layers: int | None) -> Section:
    tensor = args.number("--tensor-model-parallel-size") or 1
    pipeline = args.number("--pipeline-model-parallel-size") or 1
    section: Section = {"tensor": tensor, "pipeline": pipeline}
    context = args.number("--context-parallel-size") or 1
    section["context"] = _context(args, context) if context > 1 else 1
    expert, expert_tensor = args.number("--expert-model-parallel-size"), args.number("--expert-tensor-parallel-size")
    if args.text("--num-experts"):
        section |= {"expert": expert or 1, "expert_tensor": expert_tensor or tensor}
    if pipeline > 1:
        section["schedule"] = _schedule(args, pipeline, layers)
    section["sequence"] = args.switch("--sequence-parallel")
    section["shard"] = _shard(args)
    if args.switch("--use-tp-pp-dp-mapping"):
        section["order"] = MAPPED_ORDER
    return section


def _schedule(args: Arguments, pipeline: int, layers: int | None) -> Section:
    chunks = args.number("--num-virtual-stages-per-pipeline-rank")
    per_chunk = args.number("--num-layers-per-virtual-pipeline-stage")
    if per_chunk and layers:
        if layers % (pipeline * per_chunk):
            raise ValueError(
                f"--num-layers-per-virtual-pipeline-stage: {layers} layers are not {pipeline} stages of {per_chunk}"
            )
        chunks = layers // (pipeline * per_chunk)
    return {"kind": "interleaved-1f1b", "chunks": chunks} if chunks and chunks > 1 else {"kind": "1f1b"}


def _shard(args: Arguments) -> str:
    fully = args.switch("--use-megatron-fsdp", "--use-custom-fsdp")
    strategy = args.choice(SHARDS, "--data-parallel-sharding-strategy", default="none")
    if fully:
        return strategy
    if args.switch("--use-torch-fsdp2"):
        return "parameters"
    return "optimizer" if args.switch("--use-distributed-optimizer") else "none"


def _training(args: Arguments) -> Section:
    sequence, samples = args.number("--seq-length"), args.number("--train-samples")
    section = {
        "steps": args.number("--train-iters"),
        "tokens": samples * sequence if samples and sequence else None,
        "sequence_length": sequence,
        "global_batch": args.number("--global-batch-size"),
        "microbatch": args.number("--micro-batch-size"),
        "precision": _precision(args),
        "optimizer": args.choice(OPTIMIZERS, "--optimizer"),
        "recompute": _recompute(args),
    }
    if args.switch("--optimizer-cpu-offload"):
        share = args.number("--optimizer-offload-fraction")
        section["offload"] = {"optimizer": 1 if share is None else share, "to": "cpu"}
    return {key: value for key, value in section.items() if value is not None}


def _precision(args: Arguments) -> Any:
    base = "bf16" if args.switch("--bf16") else "fp16" if args.switch("--fp16") else None
    recipe = args.choice(RECIPES, "--fp8-recipe", default="delayed")
    if args.text("--fp4-format"):
        return "nvfp4"
    if args.text("--fp8-format", "--fp8"):
        return "mxfp8" if recipe == "mxfp8" else {"kind": "fp8", "scaling": recipe}
    return base


def _recompute(args: Arguments) -> Any:
    kind = args.text("--recompute-granularity") or ("full" if args.switch("--recompute-activations") else None)
    method, layers = args.text("--recompute-method"), args.number("--recompute-num-layers")
    modules = args.text("--recompute-modules")
    if kind == "full":
        return {"kind": "full", "layers": layers} if method == "block" and layers else "full"
    if kind != "selective":
        return None
    if not modules:
        return "selective"
    for name in modules.split():
        if name not in MODULES:
            args.leave("--recompute-modules", name)
    return {"kind": "selective", "modules": [MODULES[name] for name in modules.split() if name in MODULES]}


def _context(args: Arguments, size: int) -> Section:
    """Return the context axis; of its two levels, Megatron-LM names the ranks that exchange heads first."""
    kind = args.choice(CONTEXTS, "--cp-comm-type", default="ring")
    section: Section = {"size": size, "kind": kind}
    if args.text("--cp-comm-type") != "a2a+p2p":
        return section
    levels = (args.text("--hierarchical-context-parallel-sizes") or "").split()
    if len(levels) != 2 or not all(level.isdecimal() for level in levels):
        raise ValueError("--hierarchical-context-parallel-sizes: a2a+p2p needs two numbers, found " + repr(levels[:3]))
    return section | {"ulysses": int(levels[0])}


def _context_flags(context: Any) -> dict[str, Any]:
    if not isinstance(context, dict) or context.get("size", 1) == 1:
        return {"--cp-comm-type": "p2p" if not isinstance(context, dict) and context > 1 else None}
    size, ulysses = context["size"], context.get("ulysses", 1)
    kind = context.get("kind", "ring") if ulysses < size else "ulysses"
    if context.get("tokens", "zigzag") != "zigzag":
        raise ValueError("parallelism.context.tokens: Megatron-LM gives a rank a chunk from each end of the sequence")
    if 1 < ulysses < size:
        if kind != "ring":
            raise ValueError(f"parallelism.context: Megatron-LM exchanges heads inside a ring only, not inside {kind}")
        return {"--cp-comm-type": "a2a+p2p", "--hierarchical-context-parallel-sizes": (ulysses, size // ulysses)}
    return {"--cp-comm-type": {kind: name for name, kind in reversed(CONTEXTS.items())}[kind]}


def _parallelism_flags(section: Section, layers: int | None, moe: bool) -> dict[str, Any]:
    context = section.get("context", 1)
    size = context.get("size", 1) if isinstance(context, dict) else context
    schedule = section.get("schedule", "1f1b")
    name = schedule.get("kind") if isinstance(schedule, dict) else schedule
    if name not in ("1f1b", "interleaved-1f1b"):
        raise ValueError(f"parallelism.schedule: Megatron-LM has no {name}")
    chunks = schedule.get("chunks", 2) if isinstance(schedule, dict) and name == "interleaved-1f1b" else None
    return {
        "--tensor-model-parallel-size": section.get("tensor", 1),
        "--pipeline-model-parallel-size": section.get("pipeline", 1),
        "--num-virtual-stages-per-pipeline-rank": chunks,
        "--context-parallel-size": size,
        **_context_flags(context),
        "--expert-model-parallel-size": section.get("expert", 1) if moe else None,
        "--expert-tensor-parallel-size": section.get("expert_tensor", 1) if moe else None,
        "--sequence-parallel": section.get("sequence", False),
        "--use-tp-pp-dp-mapping": section.get("order") == MAPPED_ORDER,
    } | _shard_flags(section.get("shard", "none"))


def _shard_flags(shard: Any) -> dict[str, Any]:
    level = shard.get("level", "none") if isinstance(shard, dict) else shard
    if level in ("none", "optimizer"):
        return {"--use-distributed-optimizer": level == "optimizer"}
    strategy = {theirs: name for name, theirs in SHARDS.items()}[level]
    return {"--use-megatron-fsdp": True, "--data-parallel-sharding-strategy": strategy}


def _training_flags(section: Section) -> dict[str, Any]:
    tokens, sequence = section.get("tokens"), section.get("sequence_length")
    optimizer = {theirs: name for name, theirs in reversed(OPTIMIZERS.items())}.get(section.get("optimizer", ""))
    offload = section.get("offload") or {}
    return {
        "--train-iters": section.get("steps"),
        "--train-samples": tokens // sequence if tokens and sequence else None,
        "--seq-length": sequence,
        "--global-batch-size": section.get("global_batch"),
        "--micro-batch-size": section.get("microbatch"),
        "--optimizer": optimizer,
        "--optimizer-cpu-offload": bool(offload.get("optimizer")),
        "--optimizer-offload-fraction": offload.get("optimizer"),
    } | {**_precision_flags(section.get("precision")), **_recompute_flags(section.get("recompute"))}


def _precision_flags(precision: Any) -> dict[str, Any]:
    kind = precision.get("kind") if isinstance(precision, dict) else precision
    if kind in ("bf16", "fp16"):
        return {f"--{kind}": True}
    if kind == "nvfp4":
        return {"--bf16": True, "--fp4-format": "e2m1"}
    if kind not in ("fp8", "mxfp8"):
        return {}
    scaling = precision.get("scaling", "delayed") if isinstance(precision, dict) else "delayed"
    recipe = "mxfp8" if kind == "mxfp8" else {theirs: name for name, theirs in RECIPES.items()}[scaling]
    return {"--bf16": True, "--fp8-format": "hybrid", "--fp8-recipe": recipe}


def _recompute_flags(recompute: Any) -> dict[str, Any]:
    section = recompute if isinstance(recompute, dict) else {"kind": recompute}
    kind, modules = section.get("kind"), section.get("modules")
    if kind == "full":
        layers = section.get("layers")
        method = {"--recompute-method": "block" if layers else "uniform", "--recompute-num-layers": layers or 1}
        return {"--recompute-granularity": "full", **method}
    if kind != "selective":
        return {}
    names = {theirs: name for name, theirs in MODULES.items()}
    return {"--recompute-granularity": "selective"} | (
        {"--recompute-modules": " ".join(names[m] for m in modules)} if modules else {}
    )
