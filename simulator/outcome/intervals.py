"""How sure a step time is: its distribution, from what was measured and what was not."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, sqrt

from simulator.outcome.ledger import Ledger, shipped
from simulator.outcome.levels import doubts, scale
from simulator.outcome.step_error import SURE, Reason, StepError
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.units import Number, Seconds

KNOWN = "known"
"""Class of runs on software and accelerators that two sources measured."""
NEW = ("software", "combination", "vendor", "unrelated", "sibling", "experts", "outside")
"""Levels that make a class of their own."""


def step_error(
    scenario: Scenario, parts: Mapping[str, Seconds], ledger: Ledger | None = None, widened: Number | None = None
) -> StepError:
    """Return the distribution of measured over predicted of a step with these parts; a measured step is sure.

    `ledger` says what was measured and `widened` is the factor on all levels; both as shipped where left out.
    """
    if scenario.training.step_time is not None or scenario.model is None:
        return SURE
    found = doubts(scenario, parts, shipped() if ledger is None else ledger)
    factor = scale() if widened is None else widened
    reasons = [Reason(doubt.what, factor * sqrt(doubt.variance)) for doubt in found]
    shift = added(doubt.shift for doubt in found)
    return StepError(exp(shift), tuple(sorted(reasons, key=lambda reason: -reason.sd_ln)))


def comparable(scenario: Scenario, ledger: Ledger | None = None) -> str:
    """Return the class of runs that a scenario is like: what is new about it, `known` where nothing is."""
    found = doubts(scenario, {}, shipped() if ledger is None else ledger)
    return "+".join(dict.fromkeys(doubt.kind for doubt in found if doubt.kind in NEW)) or KNOWN
