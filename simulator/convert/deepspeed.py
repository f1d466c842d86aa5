"""Configuration of DeepSpeed (JSON) <-> sections of a scenario: batch, precision, ZeRO stage, offload.

Values that are "auto" are left out, since they are filled in elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simulator.convert.values import plain

Section = dict[str, Any]

STAGES = ("none", "optimizer", "gradients", "parameters")
OPTIMIZERS = {
    "adam": "adamw",
    "adamw": "adamw",
    "fusedadam": "adamw",
    "deepspeedcpuadam": "adamw",
    "lion": "lion",
    "fusedlion": "lion",
    "sgd": "sgd",
    "muon": "muon",
}
PRECISIONS = ("bf16", "fp16")
READ = {
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "optimizer.type",
    "bf16.enabled",
    "fp16.enabled",
    "zero_optimization.stage",
    "zero_optimization.offload_optimizer.device",
    "zero_optimization.offload_optimizer.ratio",
    "zero_optimization.offload_param.device",
    "tensor_parallel.autotp_size",
}
AUTO = "auto"


def read(text: str) -> dict[str, Section]:
    """Return the `parallelism` and `training` that the configuration gives."""
    values = _values(text)
    sections = {"parallelism": _parallelism(values), "training": _training(values)}
    return {name: section for name, section in sections.items() if section}


def ignored(text: str) -> list[str]:
    """Return the keys that bear on neither, sorted; those whose value is "auto" too."""
    values = _values(text)
    return sorted(key for key, value in values.items() if key not in READ or value == AUTO)


def write(scenario: Mapping[str, Any]) -> str:
    """Return the configuration of a scenario."""
    training = plain(dict(scenario.get("training") or {}))
    parallelism = plain(dict(scenario.get("parallelism") or {}))
    config: Section = {}
    if "global_batch" in training:
        config["train_batch_size"] = training["global_batch"]
    if "microbatch" in training:
        config["train_micro_batch_size_per_gpu"] = training["microbatch"]
    if (optimizer := training.get("optimizer")) is not None:
        config["optimizer"] = {"type": _optimizer(optimizer)}
    precision = training.get("precision")
    kind = precision.get("kind") if isinstance(precision, dict) else precision
    config |= {name: {"enabled": True} for name in PRECISIONS if name == kind}
    config["zero_optimization"] = _zero(parallelism.get("shard", "none"), training.get("offload") or {})
    if parallelism.get("tensor", 1) > 1:
        config["tensor_parallel"] = {"autotp_size": parallelism["tensor"]}
    return json.dumps(config, indent=2) + "\n"


def _optimizer(name: str) -> str:
    types = {"adamw": "AdamW", "lion": "Lion", "sgd": "SGD", "muon": "Muon"}
    if name not in types:
        raise ValueError(f"training.optimizer: DeepSpeed has no {name}; it has {', '.join(types)}")
    return types[name]


def _zero(shard: Any, offload: Mapping[str, Any]) -> Section:
    level = shard.get("level", "none") if isinstance(shard, dict) else shard
    section: Section = {"stage": STAGES.index(level)}
    device = offload.get("to", "cpu")
    if share := offload.get("optimizer"):
        section["offload_optimizer"] = {"device": device} | ({"ratio": share} if share < 1 else {})
    if offload.get("parameters"):
        section["offload_param"] = {"device": device}
    return section


def _values(text: str) -> dict[str, Any]:
    """Return the leaves of the configuration by dotted key."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a DeepSpeed configuration: {error}") from None
    if not isinstance(config, dict):
        raise ValueError("not a DeepSpeed configuration: expected one JSON object")
    leaves: dict[str, Any] = {}
    waiting = [("", config)]
    while waiting:
        prefix, section = waiting.pop()
        for key, value in section.items():
            if isinstance(value, dict):
                waiting.append((f"{prefix}{key}.", value))
            else:
                leaves[prefix + key] = value
    return leaves


def _number(values: Mapping[str, Any], key: str, wanted: type[int] | type[float] = int) -> Any:
    value: Any = values.get(key)
    if value is None or value == AUTO:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, wanted)) or value < 0:
        raise ValueError(f"{key}: expected a number, found {value!r}")
    return value


def _parallelism(values: Mapping[str, Any]) -> Section:
    section: Section = {}
    if (stage := _number(values, "zero_optimization.stage")) is not None:
        if stage >= len(STAGES):
            raise ValueError(f"zero_optimization.stage: expected 0 to 3, found {stage}")
        section["shard"] = STAGES[stage]
    if tensor := _number(values, "tensor_parallel.autotp_size"):
        section["tensor"] = tensor
    return section


def _training(values: Mapping[str, Any]) -> Section:
    optimizer = str(values.get("optimizer.type", AUTO)).lower()
    section = {
        "global_batch": _number(values, "train_batch_size"),
        "microbatch": _number(values, "train_micro_batch_size_per_gpu"),
        "precision": next((name for name in PRECISIONS if values.get(f"{name}.enabled") is True), None),
        "optimizer": None if optimizer == AUTO else OPTIMIZERS.get(optimizer),
        "offload": _offload(values),
    }
    if optimizer != AUTO and optimizer not in OPTIMIZERS:
        raise ValueError(f"optimizer.type: {optimizer[:40]!r} is not known; known are {', '.join(OPTIMIZERS)}")
    return {key: value for key, value in section.items() if value is not None}


def _offload(values: Mapping[str, Any]) -> Section | None:
    devices = {part: values.get(f"zero_optimization.offload_{part}.device") for part in ("optimizer", "param")}
    used = {part: device for part, device in devices.items() if device in ("cpu", "nvme")}
    if not used:
        return None
    section: Section = {"to": next(iter(used.values()))}
    if "optimizer" in used:
        ratio = _number(values, "zero_optimization.offload_optimizer.ratio", float)
        section["optimizer"] = 1 if ratio is None else ratio
    if "param" in used:
        section["parameters"] = 1
    return section
