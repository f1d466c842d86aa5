"""What every kind of table is: the columns that tell it apart, and how its rows become lines of the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from simulator.validation.lines import Line
from simulator.validation.predict import Predictor
from simulator.validation.row import Row


class Suite(ABC):
    kind: ClassVar[str]
    columns: ClassVar[frozenset[str]]
    """Columns that a table of this kind has."""
    numbers: ClassVar[frozenset[str]]
    """Columns of numbers above zero; a cell may be empty."""
    may_be_zero: ClassVar[frozenset[str]] = frozenset()
    words: ClassVar[frozenset[str]] = frozenset()
    """Words that may stand in a column of numbers."""

    def family(self, row: Row) -> str:
        """Return what the row is scored with."""
        return row.text("family")

    @abstractmethod
    def lines(self, rows: Sequence[Row], predictor: Predictor, workers: int = 1) -> tuple[Line, ...]:
        """Return one line for every quantity measured, in the order of the rows."""
