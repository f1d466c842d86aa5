"""Keys of a Hugging Face configuration that speak of experts: none may be passed over, or a model comes out dense."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from simulator.convert.architectures.base import Architecture

_SPEAKS = re.compile(r"expert|moe|^first_k_dense|^decoder_sparse|^mlp_only_layers", re.IGNORECASE)
_ROUTING = re.compile(
    r"loss|coef|jitter|noise|scal|router|group|norm|dropout|bias_update|implementation|dtype|kernel|backend|dispatch"
)
"""How tokens find experts, or which kernels do it: that changes no parameter."""
_NOT_SHAPE = ("quantization_config", "auto_map", "vision_config", "audio_config")


def check(architecture: Architecture, config: Mapping[str, Any], read: Collection[str]) -> None:
    """Raise ValueError with the name of a key that speaks of experts and is not among those `read`."""
    for key in _unread({key: value for key, value in config.items() if key not in read}):
        raise ValueError(
            f"{key}: speaks of experts and is not understood for architecture {architecture.model_type!r}; "
            "write the model by hand (`model.experts`), for without it parameters are miscounted"
        )


def _unread(config: Mapping[str, Any], where: str = "") -> Iterator[str]:
    for key, value in config.items():
        if key in _NOT_SHAPE:
            continue
        if isinstance(value, dict):
            yield from _unread(value, f"{where}{key}.")
        elif _says_something(value) and _SPEAKS.search(key) and not _ROUTING.search(key):
            yield f"{where}{key}"


def _says_something(value: Any) -> bool:
    """Return whether a value could change a model: none, one expert, and every layer do not.

    >>> [_says_something(value) for value in (None, 0, 1, [], False, True, 8)]
    [False, False, False, False, False, True, True]
    """
    return value is True or (bool(value) and value != 1)
