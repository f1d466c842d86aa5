"""Several changes at once, where no single one makes a scenario fit: the layout anew, on these hosts or on more.

The fewest hosts on which anything fits are taken, and there every choice of tensor, pipeline, sharding, recompute and
microbatch in the order of what it tends to cost: without recompute first, then by the ranks that share a layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from simulator.scenario.scenario import Scenario
from simulator.simulation import fits
from simulator.studies import remedies
from simulator.studies.changes import Change, possible
from simulator.studies.remedies import Remedy
from simulator.units import Bytes
from simulator.workload import frozen, states
from simulator.workload.parameters import total_parameters, trained_parameters

MOST = 6
"""Choices that are kept."""


def together(scenario: Scenario) -> list[Change]:
    """Return choices that fit, on as few hosts as any; empty where none fits on `remedies.MOST_HOSTS` times as many."""
    times = 1
    while times <= remedies.MOST_HOSTS:
        more = remedies.multiplied(scenario, times) if times > 1 else Change("", (), scenario)
        possible_at_all = _state(more.scenario) < scenario.cluster.host.gpu.usable_memory
        if possible_at_all and (found := list(islice(_enough(more), MOST))):
            return found
        times *= 2
    return []


def _state(scenario: Scenario) -> Bytes:
    """Return the state of a GPU if all of it were shared out evenly, which is the least there can be."""
    rank = scenario.rank
    width, whole = states.widths(rank), total_parameters(rank.model)
    each = width.weights + width.gradients + width.optimizer
    if rank.tuning.everything:
        return whole * each / scenario.gpus
    trained, method = trained_parameters(rank.model, rank.tuning), rank.tuning.method
    tables = min(len(method.whole), 1 if rank.model.tied else 2)
    base = trained if method.trains_base else tables * rank.model.vocabulary * rank.model.hidden
    return (trained * each + (whole - base) * frozen.width(rank, matrix=True)) / scenario.gpus


def _enough(start: Change) -> Iterator[Change]:
    kinds = (remedies.tensor, remedies.pipeline, remedies.shard, _full_recompute, _one_sequence)
    choices = sorted(_choices(start.scenario, kinds), key=_effort)
    for changes in choices:
        whole = start
        for change in changes:
            whole = whole.then(change) if whole.what else change
        if changes and possible(whole.scenario) and fits(whole.scenario).verdict == "fits":
            yield whole


def _choices(scenario: Scenario, kinds: Sequence[Remedy]) -> Iterator[tuple[Change, ...]]:
    """Yield every choice of at most one change of each kind, each made on top of the ones before."""
    if not kinds:
        yield ()
        return
    yield from _choices(scenario, kinds[1:])
    for change in kinds[0](scenario):
        yield from ((change, *others) for others in _choices(change.scenario, kinds[1:]))


def _effort(changes: tuple[Change, ...]) -> tuple[bool, int, int]:
    if not changes:
        return False, 0, 0
    last = changes[-1].scenario
    assert last.parallelism is not None
    ranks = last.parallelism.tensor * last.parallelism.pipeline
    return last.training.recompute.kind == "full", ranks, len(changes)


def _full_recompute(s: Scenario) -> Iterator[Change]:
    changes = list(remedies.recompute(s))
    yield from changes[-1:]


def _one_sequence(s: Scenario) -> Iterator[Change]:
    changes = list(remedies.microbatch(s))
    yield from changes[-1:]
