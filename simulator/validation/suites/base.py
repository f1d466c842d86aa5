"""What every kind of table is: the columns that tell it apart, and how its rows become lines of the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from simulator.scenario import Scenario
    from simulator.validation.lines import Line
    from simulator.validation.predict import Prediction

Predictor = Callable[["Scenario"], "Prediction"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a table: every cell as text, and the cells of number columns that are not empty as numbers."""

    line: int
    texts: Mapping[str, str]
    numbers: Mapping[str, float]

    def text(self, name: str) -> str:
        return self.texts.get(name, "")

    def real(self, name: str) -> float | None:
        return self.numbers.get(name)

    def whole(self, name: str) -> int | None:
        """Return the whole number next to the one in the cell; a part of one is as good as an empty cell."""
        value = self.numbers.get(name)
        return None if value is None or (value and not round(value)) else round(value)

    def flag(self, name: str) -> bool | None:
        text = self.text(name).lower()
        return None if not text else text not in ("0", "0.0", "false", "no")


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
