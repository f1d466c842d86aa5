"""What tables of kernels share: one GPU and number format a family, and the reason where a row cannot be predicted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from simulator.errors import ForetrainError
from simulator.machine import hardware
from simulator.machine.hardware import Gpu
from simulator.validation.expression import InexpressibleError
from simulator.validation.lines import Line, Reported
from simulator.validation.predict import Predictor
from simulator.validation.row import Row
from simulator.validation.suites.base import Suite

SEARCHED = "best of a search"
"""Note of rows that print the best shape anyone found, which says nothing about a given one."""


class Answer(NamedTuple):
    quantity: str
    unit: str
    measured: float | None
    predicted: float


class Kernels(Suite):
    """A table with one kernel a row."""

    prefix: ClassVar[str]
    """What the row's number in the table is prefixed with to name it."""

    def lines(self, rows: Sequence[Row], predictor: Predictor, workers: int = 1) -> tuple[Line, ...]:
        return tuple(line for row in rows for line in self._lines(row))

    @abstractmethod
    def answer(self, row: Row, gpu: Gpu) -> Answer:
        """Return what is measured and what is predicted; raise InexpressibleError with the reason."""

    @abstractmethod
    def size_class(self, row: Row) -> str:
        """Return the group of the row: how large its kernel is."""

    def family(self, row: Row) -> str:
        return f"{row.text('gpu')} {_dtype(row)}".strip()

    def _lines(self, row: Row) -> Iterator[Line]:
        note = ""
        try:
            answer = self.answer(row, gpu_of(row))
        except (InexpressibleError, ForetrainError, KeyError) as error:
            note, answer = str(error).strip("'\""), None
        quantity, unit, measured = answer[:3] if answer else self.measurement(row)
        yield Line(
            suite=self.kind,
            id=f"{self.prefix}-{row.line}",
            family=self.family(row),
            group=self.size_class(row),
            scored=SEARCHED not in row.text("note"),
            quantity=quantity,
            unit=unit,
            measured=measured,
            predicted=answer.predicted if answer else None,
            note=note,
            reported=self.reported(row),
        )

    def reported(self, row: Row) -> Reported | None:
        """Return what the source says, where other sources may say it of the same setting."""
        return None

    def measurement(self, row: Row) -> tuple[str, str, float | None]:
        """Return quantity, unit and value that the row measured."""
        return "time_us", "us", row.real("time_us")


def gpu_of(row: Row) -> Gpu:
    """Return the GPU of the row."""
    from simulator.validation.rigs import gpu_name

    return hardware.gpu(gpu_name(row.text("gpu")))


def _dtype(row: Row) -> str:
    text = row.text("dtype").removeprefix("torch.")
    return {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(text, text)
