"""The published runs as scenarios with their step time, for whoever fits constants on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from simulator.errors import ForetrainError
from simulator.units import Count, Seconds
from simulator.validation import predict
from simulator.validation.expression import InexpressibleError
from simulator.validation.files import Table
from simulator.validation.predict import Predictor
from simulator.validation.row import Row

if TYPE_CHECKING:
    from simulator.scenario import Scenario

T = TypeVar("T")


class MeasuredRun(NamedTuple):
    id: str
    family: str
    scenario: Scenario
    seconds: Seconds


def measured(
    tables: Sequence[Table], predictor: Predictor, *, most: int | None = None, families: Collection[str] = ()
) -> Iterator[MeasuredRun]:
    """Yield the runs whose step time counts, at most `most` of each family, evenly spaced in their table."""
    rows: dict[str, Row] = {}
    for table in tables:
        if table.suite.kind == "runs":
            for row in table.rows:
                if predict.step_time(row) and row.text("score_time") in ("", "1", "1.0"):
                    rows.setdefault(row.text("id"), row)
    by_family: dict[str, list[Row]] = {}
    for row in rows.values():
        if not families or row.text("family") in families:
            by_family.setdefault(row.text("family"), []).append(row)
    for family, members in by_family.items():
        for row in thinned(members, most):
            try:
                scenario, _, _ = predict.predict(row, predictor)
            except (InexpressibleError, ForetrainError):
                continue
            yield MeasuredRun(row.text("id"), family, scenario, predict.step_time(row) or 0.0)


def thinned(rows: Sequence[T], most: Count | None) -> Sequence[T]:
    """Return at most so many rows, evenly spaced in their table; all where no number is given."""
    if most is None or len(rows) <= most:
        return rows
    return [rows[round(index * (len(rows) - 1) / max(most - 1, 1))] for index in range(most)]
