"""What the errors of two predictions have in common, and so how surely one is shorter than the other.

The error of a prediction, ln(measured / predicted), is a sum: what it shares with other predictions of the same cause,
what it has of its own, and its terms. A prediction is written as loadings on causes, so that

    covariance(A, B) = sum over causes of both of loading_A x loading_B  +  own_A x own_B x alike(A, B)

Causes are independent of one another. Levels of doubt share their cause where software, accelerator or feature are the
same, and then cancel in a difference. Sharded parameters run through another engine than tensor and pipeline ranks
(FSDP, ZeRO-3), so that unmeasured software is another cause there. `small`, `hosts` and `outside` are as large as what
they apply to: two layouts differ by what one has more of. So do terms of the step, each by the error of what its time
comes from times its share of the step. They are inside the levels already, which were measured on whole steps: only
differences hold them.
The own parts are alike in layouts that are close to each other: `alike` falls exponentially with the doublings between
their degrees, and is nothing across models or clusters.

Each summand is a Gram matrix or a product of kernels (Schur), so that the covariance of any predictions is positive
semidefinite. The tail is that of the step's error: Student t with one scale for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, log, log2, sqrt

import numpy as np

from simulator.outcome.familiar import Facts, facts
from simulator.outcome.ledger import shipped
from simulator.outcome.levels import Doubt, doubts, scale
from simulator.outcome.student import below
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.units import Number, Seconds, Share

Cause = tuple[object, ...]
WEIGHED = ("small", "hosts", "outside")
"""Levels whose error is one for all layouts of a scenario, per unit of what it applies to."""
TERMS: Mapping[str, Number] = {
    "data": 0.5,
    **dict.fromkeys(("tensor", "context", "expert", "pipeline"), 0.15),
    **dict.fromkeys(("recompute", "bubble", "optimizer", "other"), 0.05),
}
"""Standard deviation of ln of parts of the step. Exposed data traffic, what overlap leaves of it: read off the sweeps
of families VT, VTS, AA and USP. Exchanges: mean errors of their tables are 5 to 20% (docs/validation.md). The others
follow from kernels and the order of the schedule: a prior that the sweeps did not move."""
REACH: Number = 3.0
"""Doublings of degrees over which own parts grow apart, as sweeps show; 3 to 6 predict their order alike."""
OTHER_KIND: Number = 1.0
"""Doublings that another sharding, schedule or recompute counts for."""
NUGGET: Share = 0.05
"""Share of an own part's variance that no other layout has, however close: steps of the same run repeat to a few
percent of one another."""
SURPRISE: Share = 0.05
"""Chance that something decides which nobody modelled. Of pairs of published layouts called with over 97%, 89 to 100%
were measured in that order."""


@dataclass(frozen=True)
class Loadings:
    """What the error of one prediction is made of, in ln(measured / predicted); nothing for a step that is given."""

    causes: Mapping[Cause, Number]
    """Standard deviation by cause."""
    own: Number
    where: tuple[object, ...] = ()
    """Own parts are alike in the same place only."""
    degrees: tuple[Number, ...] = ()
    """log2 of each."""
    kinds: tuple[str, ...] = ()
    shift: Number = 0.0
    """ln of the median of measured / predicted."""


SURE = Loadings({}, 0.0)


def loadings(scenario: Scenario, parts: Mapping[str, Seconds]) -> Loadings:
    """Return what the error of a step with these parts is made of; `SURE` for a measured step."""
    layout, training = scenario.parallelism, scenario.training
    if training.step_time is not None or scenario.model is None or layout is None:
        return SURE
    known, found = facts(scenario), doubts(scenario, parts, shipped())
    site = (known.stack, scenario.cluster.host.gpu.name, known.architecture)
    whole = added(parts.values())
    terms = {("term", name, *site): sd * parts.get(name, 0.0) / whole for name, sd in TERMS.items() if whole}
    own = [doubt.own for doubt in found if doubt.kind not in WEIGHED]
    degrees = (layout.tensor, layout.pipeline, layout.context.size, layout.expert, layout.schedule.chunks_per_stage)
    sizes = (*degrees, training.microbatch, training.sequence_length, scenario.gpus)
    return Loadings(
        _levels(found, known, site, layout.shard.level == "parameters") | terms,
        scale() * sqrt(added(one**2 for one in own)),
        (*site, scenario.cluster.host.name, scenario.model, training.precision.kind),
        tuple(log2(size) for size in sizes),
        (layout.shard.level, layout.schedule.kind, training.recompute.kind),
        added(doubt.shift for doubt in found),
    )


def _levels(found: Sequence[Doubt], known: Facts, site: Cause, sharded: bool) -> dict[Cause, Number]:
    stack, *machine = site
    of: dict[str, Cause] = {
        "run": site,
        "software": (stack, sharded),
        "own_code": (stack, sharded),
        "small": (stack, known.architecture),
        **dict.fromkeys(("sibling", "unrelated", "vendor"), tuple(machine)),
    }
    causes: dict[Cause, Number] = {}
    for doubt in found:
        cause = (doubt.kind, *of.get(doubt.kind, (doubt.what,)))
        sd = hypot(doubt.shared, doubt.own) if doubt.kind in WEIGHED else doubt.shared
        causes[cause] = causes.get(cause, 0.0) + scale() * sd
    return causes


def covariance(ones: Sequence[Loadings]) -> np.ndarray:
    """Return the covariance of the errors of some predictions.

    >>> covariance([Loadings({("run",): 0.3}, 0.1), Loadings({("run",): 0.4, ("gpu",): 0.2}, 0.0)]).round(2).tolist()
    [[0.1, 0.12], [0.12, 0.2]]
    """
    names = list(dict.fromkeys(cause for one in ones for cause in one.causes))
    shared = np.array([[one.causes.get(name, 0.0) for name in names] for one in ones]).reshape(len(ones), len(names))
    own = np.array([one.own for one in ones])
    found: np.ndarray = shared @ shared.T + np.outer(own, own) * _alike(ones)
    return found


def _alike(ones: Sequence[Loadings]) -> np.ndarray:
    """Return the correlation of own parts: 1 of a layout with itself, 0 between models or clusters."""
    places = {one.where: number for number, one in enumerate(reversed(ones))}
    where = np.array([places[one.where] for one in ones])
    apart = np.zeros((len(ones), len(ones)))
    for axis in zip(*(one.degrees for one in ones), strict=True):
        apart += np.abs(np.subtract.outer(axis, axis))
    for axis_of_kinds in zip(*(one.kinds for one in ones), strict=True):
        numbers = np.unique(axis_of_kinds, return_inverse=True)[1]
        apart += OTHER_KIND * (numbers[:, None] != numbers[None, :])
    same = np.where(apart == 0, 1.0, (1 - NUGGET) * np.exp(-apart / REACH))
    found: np.ndarray = same * (where[:, None] == where[None, :])
    return found


def apart(one: Loadings, other: Loadings) -> Number:
    """Return the scale of the difference of two errors, in ln: nothing between a prediction and itself."""
    if one == other:
        return 0.0
    both = covariance([one, other])
    return sqrt(max(both[0, 0] + both[1, 1] - 2 * both[0, 1], 0.0))


def shorter(ratio: Number, one: Loadings, other: Loadings) -> Share:
    """Return the chance that the first takes less, predicted to take `ratio` times what the other does.

    >>> shorter(0.5, SURE, SURE), shorter(1.0, SURE, SURE)
    (1.0, 0.5)
    """
    gap, sd = -log(ratio) - one.shift + other.shift, apart(one, other)
    if not sd:
        return 0.5 if not gap else 1.0 if gap > 0 else 0.0
    return surprised(below(gap / sd), 2)


def surprised(chance: Share, among: int) -> Share:
    """Return the chance of one of several, with a little of it dealt out evenly."""
    return (1 - SURPRISE) * chance + SURPRISE / among
