"""A whole training run, many times: from useful work, failures and policies to wall clock and where it went.

Every run draws from streams of its own, one a purpose, so that run i is the same however many are asked for,
and two policies under one seed meet the same failures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from simulator import random
from simulator.engine.run.inputs import RunInput, plan
from simulator.engine.run.limits import events, refuse, refuse_more
from simulator.engine.run.outcome import Outcome
from simulator.engine.run.story import Story
from simulator.reliability.checkpointing.plan import SavePlan
from simulator.units import Count

Vary = Callable[[RunInput, Count], RunInput]
"""What a run really meets: the planned run and its number -> the run as it is."""
Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""What works a function out for each of many items, in their order: `map`, or processes."""
_AT_A_TIME = 10_000
"""Events of the runs that are handed to a process together: a quarter of a second (2023 Xeon, 2.1 GHz)."""
_WORTH_A_PROCESS = 60_000
"""Events that take longer than processes take to start."""


def simulate(
    run: RunInput, seed: int, runs: Count, *, first: Count = 0, record: bool = False, vary: Vary | None = None
) -> tuple[Outcome, ...]:
    """Return the outcomes of `runs` runs from number `first` on; one that makes no progress ends them.

    With `vary` every run meets something else than was planned for, on the same streams; saves come as planned, and one
    that makes no progress is one of many.

    With `record` they carry a timeline. Raises ScenarioError where the run cannot be simulated, or for many more runs
    than take a minute, unless a study adds them to those that it has; and ConservationError, a mistake in here, where
    the parts of a run are not its wall clock.
    """
    refuse(run)
    saves = plan(run)
    outcomes = []
    for number in range(first, first + runs):
        real = vary(run, number) if vary else run
        story = Story(
            real,
            planned(saves, plan(real)) if vary else saves,
            lambda *names, number=number: random.stream(seed, number, *names),
            record,
        )
        outcomes.append(story.play(run.until))
        if not outcomes[-1].progress and not vary:
            break
        if number == 0:
            refuse_more(run, outcomes[0], runs)
    return tuple(outcomes)


def planned(saves: SavePlan, real: SavePlan) -> SavePlan:
    """Return saves at the intervals of a plan, at the cost that they really have."""
    tiers = [replace(cost, interval=said.interval) for said, cost in zip(saves.tiers, real.tiers, strict=True)]
    return replace(real, tiers=tuple(tiers))


def spread(run: RunInput, seed: int, runs: Count, mapped: Mapped, vary: Vary | None = None) -> tuple[Outcome, ...]:
    """Return the same as `simulate`, with runs that take long handed to `mapped`, some at a time. Raises the same."""
    outcomes = list(simulate(run, seed, 1, vary=vary))
    refuse_more(run, outcomes[0], runs)
    each = events(run, outcomes[0])
    batch = max(int(_AT_A_TIME / each), 1)
    batches = (
        [(first, min(batch, runs - first)) for first in range(1, runs, batch)] if outcomes[0].progress or vary else []
    )
    spread_out = mapped if each * runs >= _WORTH_A_PROCESS else map
    for found in spread_out(partial(_some, run, seed, vary), batches):
        outcomes += found
        if not outcomes[-1].progress and not vary:
            break
    return tuple(outcomes)


def _some(run: RunInput, seed: int, vary: Vary | None, batch: tuple[Count, Count]) -> tuple[Outcome, ...]:
    first, runs = batch
    return simulate(run, seed, runs, first=first, vary=vary)
