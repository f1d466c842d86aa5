"""Works out the points of a study that are not there yet, and gives all rows back in the order of the points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TypeVar

from simulator.studies.executors import Here, in_order
from simulator.studies.store import Asked, Row, Store

P = TypeVar("P", bound=Asked)


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
    missing = {(point.key, point.base): point for point in points if point not in store}
    results = in_order(evaluate, missing.values(), executor or Here(), workers)
    for point in points:
        row = store.get(point)
        done(row is None)
        # Points come in the order of `missing`, so the next result is that of the first point without a row.
        yield store.add(point, next(results)) if row is None else row
