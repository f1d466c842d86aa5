"""Cases of failures and checkpoints with an expected value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from simulator.validation.lines import Line
from simulator.validation.suites.base import Predictor, Row, Suite

REASON = "its inputs are words, not numbers; tests/reliability holds the cases one by one"


class Reliability(Suite):
    kind: ClassVar[str] = "reliability"
    columns: ClassVar[frozenset[str]] = frozenset({"id", "kind", "inputs", "expected", "tolerance"})
    numbers: ClassVar[frozenset[str]] = frozenset()

    def family(self, row: Row) -> str:
        return row.text("kind")

    def lines(self, rows: Sequence[Row], predictor: Predictor, workers: int = 1) -> tuple[Line, ...]:
        return tuple(
            Line(
                suite=self.kind,
                id=row.text("id"),
                family=self.family(row),
                quantity="case",
                unit="1",
                measured=None,
                note=REASON,
            )
            for row in rows
        )
