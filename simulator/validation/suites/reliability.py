"""Cases of failures and checkpoints with an expected value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from simulator.validation.lines import Line
from simulator.validation.predict import Predictor
from simulator.validation.row import Row
from simulator.validation.suites.base import Suite


class Reliability(Suite):
    kind: ClassVar[str] = "reliability"
    columns: ClassVar[frozenset[str]] = frozenset({"id", "kind", "inputs", "expected", "tolerance"})
    numbers: ClassVar[frozenset[str]] = frozenset()

    def family(self, row: Row) -> str:
        return row.text("kind")

    def lines(self, rows: Sequence[Row], predictor: Predictor, workers: int = 1) -> tuple[Line, ...]:
        from simulator.validation.reliability import evaluate

        return tuple(
            Line(
                suite=self.kind,
                id=case.id,
                family=self.family(row),
                scored=self.family(row) != "out of sample",
                quantity=case.quantity,
                unit="1",
                measured=case.measured,
                predicted=case.predicted,
                low=None if case.predicted is None else case.predicted - case.tolerance,
                high=None if case.predicted is None else case.predicted + case.tolerance,
                note=case.note,
            )
            for row in rows
            for case in evaluate([row.texts])
        )
