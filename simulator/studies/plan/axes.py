"""Which layouts a plan tries where the scenario's ``search`` does not say: those that people start from.

`foretrain layouts` tries every one, which takes a minute on a large cluster; a plan needs several searches. Left out
here are contexts of fewer than four thousand tokens a rank, stages of more than eight chunks, microbatches beyond four,
and states that are not sharded at all unless the scenario's are. Of layouts that differ only in what is recomputed, the
first that surely fits is the fastest, so that those after it are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from simulator.scenario import Scenario
from simulator.simulation import fits
from simulator.studies.space import Space

LEAST_TOKENS = 4096
"""Tokens of a sequence on one context rank."""
MOST_CONTEXT = 64
MOST_CHUNKS = 8
MICROBATCHES = (1, 2, 4)
SHARDS = ("optimizer", "gradients", "parameters")
RECOMPUTES = ("none", "selective", "full")
"""From the fastest to the one that takes the least memory."""


def layouts(start: Scenario) -> list[Scenario]:
    """Return the layouts of the usual values on every axis that the scenario leaves open."""
    assert start.parallelism is not None
    most = max(start.training.sequence_length // LEAST_TOKENS, 1)
    axes = {
        "context": tuple(2**power for power in range(7) if 2**power <= min(most, MOST_CONTEXT)),
        "microbatch": MICROBATCHES,
        "shard": tuple(dict.fromkeys((*SHARDS, start.parallelism.shard.level))),
        "recompute": RECOMPUTES,
    }
    found = Space(replace(start, search={**axes, **start.search})).layouts()
    return found if "chunks" in start.search else [one for one in found if _chunks(one) <= MOST_CHUNKS]


def _chunks(scenario: Scenario) -> int:
    assert scenario.parallelism is not None
    return scenario.parallelism.schedule.chunks_per_stage


def that_fit(scenarios: Iterable[Scenario]) -> Iterator[tuple[Scenario, bool]]:
    """Yield those that fit, and whether surely; none that recomputes more than one that surely fits."""
    settled: set[object] = set()
    for one in sorted(scenarios, key=_recomputed):
        alike = (one.parallelism, one.training.microbatch)
        if alike in settled:
            continue
        verdict = fits(one).verdict
        if verdict == "fits" and one.training.recompute.kind in RECOMPUTES:
            settled.add(alike)
        if verdict != "oom":
            yield one, verdict == "fits"


def _recomputed(scenario: Scenario) -> int:
    kind = scenario.training.recompute.kind
    return RECOMPUTES.index(kind) if kind in RECOMPUTES else -1
