"""Models of the catalog as objects, for tests of the workload room, which knows no reader of scenarios."""

from __future__ import annotations

from typing import Any

from simulator import catalog
from simulator.workload.blocks.attention import Window
from simulator.workload.blocks.latent import Latent
from simulator.workload.model import Experts, Model

NOT_SHAPE = ("source", "aliases", "published")
NAMES = catalog.names("model")


def published(name: str) -> dict[str, Any]:
    return catalog.entry("model", name)["published"]


def model(name: str) -> Model:
    shape = {key: value(text) for key, text in catalog.entry("model", name).items() if key not in NOT_SHAPE}
    if isinstance(attention := shape.get("attention"), dict):
        kind = {"mla": Latent}.get(attention.pop("kind", ""), Window)
        shape["attention"] = kind(**attention)
    if experts := shape.get("experts"):
        shape["experts"] = Experts(**experts)
    return Model(**shape)


def value(text: Any) -> Any:
    if isinstance(text, dict):
        return {key: value(inner) for key, inner in text.items()}
    if text in ("true", "false"):
        return text == "true"
    if text.endswith("%"):
        return float(text[:-1]) / 100
    return int(text) if text.isdigit() else text
