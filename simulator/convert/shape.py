"""The whole `model` section of a scenario: text as numbers, defaults filled in, so that two can be compared.

The rooms of formats import nothing of the simulator, so the defaults stand here once more; a test holds them to
`simulator.workload.model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.values import plain

Plain = dict[str, Any]

REQUIRED = ("layers", "hidden", "heads", "vocabulary")
LARGEST = 10**7
"""No model has more layers, heads, or wider ones; what is beyond is a mistake and not worth the memory."""
DEFAULTS: Plain = {
    "gated": True,
    "tied": False,
    "norm": "rmsnorm",
    "norm_bias": True,
    "norms": 2,
    "final_norm": True,
    "parallel": False,
    "activation": "silu",
    "bias": "none",
    "qk_norm": "none",
    "sinks": False,
    "embedding_norm": False,
    "positions": "rope",
    "max_positions": 2048,
    "dropout": 0.0,
    "attention": "full",
    "experts": None,
    "mtp": 0,
}
EXPERT_DEFAULTS: Plain = {"shared": 0, "dense_layers": 0, "every": 1, "router_bias": False, "groups": 1}
NOT_SHAPE = ("base", "source", "aliases", "published")
"""Keys of a resolved scenario or a catalog entry that say where a model comes from."""
ATTENTION_DEFAULTS: dict[str, Plain] = {"full": {}, "window": {"full_every": 0}, "mla": {"q_rank": 0}}


def complete(model: Mapping[str, Any]) -> Plain:
    """Return `model` with numbers as numbers and every default filled in; keys without meaning are left out."""
    whole: Plain = DEFAULTS | plain({key: value for key, value in model.items() if key not in NOT_SHAPE})
    for key in REQUIRED:
        if not isinstance(whole.get(key), int) or not 1 <= whole[key] <= LARGEST:
            raise ValueError(f"{key}: expected a whole number from 1 to {LARGEST}, found {whole.get(key)!r}")
    whole["ffn"] = whole.get("ffn") or 4 * whole["hidden"]
    whole["kv_heads"] = whole.get("kv_heads") or whole["heads"]
    whole["head_size"] = whole.get("head_size") or whole["hidden"] // whole["heads"]
    if whole["experts"] is not None:
        experts = EXPERT_DEFAULTS | whole["experts"]
        whole["experts"] = experts | {"active_groups": experts.get("active_groups") or experts["groups"]}
    if isinstance(whole["attention"], dict):
        _complete_attention(whole, whole["attention"])
    if whole["positions"] != "learned":
        whole.pop("max_positions")
    if whole["norm"] == "rmsnorm":
        whole.pop("norm_bias")
    return whole


def short(whole: Mapping[str, Any]) -> Plain:
    """Return a whole model without the keys that have their default."""
    model = {key: value for key, value in whole.items() if key not in DEFAULTS or DEFAULTS[key] != value}
    if experts := model.get("experts"):
        kept = {k: v for k, v in experts.items() if k not in EXPERT_DEFAULTS or EXPERT_DEFAULTS[k] != v}
        if kept.get("active_groups") == experts.get("groups"):
            del kept["active_groups"]
        model["experts"] = kept
    return model


def _complete_attention(whole: Plain, attention: Plain) -> None:
    kind = attention.get("kind", "window")
    if kind not in ATTENTION_DEFAULTS:
        raise ValueError(f"attention.kind: {kind!r} is not known; known are {', '.join(ATTENTION_DEFAULTS)}")
    whole["attention"] = "full" if kind == "full" else ATTENTION_DEFAULTS[kind] | attention | {"kind": kind}
    if kind == "mla":
        del whole["kv_heads"], whole["head_size"]
