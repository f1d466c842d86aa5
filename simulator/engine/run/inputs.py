"""What a run is made of, and what follows from it before it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.cost import SaveCost, as_said
from simulator.reliability.checkpointing.never import Never
from simulator.reliability.checkpointing.plan import SavePlan, save_plan
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.recovery.restart import Restart
from simulator.units import Count, Seconds

StepFactor = Callable[[tuple[tuple[str, float], ...]], float]
"""Degraded units as sorted (unit, share of bandwidth left) -> factor on the step."""


@dataclass(frozen=True, kw_only=True)
class RunInput:
    work: Seconds
    """Useful work: steps times the time of a step; infinite for a run that only `until` ends."""
    units: Mapping[str, int]
    """How many units of each kind the job uses; ``gpu`` and ``host`` at least, ``job`` is 1."""
    hosts_of: Mapping[str, int] = field(default_factory=dict)
    """Hosts behind one rack, pod, switch or power row."""
    failures: Failures = field(default_factory=Failures)
    checkpoint: CheckpointPolicy = field(default_factory=Never)
    """When to save."""
    save_cost: SaveCost | None = None
    """What a save costs; what the policy says where left out."""
    recovery: Recovery = field(default_factory=Restart)
    spares: Count | None = None
    """None replaces a failed host at once; with 0 the job waits for the repair."""
    evaluate_every: Seconds = math.inf
    """Useful work between evaluations."""
    evaluation: Seconds = 0.0
    step_factor: StepFactor | None = None
    """What degraded links do to the step, from the network."""
    until: Seconds = math.inf
    """Wall clock at which the run is cut off, wherever it stands."""

    @property
    def all_units(self) -> Mapping[str, int]:
        """The units, the job itself among them."""
        return {**self.units, "job": 1}


def mtbf(run: RunInput) -> Seconds:
    """Return the expected time between unexpected interruptions, on the clock of the exposure."""
    rate = run.failures.rate(run.all_units)
    return 1 / rate if rate else math.inf


def plan(run: RunInput) -> SavePlan:
    """Return when and how the run saves."""
    cost = run.save_cost or as_said(run.checkpoint)
    down = run.recovery.mean_down(run.units["gpu"], cost.load)
    return save_plan(run.checkpoint, cost=cost, mtbf=mtbf(run), recovery=down)
