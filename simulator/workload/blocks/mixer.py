"""The open set of what lets tokens see each other: attention, or what takes its place (`model.attention`)."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from simulator.units import Number


class Mixer(ABC):
    """A kind is a `Block` too, and named by its `kind`."""

    kind: ClassVar[str]
    guessed: ClassVar[bool] = True
    """A scenario may leave the kind to the keys that are given."""

    def at(self, layer: int) -> Mixer:
        """Return the mixer of a layer, counted from 0, where not all are alike."""
        return self

    def widened(self, growth: Number) -> Mixer:
        """Return the mixer of a model that is so many times as wide."""
        return self
