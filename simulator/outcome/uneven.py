"""What samples of uneven length add to a step: waits for the longest microbatches, and longer bubbles.

A step in which every microbatch has T tokens and S squared lengths takes F(T, S), found for a few microbatches of the
pool and taken for linear in between, in T with a kink at the median and in S. Ranks draw their microbatches at random.

- A replica takes its microbatches one after the other. With q stages to fill and drain it takes as long as a flow shop
  whose jobs take equally long on every machine, the sum of its microbatches and q times the longest (Pinedo,
  Scheduling: proportionate flow shop), here as a mean: (sum_j F_j + q max_j F_j) / (m + q).
- Replicas wait for the slowest at the end of a step. Ranks that gather each other's weights, or send each other tokens,
  wait for the slowest in every microbatch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simulator.engine.prices.assembly import assembly
from simulator.engine.step import stage_clocks
from simulator.random import stream
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds, Share
from simulator.workload.data import Shapes

DRAWS = 1_000_000
"""Microbatches that are dealt to ranks, in as many steps as that makes."""
MOST_STEPS = 256


class Uneven(NamedTuple):
    """What a step takes longer than one whose microbatches are all like the mean, as shares of that."""

    compute: Share = 0.0
    """Because time is not linear in tokens and the mean microbatch is rounded; may be below 0."""
    bubble: Share = 0.0
    waiting: Share = 0.0
    """For ranks with longer samples."""

    @property
    def total(self) -> Share:
        return self.compute + self.bubble + self.waiting


def uneven(scenario: Scenario) -> Uneven:
    """Return what uneven samples add to the step of a scenario; nothing where all microbatches are the same."""
    drawn = scenario.training.shapes
    if drawn is None or drawn.alike or scenario.training.step_time is not None:
        return Uneven()
    even, cost = _costs(scenario, drawn)
    mean = float(cost.mean())
    alone, together = _steps(scenario, cost)
    return Uneven((mean - even) / even, max(alone - mean, 0.0) / even, max(together - alone, 0.0) / even)


def _costs(scenario: Scenario, drawn: Shapes) -> tuple[Seconds, np.ndarray]:
    """Return the step of the mean microbatch, and that of every one of the pool, as the fit has both."""
    order = np.argsort(drawn.tokens, kind="stable")
    chosen = {int(order[0]), int(order[len(order) // 2]), int(order[-1])}
    chosen |= {int(drawn.squares.argmin()), int(drawn.squares.argmax())}
    tried = [scenario.even, *(scenario.alike(drawn.tokens[at], drawn.squares[at]) for at in sorted(chosen))]
    sizes = [(one.training.microbatch, one.training.sequence_length) for one in tried]
    tokens = np.array([float(number * length) for number, length in sizes])
    squares = np.array([float(number * length**2) for number, length in sizes])
    kink, scale, square = float(np.median(drawn.tokens)), float(tokens[0]), float(squares[0])

    def terms(t: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.stack([np.ones_like(t), t / scale, np.maximum(t - kink, 0.0) / scale, s / square], axis=1)

    seconds = np.array([stage_clocks.time(assembly(one).step()).seconds for one in tried])
    fit = np.linalg.lstsq(terms(tokens, squares), seconds, rcond=None)[0]
    least = float(seconds.min())
    even = max(float((terms(tokens[:1], squares[:1]) @ fit)[0]), least)
    return even, np.maximum(terms(drawn.tokens, drawn.squares) @ fit, least)


def _steps(scenario: Scenario, cost: np.ndarray) -> tuple[Seconds, Seconds]:
    """Return the mean step of a replica on its own, and of all of them together."""
    replicas = scenario.data
    rounds = min(scenario.microbatches, max(DRAWS // replicas, 1))
    steps = min(max(DRAWS // (replicas * rounds), 1), MOST_STEPS)
    dealt = cost[stream(0, "ranks").integers(len(cost), size=(steps, replicas, rounds))]
    alone = float(_shop(scenario, dealt).mean())
    members = _in_step(scenario)
    groups = dealt.reshape(steps, replicas // members, members, rounds).max(axis=2)
    return alone, float(_shop(scenario, groups).max(axis=1).mean())


def _shop(scenario: Scenario, costs: np.ndarray) -> np.ndarray:
    """Return the time of rows of microbatches that go through a pipeline."""
    layout = scenario.parallelism
    assert layout is not None
    rounds = costs.shape[-1]
    # Of more microbatches than are dealt, those that are stand for the others too.
    fill = (layout.pipeline - 1) / layout.schedule.chunks_per_stage * rounds / scenario.microbatches
    return np.asarray((costs.sum(axis=-1) + fill * costs.max(axis=-1)) / (rounds + fill))


def _in_step(scenario: Scenario) -> int:
    """Return how many replicas do each microbatch together: those that share weights layer by layer, or experts."""
    rank, replicas = scenario.rank, scenario.data
    members = replicas // rank.shard.replicas if rank.layer_by_layer else 1
    experts = rank.expert * rank.expert_tensor // rank.tensor if rank.model.experts else 1
    members = min(max(members, experts, 1), replicas)
    return members if replicas % members == 0 else replicas
