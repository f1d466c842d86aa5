"""How likely a deadline or a budget is missed, by the luck of failures and by the error of the predicted step.

A step that takes f times its prediction stretches a run: its work, and the failures and saves that come with time. So a
simulated run of `growing` and `fixed` seconds takes f growing + fixed, and is late with the chance that
f > (deadline - fixed) / growing. The mean of that chance over the runs is the answer: f is integrated over, not drawn,
so no random number is spent and nothing else moves. f is one number for the whole run.

Limits: failures by the calendar, announced beforehand, come as often in a longer run; the luck of failures of a
stretched run is that of the run as predicted, stretched. Prices and failure rates are taken as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from simulator.outcome.step_error import SURE, StepError
from simulator.outcome.stretch import Stretch, Stretches
from simulator.scenario.targets import Targets
from simulator.units import Number, Seconds, Share


def missed(
    targets: Targets,
    runs: Sequence[Stretch],
    error: StepError,
    dollars_per_second: Number,
    luck: Sequence[Stretch] | None = None,
) -> dict[str, Any]:
    """Return the targets, the chance that each is missed, and which are: those beyond the risk that is accepted.

    A chance holds every doubt that `runs` hold and the error of the step; beside it stands that of `luck`, the same
    runs with failures alone (`runs` where left out).
    """
    alone = runs if luck is None else luck
    deadline, budget = targets.deadline, targets.budget
    if deadline is None and budget is None:
        return {}
    affordable = None if budget is None else budget / dollars_per_second if dollars_per_second else inf
    late, over = _longer(runs, deadline, error), _longer(runs, affordable, error)
    return {
        "deadline_s": deadline,
        "p_late": late,
        "p_late_by_failures": _longer(alone, deadline, SURE),
        "budget_dollars": budget,
        "p_over_budget": over,
        "p_over_budget_by_failures": _longer(alone, affordable, SURE),
        "risk": targets.risk,
        "missed": [name for name, p in (("deadline", late), ("budget", over)) if p is not None and p > targets.risk],
    }


def _longer(runs: Sequence[Stretch], limit: Seconds | None, error: StepError) -> Share | None:
    return None if limit is None else Stretches(runs).later(limit, error)
