"""One measured step of a log."""

from __future__ import annotations

from typing import NamedTuple

from simulator.units import Number, Seconds


class Sample(NamedTuple):
    """A step: its time, or the tokens a second on each GPU."""

    seconds: Seconds | None = None
    tokens_per_gpu: Number | None = None
