"""From the peak of a GPU to what the model gets."""

from __future__ import annotations

from simulator.explorer import drawn
from simulator.outcome.results import Result
from simulator.studies.point import Base

TITLE = "Step"
ORDER = 1


def show(base: Base, result: Result) -> None:
    drawn.picture("waterfall", base, result)
    drawn.section("step", result)
