"""Lines -> figures: by family and in all, by group of layouts, of running out of memory, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simulator.io.printable import Json
from simulator.io.printable import json_text as to_json
from simulator.validation import baseline, scores
from simulator.validation.goals import GOALS, Goal, goals
from simulator.validation.lines import Line
from simulator.validation.scores import Coverage, Errors, Fit, Ranking
from simulator.validation.spread import Spread, spread

SMALLEST_FAMILY = {"runs": 5}
SMALLEST_CELL = 8
"""Rows a family needs to count in the mean over families: 5 of runs, 8 of kernels and collectives."""
SMALLEST_GROUP = 8
POOLED = {"reliability": "case"}
"""Suites whose rows each have a quantity of their own."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """The figures of one quantity of one kind of table."""

    suite: str
    name: str
    rows: int
    """Lines that are scored, expressed or not."""
    total: Errors | None
    families: Mapping[str, Errors]
    means: Mapping[str, float]
    """Mean over families of their median and P90, families with few rows left out."""
    baseline: Mapping[str, Errors]
    """What one constant MFU reaches, by family and in all (the empty name)."""
    groups: Mapping[str, Ranking]
    """Of layouts that compete, where the rows are runs."""
    sizes: Mapping[str, Errors]
    """By size class, where the rows are kernels."""
    size_means: Mapping[str, Mapping[str, float]]
    """The means over families within each size class."""
    coverage: Coverage | None
    coverages: Mapping[str, Coverage]
    """By class of comparable runs."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    quantities: tuple[Quantity, ...]
    fits: Mapping[str, Fit]
    """Of running out of memory, by family and in all (the empty name)."""
    mfu: Mapping[str, float]
    """The constants of the baseline."""
    rows: int
    expressed: int
    reasons: Mapping[str, int]
    """Why rows have no prediction, and how many."""
    goals: tuple[Goal, ...] = ()
    """What collectives are meant to reach, and do."""
    spread: Spread | None = None
    """How far sources are apart that measured the same collectives inside a host."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summary(lines: Sequence[Line], factor: float = 1.0) -> Summary:
    """Return all figures of the lines; `factor` is allowed on every goal."""
    mfu = baseline.constants(lines)
    names = dict.fromkeys((line.suite, _name(line)) for line in lines if line.quantity != "oom")
    rows = {(line.suite, line.id): line for line in lines}
    able = {(line.suite, line.id) for line in lines if line.predicted is not None}
    reasons = Counter(line.note for key, line in rows.items() if key not in able)
    return Summary(
        quantities=tuple(_quantity(suite, name, lines, mfu) for suite, name in names),
        fits=_fits([line for line in lines if line.quantity == "oom" and line.predicted is not None]),
        mfu=mfu,
        rows=len(rows),
        expressed=len(able),
        reasons=dict(reasons.most_common()),
        goals=goals(lines, factor),
        spread=spread(lines, next(iter(GOALS.values()))[0]),
    )


def json_text(figures: Summary, lines: Sequence[Line]) -> Json:
    """Return the figures and every line as JSON."""
    return to_json(figures.as_dict() | {"lines": [line.as_dict() for line in lines]})


def _quantity(suite: str, name: str, lines: Sequence[Line], mfu: Mapping[str, float]) -> Quantity:
    scored = [line for line in lines if (line.suite, _name(line)) == (suite, name) and line.scored and line.measured]
    known = [line for line in scored if line.predicted is not None]
    families = {family: _errors(group) for family, group in _by_family(known).items()}
    sizes = {} if suite == "runs" else {name: group for name, group in _by_group(known).items() if name}
    least = SMALLEST_FAMILY.get(suite, SMALLEST_CELL)
    return Quantity(
        suite=suite,
        name=name,
        rows=len(scored),
        total=_errors(known) if known else None,
        families=families,
        means=_means(families.values(), least),
        baseline=_rival(known, mfu),
        groups=_groups(known) if suite == "runs" else {},
        sizes={name: _errors(group) for name, group in sizes.items()},
        size_means={name: means for name, group in sizes.items() if (means := _means(_family_errors(group), least))},
        coverage=_coverage(known),
        coverages=_coverages(known),
    )


def _name(line: Line) -> str:
    """Return what the line is summed up under: its quantity, or one name where every row has another quantity."""
    return POOLED.get(line.suite, line.quantity)


def _errors(lines: Sequence[Line]) -> Errors:
    return scores.errors([line.measured for line in lines], [line.predicted for line in lines])  # type: ignore[misc]


def _family_errors(lines: Sequence[Line]) -> list[Errors]:
    return [_errors(family) for family in _by_family(lines).values()]


def _means(figures: Iterable[Errors], least: int) -> dict[str, float]:
    families = [family for family in figures if family.count >= least]
    if not families:
        return {}
    return {
        "families": len(families),
        "median": float(np.mean([family.median for family in families])),
        "mape": float(np.mean([family.mape for family in families])),
        "p90": float(np.mean([family.p90 for family in families])),
        "worst_median": max(family.median for family in families),
    }


def _rival(lines: Sequence[Line], mfu: Mapping[str, float]) -> dict[str, Errors]:
    able = baseline.rivals(lines)
    groups = {"": list(able)} | _by_family(able) if able else {}
    return {
        family: scores.errors(
            [line.measured for line in group],  # type: ignore[misc]
            [baseline.predicted(line, dict(mfu)) for line in group],
        )
        for family, group in groups.items()
    }


def _groups(lines: Sequence[Line]) -> dict[str, Ranking]:
    return {
        name: scores.ranking([line.measured for line in group], [line.predicted for line in group])  # type: ignore[misc]
        for name, group in _by_group(lines).items()
        if name and len(group) >= SMALLEST_GROUP
    }


def _coverage(lines: Sequence[Line]) -> Coverage | None:
    able = [line for line in lines if line.low is not None and line.high is not None]
    if not able:
        return None
    columns = ([getattr(line, name) for line in able] for name in ("measured", "predicted", "low", "high"))
    return scores.coverage(*columns)


def _coverages(lines: Sequence[Line]) -> dict[str, Coverage]:
    names = sorted({line.comparable for line in lines if line.comparable})
    found = {name: _coverage([line for line in lines if line.comparable == name]) for name in names}
    return {name: coverage for name, coverage in found.items() if coverage}


def _fits(lines: Sequence[Line]) -> dict[str, Fit]:
    groups = {"": list(lines)} | _by_family(lines) if lines else {}
    return {
        family: scores.fit([line.measured for line in group], [line.predicted for line in group])  # type: ignore[misc]
        for family, group in groups.items()
        if not family or any(line.measured for line in group)
    }


def _by_family(lines: Iterable[Line]) -> dict[str, list[Line]]:
    families: dict[str, list[Line]] = {}
    for line in lines:
        families.setdefault(line.family, []).append(line)
    return dict(sorted(families.items()))


def _by_group(lines: Iterable[Line]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.group, []).append(line)
    return dict(sorted(groups.items()))
