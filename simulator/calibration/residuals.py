"""How wide ranges must be: each published source left out, honestly, and one factor on all levels of doubt.

A source is left out of the ledger, and its rows are predicted with their own stack entry only if another source stands
behind that; else with the nearest entry of the framework that has one, else with `generic`. Refitting the shared
constants alone would not do: entries and formulas were written with the source in view.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from simulator import catalog
from simulator.calibration.leave_out.base import on_software, stand_ins
from simulator.calibration.ledger import timed, work_of
from simulator.engine.run import Mapped
from simulator.errors import ForetrainError
from simulator.outcome.intervals import comparable, step_error
from simulator.outcome.ledger import Ledger
from simulator.outcome.step_error import HIGH
from simulator.outcome.student import quantile
from simulator.scenario import Scenario, from_dict
from simulator.simulation import Prediction
from simulator.units import Count, Number, Seconds, Share
from simulator.validation import stacks
from simulator.validation.expression import InexpressibleError
from simulator.validation.files import Table
from simulator.validation.measured import thinned
from simulator.validation.predict import step_time
from simulator.validation.row import Row
from simulator.validation.rows import expression

Predict = Callable[[Scenario], Prediction]
MOST = 12
"""Rows of a family that are looked at, evenly spaced: more would only repeat the source."""
HELD: Share = 0.8
"""Share of sources that ranges are to hold."""


class LeftOut(NamedTuple):
    """One run, predicted as if its source had never been published."""

    id: str
    family: str
    work: str
    kind: str
    """What is new about it."""
    ratio: Number
    """Measured over predicted."""
    median: Number
    sd_ln: Number
    """Scale of the error before the factor on all levels."""

    @property
    def needed(self) -> Number:
        """Return the factor at which its range just holds the run."""
        return abs(log(self.ratio / self.median)) / (self.sd_ln * quantile(HIGH))

    def range(self, factor: Number) -> tuple[Number, Number]:
        """Return the ends of its 80% range, over the prediction, with this factor on all levels."""
        reach = exp(factor * self.sd_ln * quantile(HIGH))
        return self.median / reach, self.median * reach


def left_out(
    tables: Sequence[Table], ledger: Ledger, predict: Predict, mapped: Mapped = map, most: Count = MOST
) -> list[LeftOut]:
    """Return runs of every family of `tables`, each predicted without its source; those that cannot be are left out."""
    families: dict[str, dict[str, Row]] = {}
    for row in timed(tables):
        families.setdefault(row.text("family"), {}).setdefault(row.text("id"), row)
    chosen = [row for members in families.values() for row in thinned(list(members.values()), most)]
    return [found for found in mapped(partial(_left_out, ledger, predict), chosen) if found is not None]


def _left_out(ledger: Ledger, predict: Predict, row: Row) -> LeftOut | None:
    """Return a run without its source: another entry may predict it, the doubt is that of its own software."""
    work = work_of(row.text("family"))
    others = ledger.without((work,))
    try:
        plain = expression(row).scenarios[0]
        found = predict(from_dict(unseen(row, plain, others)))
        scenario = from_dict(plain)
    except (InexpressibleError, ForetrainError):
        return None
    error = step_error(scenario, found.parts_s, others, 1.0)
    measured: Seconds = step_time(row) or 0.0
    ratio, kind = measured / found.step_time_s, comparable(scenario, others)
    return LeftOut(row.text("id"), row.text("family"), work, kind, ratio, error.median, error.sd_ln)


def unseen(row: Row, plain: dict[str, Any], others: Ledger) -> dict[str, Any]:
    """Return the scenario of a row on the software that is known without its source.

    Switches that the row itself states stay, those of an entry that nobody else confirms do not.
    """
    if others.behind(stack=plain["stack"]["base"]):
        return plain
    asked = stacks.stack(row)
    return on_software(plain, stand_ins(asked.framework, asked.year, others))


def scale(found: Iterable[LeftOut]) -> Number:
    """Return the factor on all levels with which ranges hold `HELD` of the sources, every source with the same weight.

    >>> runs = [LeftOut(str(n), "a", "a", "known", exp(n / 100), 1.0, 0.1) for n in range(1, 11)]
    >>> round(scale(runs) * 0.1 * quantile(HIGH), 2)
    0.08
    """
    members = list(found)
    sizes = Counter(one.work for one in members)
    order = sorted(members, key=lambda one: one.needed)
    weights = np.cumsum([1 / sizes[one.work] for one in order])
    return float(order[int(np.searchsorted(weights, HELD * weights[-1] - 1e-9))].needed)


class Held(NamedTuple):
    """How well ranges hold runs that were left out."""

    kind: str
    works: Count
    runs: Count
    share: Share
    """Mean over pieces of work of the share of their runs inside."""
    width: Number
    """Mean over pieces of work of ln(high / low)."""
    score: Number
    """Mean over pieces of work of the width and ten times what lies outside: the interval score at 80%."""


def held(found: Sequence[LeftOut], factor: Number) -> Iterator[Held]:
    """Yield how well ranges hold, by what is new and in all."""
    for kind in ("", *sorted({one.kind for one in found})):
        members = [one for one in found if not kind or one.kind == kind]
        yield _held(kind or "all", members, factor)


def _held(kind: str, members: Sequence[LeftOut], factor: Number) -> Held:
    works: dict[str, list[tuple[float, float, float]]] = {}
    for one in members:
        low, high = map(log, one.range(factor))
        x = log(one.ratio)
        outside = max(low - x, x - high, 0.0)
        works.setdefault(one.work, []).append((float(outside == 0), high - low, high - low + 10 * outside))
    share, width, score = np.mean([np.mean(rows, axis=0) for rows in works.values()], axis=0)
    return Held(kind, len(works), len(members), float(share), float(width), float(score))


def least() -> Number:
    """Return the factor that sources which do not ship needed; the fitted one is no less.

    Levels were chosen on the tables that the factor is fitted on, which makes the fitted one too small.
    """
    return float(catalog.entry("calibration", "residuals")["least"]["factor"])


def rewritten(text: str, factor: Number) -> str:
    """Return the text of `calibration/residuals.yaml` with another factor on all levels."""
    return re.sub(r"(?m)^scale: [\d.]+$", f"scale: {factor:.2f}", text)
