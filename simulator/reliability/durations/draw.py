"""Draws of a duration, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat

import numpy as np

from simulator.reliability.durations.base import Duration
from simulator.units import Seconds


def draws(duration: Duration, random: Callable[[], np.random.Generator]) -> Iterator[Seconds]:
    """Yield independent durations without end; the stream is only opened where they vary."""
    constant = duration.constant()
    return _varying(duration, random()) if constant is None else repeat(constant)


def _varying(duration: Duration, random: np.random.Generator, chunk: int = 256) -> Iterator[Seconds]:
    while True:
        yield from duration.sample(random, chunk).tolist()


def coin(random: Callable[[], np.random.Generator], chunk: int = 256) -> Iterator[float]:
    """Yield uniform numbers in [0, 1) without end; the stream is opened at the first of them."""
    stream = random()
    while True:
        yield from stream.random(chunk).tolist()
