"""Settings of PyTorch FSDP, as the configuration of Hugging Face accelerate (YAML) <-> sections of a scenario.

Keys are those of `accelerate config` 1.10: `fsdp_config` of version 2 is written, that of version 1 is read too, and
`parallelism_config` gives the degrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from simulator.convert import plain_yaml
from simulator.convert.values import plain

Section = dict[str, Any]

STRATEGIES = {
    "FULL_SHARD": "parameters",
    "SHARD_GRAD_OP": "gradients",
    "NO_SHARD": "none",
    "HYBRID_SHARD": "parameters",
    "HYBRID_SHARD_ZERO2": "gradients",
}
"""Version 1; there they may also be numbers, in this order."""
PRECISIONS = ("bf16", "fp16", "fp8")
DEGREES = {
    "tensor": "parallelism_config.parallelism_config_tp_size",
    "context": "parallelism_config.parallelism_config_cp_size",
    "replicas": "parallelism_config.parallelism_config_dp_replicate_size",
}
READ = {
    "distributed_type",
    "mixed_precision",
    "fsdp_config.fsdp_version",
    "fsdp_config.fsdp_reshard_after_forward",
    "fsdp_config.fsdp_sharding_strategy",
    "fsdp_config.fsdp_offload_params",
    "fsdp_config.fsdp_activation_checkpointing",
    *DEGREES.values(),
}
_LARGEST_TEXT = 1_000_000


def read(text: str) -> dict[str, Section]:
    """Return the `parallelism` and `training` that the configuration gives."""
    values = _values(text)
    sections = {"parallelism": _parallelism(values), "training": _training(values)}
    return {name: section for name, section in sections.items() if section}


def ignored(text: str) -> list[str]:
    """Return the keys that bear on neither, sorted."""
    return sorted(_values(text).keys() - READ)


def write(scenario: Mapping[str, Any]) -> str:
    """Return the configuration of a scenario that shards gradients or parameters, or nothing, over its data ranks."""
    training = plain(dict(scenario.get("training") or {}))
    parallelism = plain(dict(scenario.get("parallelism") or {}))
    cluster = plain(dict(scenario.get("cluster") or {}))
    if parallelism.get("pipeline", 1) > 1:
        raise ValueError("parallelism.pipeline: FSDP of accelerate has no pipeline")
    shard = parallelism.get("shard", "parameters")
    shard = shard if isinstance(shard, dict) else {"level": shard}
    level, replicas = shard.get("level", "parameters"), shard.get("replicas", 1)
    if level == "optimizer":
        raise ValueError("parallelism.shard: FSDP shards gradients with the optimizer; it has no `optimizer`")
    config: Section = {"compute_environment": "LOCAL_MACHINE"}
    config["distributed_type"] = "MULTI_GPU" if level == "none" else "FSDP"
    config["mixed_precision"] = _written_precision(training.get("precision"))
    config |= _machines(cluster)
    if level != "none":
        config["fsdp_config"] = {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": level == "parameters",
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
            "fsdp_offload_params": bool((training.get("offload") or {}).get("parameters")),
            "fsdp_activation_checkpointing": _kind(training.get("recompute")) == "full",
        }
    config |= _degrees(parallelism, replicas, config.get("num_processes"))
    return yaml.safe_dump(config, sort_keys=False)


def _machines(cluster: Section) -> Section:
    host = cluster.get("host")
    gpus = host.get("gpus") if isinstance(host, dict) else None
    if not isinstance(gpus, int) or not isinstance(cluster.get("hosts"), int):
        return {}
    return {"num_machines": cluster["hosts"], "num_processes": cluster["hosts"] * gpus}


def _degrees(parallelism: Section, replicas: int, processes: int | None) -> Section:
    """Return the degrees where one of them is not left to accelerate; its shard degree has no default then."""
    tensor, context = parallelism.get("tensor", 1), _size(parallelism.get("context", 1))
    if tensor == context == replicas == 1:
        return {}
    if processes is None:
        raise ValueError("cluster: the degrees need the number of GPUs: give cluster.hosts and cluster.host.gpus")
    sizes = {"tp": tensor, "cp": context, "dp_replicate": replicas}
    sizes["dp_shard"] = processes // (tensor * context * replicas)
    return {"parallelism_config": {f"parallelism_config_{name}_size": size for name, size in sizes.items()}}


def _size(context: Any) -> int:
    size: int = context.get("size", 1) if isinstance(context, dict) else context
    return size


def _kind(section: Any) -> Any:
    return section.get("kind") if isinstance(section, dict) else section


def _written_precision(precision: Any) -> str:
    kind = _kind(precision) or "bf16"
    if kind in ("fp32", "tf32"):
        return "no"
    if kind not in PRECISIONS:
        raise ValueError(f"training.precision: accelerate has no {kind}; it has {', '.join(PRECISIONS)}")
    return str(kind)


def _values(text: str) -> dict[str, Any]:
    """Return the values of the configuration by dotted key, two levels deep."""
    if len(text) > _LARGEST_TEXT:
        raise ValueError(f"larger than {_LARGEST_TEXT} characters")
    config = plain_yaml.load(text)
    if not isinstance(config, dict) or not all(isinstance(key, str) for key in config):
        raise ValueError("not a configuration of accelerate: expected a mapping of keys")
    values: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            values |= {f"{key}.{inner}": plain(item) for inner, item in value.items()}
        else:
            values[key] = plain(value)
    if not isinstance(values.get("distributed_type", ""), str) or not values:
        raise ValueError("distributed_type: expected a word such as FSDP")
    return values


def _number(values: Mapping[str, Any], key: str) -> int:
    value = values.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{key}: expected a whole number from 1, found {str(value)[:80]!r}")
    return value


def _parallelism(values: Mapping[str, Any]) -> Section:
    sizes = {name: _number(values, key) for name, key in DEGREES.items()}
    section: Section = {name: size for name, size in sizes.items() if name != "replicas" and size > 1}
    level, replicas = _level(values), sizes["replicas"]
    if level is not None:
        section["shard"] = {"level": level, "replicas": replicas} if replicas > 1 else level
    return section


def _level(values: Mapping[str, Any]) -> str | None:
    kind = str(values.get("distributed_type", "FSDP")).upper()
    if kind != "FSDP":
        return "none" if kind in ("MULTI_GPU", "NO") else None
    strategy = values.get("fsdp_config.fsdp_sharding_strategy")
    if strategy is None:
        kept = str(values.get("fsdp_config.fsdp_reshard_after_forward", True)).lower() == "false"
        return "gradients" if kept else "parameters"
    if isinstance(strategy, int) and 1 <= strategy <= len(STRATEGIES):
        return list(STRATEGIES.values())[strategy - 1]
    if str(strategy) not in STRATEGIES:
        raise ValueError(
            f"fsdp_sharding_strategy: {str(strategy)[:80]!r} is not known; known are {', '.join(STRATEGIES)}"
        )
    return STRATEGIES[str(strategy)]


def _training(values: Mapping[str, Any]) -> Section:
    section: Section = {}
    precision = str(values.get("mixed_precision", ""))
    if precision in PRECISIONS:
        section["precision"] = precision
    elif precision == "no":
        section["precision"] = "fp32"
    if values.get("fsdp_config.fsdp_activation_checkpointing") is True:
        section["recompute"] = "full"
    if values.get("fsdp_config.fsdp_offload_params") is True:
        section["offload"] = {"parameters": 1, "optimizer": 1, "to": "cpu"}
    return section
