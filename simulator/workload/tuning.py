"""What of a model learns: the method of training, and the parts that are frozen beside it.

Gradients flow back from the loss as far as something learns. A layer that learns nothing computes the gradient of its
input where something learns below it, and nothing at all of its backward where nothing does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from simulator.workload.methods.base import End, Method
from simulator.workload.methods.full import Full

Learning = Literal["whole", "learns", "passes", "still"]
"""A piece of the model learns as a whole, has weights that learn as the method says, passes gradients on to such
weights below it, or has no backward."""
LAYERS = re.compile(r"layers? +([0-9]{1,9})(?: *- *([0-9]{1,9}))?")
ENDS: tuple[End, ...] = ("embedding", "head")


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The method of training with the parts that it leaves out."""

    method: Method = field(default_factory=Full)
    freeze: tuple[str, ...] = ()

    @cached_property
    def everything(self) -> bool:
        """Whether every weight learns, as in training from scratch."""
        return self.method.trains_base and not self.freeze

    @cached_property
    def layers(self) -> frozenset[int]:
        """Return the frozen layers, counted from 0."""
        found: set[int] = set()
        for text in self.freeze:
            if said := LAYERS.fullmatch(text):
                found |= set(range(int(said[1]), int(said[2] or said[1]) + 1))
        return frozenset(found)

    def end(self, end: End) -> Learning:
        """Return whether the embedding or the head learns; the head passes gradients on, the embedding to nobody."""
        if end not in self.freeze and (self.method.trains_base or end in self.method.whole):
            return "whole"
        return "passes" if end == "head" else "still"

    def layer(self, layer: int) -> Learning:
        """Return whether a layer, counted from 0, learns; else whether something below it does."""
        if layer not in self.layers:
            return "learns"
        below = self.end("embedding") == "whole" or any(other not in self.layers for other in range(layer))
        return "passes" if below else "still"


EVERYTHING = Tuning()


def mistake(text: str, layers: int) -> str | None:
    """Return what is wrong with a part to freeze of a model with so many layers; None where nothing is."""
    if text in ENDS:
        return None
    said = LAYERS.fullmatch(text)
    if said is None:
        return f"{text[:40]!r} is no part of a model; write embedding, head, or layers and a range, such as layers 0-11"
    first, last = int(said[1]), int(said[2] or said[1])
    if last < first or last >= layers:
        return f"{text!r} is not among the model's layers 0 to {layers - 1}"
    return None
