"""A factor on the kernels of a stack from measured steps: what the software of a user's own runs adds or saves.

A step is communication and compute; the factor is on compute only. Of each run it is found by halving, until the
predicted step is the measured one, then averaged over the runs and believed as far as their number goes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from simulator.calibration.shrinking import shrunk
from simulator.engine.prices.constants import shared
from simulator.errors import ScenarioError
from simulator.scenario import Scenario
from simulator.scenario.calibration import Calibration, Evidence
from simulator.simulation import predict_step
from simulator.sums import added
from simulator.units import Number, Seconds

LOWEST, HIGHEST = 0.05, 20.0
HALVINGS = 14


class Run(NamedTuple):
    """A scenario, the step that was measured, and where it was read."""

    scenario: Scenario
    seconds: Seconds
    source: str


def learned(runs: Sequence[Run], base: Calibration) -> tuple[Number, Evidence]:
    """Return the factor on top of `base`, and how wrong the steps were before and after."""
    one = {(run.scenario.cluster.host.gpu.name, run.scenario.stack_name) for run in runs}
    if len(one) > 1:
        named = ", ".join(f"{stack} on {gpu}" for gpu, stack in sorted(one))
        raise ScenarioError(f"a factor of software is of one stack on one GPU; these runs are {named}")
    factors = [_factor(run, base) for run in runs]
    mean = math.exp(added(map(math.log, factors)) / len(factors))
    kept = shrunk(mean, len(runs))
    before, after = (_error(runs, base, factor) for factor in (1.0, kept))
    names = ", ".join(run.source for run in runs)
    return kept, Evidence(source=f"steps: {names}", rows=len(runs), before=before, after=after)


def _factor(run: Run, base: Calibration) -> Number:
    low, high = math.log(LOWEST), math.log(HIGHEST)
    if not _step(run, base, HIGHEST) < run.seconds < _step(run, base, LOWEST):
        raise ScenarioError(
            f"{run.source}: a step of {run.seconds:.3g} s against a predicted {_step(run, base, 1.0):.3g} s; no factor "
            "on compute explains that, so the scenario is not that of the run"
        )
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _step(run, base, math.exp(middle)) > run.seconds else (low, middle)
    return math.exp((low + high) / 2)


def _step(run: Run, base: Calibration, factor: Number) -> Seconds:
    return predict_step(replace(run.scenario, calibration=replace(base, software=factor)), shared())


def _error(runs: Sequence[Run], base: Calibration, factor: Number) -> Number:
    return added(abs(_step(run, base, factor) / run.seconds - 1) for run in runs) / len(runs)
