"""Works out the points of a study that are not there yet, and gives all rows back in the order of the points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Protocol, TypeVar

from simulator.studies.executors import Here, in_order
from simulator.studies.store import Row, Store


class Point(Protocol):
    """What a worker needs to know to work out one row; it travels to other processes."""

    @property
    def key(self) -> str:
        """The content hash of all that the row depends on."""


P = TypeVar("P", bound=Point)


def rows(
    evaluate: Callable[[P], Row],
    points: Sequence[P],
    *,
    store: Store,
    executor: Executor | None,
    workers: int = 1,
    done: Callable[[bool], None] = lambda computed: None,
) -> Iterator[Row]:
    """Yield the row of each point; `done` is told of each, and whether it had to be computed.

    Without an executor they are worked out here.
    """
    missing = {point.key: point for point in points if point.key not in store}
    results = in_order(evaluate, missing.values(), executor or Here(), workers)
    for point in points:
        computed = point.key not in store
        if computed:
            # Points come in the order of `missing`, so the next result is that of the first point without a row.
            store.add(point.key, next(results))
        done(computed)
        yield store[point.key]
