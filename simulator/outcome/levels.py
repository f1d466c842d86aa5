"""What makes a step less sure than those measured: the levels of doubt that apply to a scenario, each in words.

Knowing less is never narrower: unmeasured software is one level, whether another entry of the framework, an entry with
one source, or `generic` stands in; and what a framework never ran is no wider than a framework nobody ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import exp, log2, sqrt
from typing import NamedTuple

from simulator import catalog
from simulator.outcome.familiar import Facts, facts
from simulator.outcome.ledger import Ledger
from simulator.scenario.scenario import Scenario
from simulator.sums import added
from simulator.units import Count, Number, Seconds, Share
from simulator.workload.flops import attention_flops_per_token, flops_per_token

GENERIC = "generic"
LARGE = 22.5
"""log2 of values in a microbatch (tokens x hidden, of one tensor and context rank) from which on shapes are large."""
FARTHEST: Number = 10.0
"""Most that the error of a term gains beyond what was measured, 24 times as far out."""
OVER_LINKS = ("tensor", "context", "expert", "pipeline", "data")
BASE = "spread among runs like those measured"


class Level(NamedTuple):
    """The scales of one level in ln(measured / predicted)."""

    shared: Number
    """Of what all runs of one source have in common."""
    own: Number
    """Of what each run adds."""
    shift: Number = 0.0
    """Of the centre."""


class Doubt(NamedTuple):
    """A level that applies, times how much of it does."""

    kind: str
    what: str
    level: Level
    times: Number = 1.0

    @property
    def shared(self) -> Number:
        return self.times * self.level.shared

    @property
    def own(self) -> Number:
        return self.times * self.level.own

    @property
    def variance(self) -> Number:
        return self.shared**2 + self.own**2

    @property
    def shift(self) -> Number:
        return self.times * self.level.shift


@cache
def levels() -> dict[str, Level]:
    """Return the levels that ship, by name."""
    found = catalog.entry("calibration", "residuals")["levels"]
    return {
        name: Level(float(one["shared"]), float(one["own"]), float(one.get("shift", 0.0)))
        for name, one in found.items()
    }


@cache
def scale() -> Number:
    """Return the factor on all levels that makes 80% ranges hold 80% of published sources."""
    return float(catalog.entry("calibration", "residuals")["scale"])


def doubts(scenario: Scenario, parts: Mapping[str, Seconds], ledger: Ledger) -> tuple[Doubt, ...]:
    """Return the levels of doubt about a step with these parts, given what the ledger knows."""
    known = facts(scenario)
    unmeasured = software(known, ledger)
    return (
        Doubt("run", BASE, levels()["run"]),
        *([Doubt("software", unmeasured, levels()["software"])] if unmeasured else []),
        *_own_code(scenario, bool(unmeasured)),
        *_combination(known, bool(unmeasured), ledger),
        *_accelerator(known, ledger),
        *_experts(scenario),
        *_small(scenario, bool(unmeasured)),
        *_hosts(parts),
        *_outside(scenario, parts, known, ledger),
    )


def software(known: Facts, ledger: Ledger) -> str | None:
    """Return why the software counts as unmeasured, or None where two independent sources measured it.

    A framework that never ran on a generation of GPUs is unmeasured there.
    """
    if known.stack == GENERIC:
        return "no stack is named, or one that no published run stands for"
    behind = ledger.behind(stack=known.stack)
    if len(behind) < ledger.confirmed:
        found = f"one source, {min(behind)}, stands" if behind else "no published run stands"
        return f"{found} behind stack {known.stack}"
    if not ledger.behind(framework=known.framework, architecture=known.architecture):
        return f"no run of {known.framework} on {known.architecture} was ever measured"
    return None


def _own_code(scenario: Scenario, unmeasured: bool) -> Iterator[Doubt]:
    if unmeasured and scenario.stack_name == GENERIC and scenario.gpus == 1:
        yield Doubt("own_code", "code of one's own on one GPU varies most", levels()["own_code"])


def _combination(known: Facts, unmeasured: bool, ledger: Ledger) -> Iterator[Doubt]:
    """What was never run by this framework, or by any where nothing is known of this one."""
    missing = sorted(known.features - ledger.exercised(None if unmeasured else known.framework))
    if missing:
        who = "anybody" if unmeasured else known.framework
        yield Doubt("combination", f"never measured with {who}: {', '.join(missing)}", levels()["combination"])


def _accelerator(known: Facts, ledger: Ledger) -> Iterator[Doubt]:
    """An accelerator without a measured run; a sibling may have one, or others of its vendor, or none."""
    behind = ledger.behind(gpu=known.gpu) if known.gpu else frozenset[str]()
    if known.vendor != "NVIDIA":
        if len(behind) < ledger.confirmed:
            said = "one source only measured this accelerator" if behind else "no run on this accelerator"
            said += "" if behind else " was ever measured"
            yield Doubt("vendor", said, levels()["vendor"])
    elif not ledger.behind(architecture=known.architecture):
        said = f"no run on an accelerator of architecture {known.architecture} was ever measured"
        yield Doubt("unrelated", said, levels()["unrelated"])
    elif not behind:
        said = f"no run on this accelerator was ever measured, only on others of architecture {known.architecture}"
        yield Doubt("sibling", said, levels()["sibling"])


def _experts(scenario: Scenario) -> Iterator[Doubt]:
    if scenario.model is not None and scenario.model.experts is not None:
        yield Doubt("experts", "runs of models with experts differ more", levels()["experts"])


def _small(scenario: Scenario, unmeasured: bool) -> Iterator[Doubt]:
    """Short kernels, in which the host and the software show."""
    if scenario.model is None or scenario.parallelism is None:
        return
    training, layout = scenario.even.training, scenario.parallelism
    values = training.microbatch * training.sequence_length * scenario.model.hidden
    short = min(max((LARGE - log2(values / (layout.tensor * layout.context.size))) / 2, 0.0), 2.0)
    if short > 0:
        level = levels()["small" if unmeasured else "small_measured"]
        yield Doubt("small", "small microbatches, whose short kernels show the host and the software", level, short)


def _hosts(parts: Mapping[str, Seconds]) -> Iterator[Doubt]:
    """Hosts that keep state: users leave out what decides, cores, sockets, page-locked memory, version."""
    if (share := _share(parts, ("offload",))) > 0:
        yield Doubt("hosts", f"hosts take {share:.0%} of the step for offloaded state", levels()["hosts"], share)


def _outside(scenario: Scenario, parts: Mapping[str, Seconds], known: Facts, ledger: Ledger) -> Iterator[Doubt]:
    """Terms beyond the sequences and the jobs that were measured."""
    if scenario.model is None:
        return
    sequence, longest = known.sequence, ledger.reached("sequence")
    if sequence > longest > 0:
        whole = flops_per_token(scenario.model, sequence)
        share = attention_flops_per_token(scenario.model, sequence) / whole
        said = f"sequences of {sequence:,} tokens, where two sources reach {longest:,}"
        yield Doubt("outside", said, levels()["outside"], share * beyond(sequence, longest))
    hosts, most = known.hosts, ledger.reached("hosts")
    if hosts > most > 0 and (share := _share(parts, OVER_LINKS)) > 0:
        said = f"{hosts:,} hosts, where two sources reach {most:,}"
        yield Doubt("outside", said, levels()["outside"], share * beyond(hosts, most))


def beyond(size: Count, edge: Count) -> Number:
    """Return what the error of a term gains beyond the measured edge, over that at the edge; nothing at the edge.

    The error grows as exp(0.5 log2(size / edge)); what it has at the edge is in the other levels already. It stops
    growing where a prediction says next to nothing.

    >>> beyond(8, 8), round(beyond(16, 8), 2), beyond(10**9, 8)
    (0.0, 1.31, 10.0)
    """
    return min(sqrt(exp(log2(size / edge)) - 1), FARTHEST)


def _share(parts: Mapping[str, Seconds], names: tuple[str, ...]) -> Share:
    whole = added(parts.values())
    return added(parts.get(name, 0.0) for name in names) / whole if whole > 0 else 0.0
