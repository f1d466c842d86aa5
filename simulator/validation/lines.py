"""One quantity measured and predicted: a line of ``foretrain validate --csv``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simulator.convert import plain_csv

COLUMNS = (
    "suite",
    "id",
    "family",
    "group",
    "scored",
    "quantity",
    "unit",
    "measured",
    "predicted",
    "low",
    "high",
    "error",
    "note",
)
LEFT_OUT_COLUMNS = (*COLUMNS, "without", "comparable")
"""Columns of predictions without something: what, and the levels of doubt that make a class."""


class Reported(NamedTuple):
    """What a source reports of a setting that others report too."""

    setting: str
    source: str
    rate: float


@dataclass(frozen=True, kw_only=True)
class Line:
    suite: str
    id: str
    family: str
    group: str = ""
    scored: bool = True
    """Whether the source's number says something about this quantity."""
    quantity: str
    unit: str
    measured: float | None
    predicted: float | None = None
    """None where the row cannot be expressed; `note` says why."""
    low: float | None = None
    high: float | None = None
    note: str = ""
    ideal: float | None = None
    """Time of the step at 100% MFU, which the baseline of one constant MFU starts from."""
    generation: str = ""
    """GPU architecture and width of its numbers, which share one constant MFU in the baseline."""
    comparable: str = ""
    """Class of runs whose errors gave the interval."""
    reported: Reported | None = None
    without: str = ""
    """What was left out of everything that the prediction rests on."""

    @property
    def error(self) -> float | None:
        """Predicted over measured, minus one; None for a probability."""
        if self.predicted is None or not self.measured or self.quantity == "oom":
            return None
        return self.predicted / self.measured - 1

    def as_dict(self, columns: Sequence[str] = COLUMNS) -> dict[str, Any]:
        """Return columns, those of the contract where none are named, in their order."""
        return {name: int(self.scored) if name == "scored" else getattr(self, name) for name in columns}


def csv_text(lines: Iterable[Line], columns: Sequence[str] = COLUMNS) -> str:
    """Return the lines as CSV, one a row, six significant digits."""
    return plain_csv.written(
        columns, ({name: _rounded(value) for name, value in line.as_dict(columns).items()} for line in lines)
    )


def _rounded(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
