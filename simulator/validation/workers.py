"""Predict many rows on all processors; the order of the lines does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import TypeVar

from simulator.errors import ScenarioError
from simulator.studies.executors import opened

T = TypeVar("T")
R = TypeVar("R")
CHUNK = 50
"""Items a worker takes at a time."""


def spread(function: Callable[[T], Iterable[R]], items: Sequence[T], workers: int) -> tuple[R, ...]:
    """Return what `function` yields for each item, one after the other, worked out in `workers` processes."""
    if workers <= 1 or len(items) <= CHUNK:
        return tuple(result for item in items for result in function(item))
    chunks = [items[first : first + CHUNK] for first in range(0, len(items), CHUNK)]
    with opened(min(workers, len(chunks))) as (executor, _):
        try:
            return tuple(result for results in executor.map(partial(_all, function), chunks) for result in results)
        except BrokenExecutor:
            raise ScenarioError("a process that predicted rows ended early, killed or out of memory") from None


def _all(function: Callable[[T], Iterable[R]], items: Sequence[T]) -> tuple[R, ...]:
    return tuple(result for item in items for result in function(item))
