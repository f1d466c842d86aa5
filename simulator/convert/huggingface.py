"""The `config.json` of a Hugging Face model <-> the `model` section of a scenario.

An architecture that is not known is named and refused: its parameters cannot be counted from a configuration
alone. Models are written as the first architecture, by name, that reads back as the same model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simulator.convert import expert_keys
from simulator.convert.architectures import architectures
from simulator.convert.architectures.base import Architecture, Plain
from simulator.convert.architectures.unbuilt import UNBUILT
from simulator.convert.shape import REQUIRED, complete, short

SECTION = "model"
"""The one section that the format holds."""
NAMES = ("_name_or_path", "architectures", "model_type")
TEXT = "text_config"
"""Section with the text model of a model of text and images (Llama 4)."""
ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu",
    "gelu_fast": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "relu": "relu",
    "relu2": "squared-relu",
}


def read(text: str) -> Plain:
    """Return the `model` section that the configuration `text` describes, without keys that have their default."""
    config, _ = _configuration(text)
    architecture = _architecture(config)
    expert_keys.check(architecture, config, _used(architecture))
    return short(_model(architecture, config))


def ignored(text: str) -> list[str]:
    """Return the keys of the configuration that do not bear on the shape of the text model, sorted."""
    config, around = _configuration(text)
    return sorted(around | config.keys() - _used(_architecture(config)))


def write(model: Mapping[str, Any], name: str | None = None) -> str:
    """Return the `config.json` of `model`, a `model` section whose numbers may still be text."""
    whole = complete(model)
    for architecture in architectures().values():
        if not architecture.written or (architecture.has_experts and whole["experts"] is None):
            continue
        config = _configured(architecture, whole)
        try:
            if _model(architecture, config) == whole:
                named = {"_name_or_path": name} if name else {}
                head = {"architectures": [architecture.name], "model_type": architecture.model_type}
                return json.dumps(named | head | config, indent=2) + "\n"
        except (ValueError, TypeError, KeyError):
            continue
    raise ValueError("no architecture of Hugging Face that is known here has this shape")


def _configuration(text: str) -> tuple[Plain, set[str]]:
    """Return the configuration of the text model, and what a model of text and images has around it."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a Hugging Face config.json: {error}") from None
    if not isinstance(config, dict):
        raise ValueError("not a Hugging Face config.json: expected one JSON object")
    inner = config.get(TEXT)
    if not isinstance(inner, dict):
        return config, set()
    tied = {key: config[key] for key in ("tie_word_embeddings",) if key in config}
    return tied | inner, config.keys() - {TEXT, *NAMES, *tied}


def _used(architecture: Architecture) -> set[str]:
    """Return the keys that an architecture reads, in every spelling."""
    keys = (*architecture.keys.values(), *architecture.reads)
    return {*NAMES, *(spelling for key in keys for spelling in key.split("|"))}


def _architecture(config: Mapping[str, Any]) -> Architecture:
    known, name = architectures(), config.get("model_type")
    if isinstance(name, str) and name in UNBUILT:
        raise ValueError(f"model_type: {name!r} mixes tokens by {UNBUILT[name]}, and no block here says that")
    if not isinstance(name, str) or name not in known:
        shown = name or (config.get("architectures") or ["none named"])
        raise ValueError(f"model_type: architecture {str(shown)[:80]!r} is not known; known are {', '.join(known)}")
    return known[name]


def _model(architecture: Architecture, config: Mapping[str, Any]) -> Plain:
    """Return the whole model that `config` describes."""
    model: Plain = {}
    for ours, theirs in architecture.keys.items():
        value = _given(config, theirs, architecture.defaults)
        if value is not None:
            _put(model, ours, _ours(ours, value, theirs))
        elif ours in REQUIRED:
            raise ValueError(f"{theirs.split('|')[0]}: missing from the configuration")
    for ours, value in architecture.fixed.items():
        if "." not in ours or not ours.startswith("experts") or "experts" in model:
            _put(model, ours, value)
    try:
        beyond = architecture.read(config)
    except KeyError as error:
        raise ValueError(f"{error.args[0]}: missing from the configuration") from None
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"one of {', '.join(architecture.reads)} cannot be read: {error}") from None
    for ours, value in beyond.items():
        _put(model, ours, value)
    if architecture.has_experts:
        _check_experts(architecture, config, model)
    return complete(model)


def _check_experts(architecture: Architecture, config: Mapping[str, Any], model: Plain) -> None:
    """Leave out the experts of which the file says that there are none; refuse a file that leaves their sizes out."""
    count = architecture.keys["experts.count"].split("|")
    if not model.get("experts", {}).get("count") and any(key in config for key in count):
        model.pop("experts", None)
        return
    for key in ("count", "active", "ffn"):
        if not model.get("experts", {}).get(key):
            raise ValueError(f"{architecture.keys[f'experts.{key}'].split('|')[0]}: missing from the configuration")


def _configured(architecture: Architecture, whole: Mapping[str, Any]) -> Plain:
    """Return the keys of `architecture` for the whole model, right or wrong: what reads back differently is."""
    config: Plain = {}
    for ours, theirs in architecture.keys.items():
        value = _find(whole, ours)
        if value is None and ours == "kv_heads":
            value = whole["heads"]
        config[theirs.split("|")[0]] = _theirs(ours, value)
    try:
        return config | architecture.write(whole)
    except (ValueError, TypeError, KeyError):
        return config


def _given(config: Mapping[str, Any], theirs: str, defaults: Mapping[str, Any]) -> Any:
    keys = theirs.split("|")
    return next((config[key] for key in keys if config.get(key) is not None), defaults.get(keys[0]))


def _ours(ours: str, value: Any, theirs: str) -> Any:
    if ours == "activation":
        if value not in ACTIVATIONS:
            raise ValueError(f"{theirs}: activation {value!r} is not known; known are {', '.join(ACTIVATIONS)}")
        return ACTIVATIONS[value]
    wanted: Any = {"tied": bool, "parallel": bool, "dropout": (int, float)}.get(ours, int)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise ValueError(f"{theirs.split('|')[0]}: expected {_words(wanted)}, found {value!r}")
    if isinstance(value, int) and value < 0:
        raise ValueError(f"{theirs.split('|')[0]}: expected no negative number, found {value!r}")
    return value


def _words(wanted: Any) -> str:
    return {bool: "true or false", int: "a whole number"}.get(wanted, "a number")


def _theirs(ours: str, value: Any) -> Any:
    if ours == "activation":
        return next((theirs for theirs, name in ACTIVATIONS.items() if name == value), value)
    if ours == "attention.q_rank":
        return value or None
    return value


def _put(model: Plain, ours: str, value: Any) -> None:
    section, _, key = ours.partition(".")
    if key:
        model.setdefault(section, {})[key] = value
    else:
        model[section] = value


def _find(whole: Mapping[str, Any], ours: str) -> Any:
    section, _, key = ours.partition(".")
    if not key:
        return whole.get(section)
    inner = whole.get(section)
    return inner.get(key) if isinstance(inner, dict) else None
