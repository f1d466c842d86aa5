"""How far to trust it: predicted against measured, for the published runs that are like this one."""

from __future__ import annotations

from functools import lru_cache
from math import log
from statistics import median

import streamlit as st

from simulator.errors import ForetrainError
from simulator.explorer.charts import parity
from simulator.explorer.waiting import wait_for_all
from simulator.explorer.wording import literal
from simulator.io.readable import percent
from simulator.outcome.intervals import comparable, step_error
from simulator.outcome.results import Result
from simulator.scenario import from_dict
from simulator.simulation import predict
from simulator.studies.point import Base
from simulator.validation import files
from simulator.validation.expression import InexpressibleError
from simulator.validation.lines import Line
from simulator.validation.predict import STEP_TIME, lines, step_time
from simulator.validation.row import Row
from simulator.validation.rows import expression
from simulator.workload.parameters import total_parameters

TITLE = "Trust"
ORDER = 8
TABLE = "runs"
MOST, BATCH = 48, 12


def show(base: Base, result: Result) -> None:
    scenario = base.read()
    if scenario.model is None or scenario.training.step_time is not None:
        st.caption("The step was measured; there is nothing to predict.")
        return
    kind, error = comparable(scenario), step_error(scenario, result.step.parts_s)
    st.markdown(
        f"Eight in ten measured steps lie between {error.low:.2f} and {error.high:.2f} times the predicted one. "
        f"**Why not nearer:** {literal('; '.join(reason.what for reason in error.reasons))}."
    )
    near = nearest(kind, total_parameters(scenario.model), scenario.gpus)
    batches = tuple(near[first : first + BATCH] for first in range(0, len(near), BATCH))
    found = [
        line
        for batch in wait_for_all(predicted, [(kind, ids) for ids in batches], "predicting published runs")
        for line in batch
    ]
    if not found:
        st.caption("No published run is like this one, so the range is wide.")
        return
    drawn = parity.points(found)
    errors = [abs(line.error) for line in found if line.error is not None]
    st.markdown(
        f"{len(drawn)} published runs near it in size, half within {percent(median(errors))}; the shade is 20%."
    )
    st.altair_chart(parity.chart(drawn), alt="Predicted against measured step times of published runs")
    st.caption("The same numbers as `foretrain validate`, with every row and its source.")


@lru_cache(maxsize=1)
def published() -> dict[str, Row]:
    """Return the published runs with a step time that counts, by their name."""
    table = next(files.read(path) for path in files.shipped() if path.stem == TABLE)
    timed = (row for row in table.rows if row.text("score_time") in ("", "1", "1.0") and step_time(row))
    return {row.text("id"): row for row in timed}


def nearest(kind: str, parameters: float, gpus: int) -> tuple[str, ...]:
    """Return the names of runs that may be of a class, the nearest in size of model and cluster first."""

    def far(row: Row) -> float:
        layers, hidden, ranks = row.real("layers") or 1, row.real("hidden") or 1, row.real("gpus") or 1
        return abs(log(parameters / (12 * layers * hidden**2))) + abs(log(gpus / ranks))

    able = [row for row in published().values() if ("experts" in kind) == bool(row.whole("experts"))]
    return tuple(row.text("id") for row in sorted(able, key=far)[:MOST])


def predicted(asked: tuple[str, tuple[str, ...]]) -> tuple[Line, ...]:
    """Return measured and predicted step times of those of some runs that are of a class."""
    kind, names = asked
    alike = [row for row in map(published().__getitem__, names) if _class(row) == kind]
    return tuple(line for row in alike for line in lines(row, predict) if line.quantity == STEP_TIME)


def _class(row: Row) -> str:
    try:
        return comparable(from_dict(expression(row).scenarios[0]))
    except (InexpressibleError, ForetrainError):
        return ""
