"""A policy made concrete: the tiers that saves go to, nearest first, each with its interval and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from simulator.errors import ScenarioError
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.cost import SaveCost, as_said
from simulator.reliability.checkpointing.tier import Tier
from simulator.units import Count, Seconds

_LONGEST_CYCLE = 100_000
"""Saves to the nearest tier between two saves to the farthest one."""


@dataclass(frozen=True, kw_only=True)
class SavePlan:
    tiers: tuple[Tier, ...] = ()
    """Nearest first; empty where nothing is ever saved."""
    every: tuple[int, ...] = ()
    """Each tier takes one of so many saves; the farther tier takes a save that two are due for."""
    keep: Count | None = None

    @property
    def interval(self) -> Seconds:
        """Useful work between saves to the nearest tier."""
        return self.tiers[0].interval if self.tiers else math.inf

    def spaced(self, interval: Seconds) -> SavePlan:
        """Return the plan with another interval; only a plan of one tier has one to change."""
        (tier,) = self.tiers
        return replace(self, tiers=(replace(tier, interval=max(interval, _shortest(tier))),))


def save_plan(policy: CheckpointPolicy, *, mtbf: Seconds, recovery: Seconds, cost: SaveCost | None = None) -> SavePlan:
    """Return what `policy` does where interruptions come every `mtbf` and cost `recovery` on average.

    Without a `cost` a save costs what the policy says. A computed interval is never shorter than a save takes to
    persist. Raises ScenarioError where a given one is.
    """
    if not policy.saves:
        return SavePlan()
    if policy.tiers:
        return _tiered(policy)
    cost = cost or as_said(policy)
    tier = Tier(interval=math.inf, stall=cost.stall, load=cost.load, persist=cost.persist)
    interval = policy.every(stall=tier.stall, mtbf=mtbf, recovery=recovery)
    if policy.given and tier.persist > interval:
        raise ScenarioError(
            f"checkpoint.interval: a save takes {tier.persist:g} s to persist, longer than the interval of "
            f"{interval:g} s; save less often or give it more storage"
        )
    return SavePlan(tiers=(replace(tier, interval=max(interval, _shortest(tier))),), every=(1,), keep=policy.keep)


def _shortest(tier: Tier) -> Seconds:
    """Return the shortest interval that makes sense: a save starts when the one before has been persisted."""
    return max(tier.persist, 1e-3)


def _tiered(policy: CheckpointPolicy) -> SavePlan:
    first = policy.tiers[0].interval
    every = [1]
    for tier in policy.tiers[1:]:
        every.append(every[-1] * max(round(tier.interval / (first * every[-1])), 1))
    if every[-1] > _LONGEST_CYCLE:
        raise ScenarioError(f"checkpoint.tiers: more than {_LONGEST_CYCLE} saves between two of the last tier")
    tiers = tuple(replace(tier, interval=first * n) for tier, n in zip(policy.tiers, every, strict=True))
    for tier in tiers:
        if tier.persist > tier.interval:
            raise ScenarioError(
                f"checkpoint.tiers: a save takes {tier.persist:g} s to persist, longer than its interval of "
                f"{tier.interval:g} s"
            )
    return SavePlan(tiers=tiers, every=tuple(every), keep=policy.keep)
