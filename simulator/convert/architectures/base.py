"""How an architecture of Hugging Face names the shape of a model.

An architecture has keys that stand for ours one to one, values that its code fixes, and, where one key decides
several things, a pair of functions. What its code does is read in `transformers/models/<model type>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Plain = dict[str, Any]

SHAPE = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_size": "head_dim",
    "ffn": "intermediate_size",
    "vocabulary": "vocab_size",
    "activation": "hidden_act",
    "tied": "tie_word_embeddings",
}
"""Our key and theirs, as most architectures since Llama spell it."""

OLD_SHAPE = {name: SHAPE[name] for name in ("layers", "hidden", "heads", "vocabulary", "tied")}
"""The part of it that architectures before Llama share."""

_COUNT = ("num_local_experts", "num_experts", "n_routed_experts")
"""Spellings of the number of experts. transformers takes them for one another (`attribute_map`), and writes one or the
other by its version."""


def experts_as(count: str, width: str) -> dict[str, str]:
    """Return the keys of experts of an architecture that spells their number and inner width like this.

    >>> experts_as("num_experts", "moe_intermediate_size")["experts.count"]
    'num_experts|num_local_experts|n_routed_experts'
    """
    spellings = (count, *(other for other in _COUNT if other != count))
    return {
        "experts.count": "|".join(spellings),
        "experts.active": "num_experts_per_tok|experts_per_token",
        "experts.ffn": width,
    }


GROUPS = {"experts.groups": "n_group", "experts.active_groups": "topk_group"}
"""Node-limited routing (DeepSeek-V2 and later), and what a configuration means that says nothing of it."""
ONE_GROUP: Plain = {"n_group": 1, "topk_group": 1}

LOCAL_EXPERTS = experts_as("num_local_experts", "intermediate_size")


def _nothing(_: Mapping[str, Any]) -> Plain:
    return {}


@dataclass(frozen=True, kw_only=True)
class Architecture:
    model_type: str
    name: str
    """Name of its class in transformers."""
    keys: Mapping[str, str]
    """Our key -> theirs. A ``|`` separates older spellings; a dot of ours leads into a section."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Our key -> the value that its code gives, where ours has another default."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Their key -> what its code takes where the file leaves it out."""
    read: Callable[[Mapping[str, Any]], Plain] = _nothing
    """Their configuration -> our keys beyond the one-to-one ones."""
    write: Callable[[Mapping[str, Any]], Plain] = _nothing
    """Our whole model -> their keys beyond the one-to-one ones."""
    reads: tuple[str, ...] = ()
    """Their keys that `read` looks at."""
    written: bool = True
    """Whether models are written as this one; false where another has the same shapes and is better known."""

    @property
    def has_experts(self) -> bool:
        return "experts.count" in self.keys


def read_window(config: Mapping[str, Any]) -> Plain:
    """Read a window on every layer; null is none."""
    return {"attention": {"window": config["sliding_window"]}} if config.get("sliding_window") else {}


def write_window(model: Mapping[str, Any]) -> Plain:
    return {"sliding_window": _window_of(model).get("window")}


def read_alternating(config: Mapping[str, Any]) -> Plain:
    """Read windows on some layers; the code's own pattern is every other layer, from the first on."""
    types = config.get("layer_types") or ["sliding_attention", "full_attention"]
    every = types.index("full_attention") + 1 if "full_attention" in types else 0
    if any((kind == "full_attention") != _is_full(layer, every) for layer, kind in enumerate(types)):
        raise ValueError(f"layer_types: full attention elsewhere than on every {every}th layer cannot be expressed")
    if every == 1:
        return {}
    return {"attention": {"window": config["sliding_window"]} | ({"full_every": every} if every else {})}


def write_alternating(model: Mapping[str, Any]) -> Plain:
    attention = _window_of(model)
    every = attention.get("full_every", 0) if attention else 1
    kinds = ["full_attention" if _is_full(i, every) else "sliding_attention" for i in range(model["layers"])]
    return {"sliding_window": attention.get("window"), "layer_types": kinds}


def _window_of(model: Mapping[str, Any]) -> Plain:
    attention = model["attention"]
    return attention if isinstance(attention, dict) and "window" in attention else {}


def _is_full(layer: int, every: int) -> bool:
    return bool(every) and layer % every == every - 1


def refuse(*keys: str) -> Callable[[Mapping[str, Any]], Plain]:
    """Return a `read` for keys whose code changes the shape in a way that cannot be expressed."""

    def read(config: Mapping[str, Any]) -> Plain:
        for key in keys:
            if config.get(key):
                raise ValueError(f"{key}: {config[key]!r} cannot be expressed")
        return {}

    return read


def shared_experts(width: int | None, expert: int, key: str) -> Plain:
    """Return shared experts of `width` together, each as wide as a routed one; a part of one cannot be expressed."""
    if not width:
        return {}
    if width % expert:
        raise ValueError(f"{key}: {width} is not a multiple of the width of an expert, {expert}")
    return {"experts.shared": width // expert}


def read_biases(config: Mapping[str, Any]) -> Plain:
    """Read the biases of attention and MLP, which we know together or not at all."""
    attention, mlp = bool(config.get("attention_bias")), bool(config.get("mlp_bias"))
    if attention != mlp:
        raise ValueError("attention_bias and mlp_bias: one without the other cannot be expressed")
    return {"bias": "all" if attention else "none"}


def write_biases(model: Mapping[str, Any]) -> Plain:
    biased = model["bias"] == "all"
    return {"attention_bias": biased, "mlp_bias": biased}
