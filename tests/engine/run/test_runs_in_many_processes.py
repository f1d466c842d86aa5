"""Runs that are handed to several processes say what they say when one does them all."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from simulator.engine.run import RunInput, simulate, spread
from simulator.outcome.campaign import run_input
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.fleet import Failures
from simulator.scenario import from_dict
from simulator.simulation import step_factor
from simulator.studies import executors
from simulator.units import Seconds

DAY = 86400.0


def failing(every: Seconds, work: Seconds = 30 * DAY) -> RunInput:
    return RunInput(
        work=work,
        units={"gpu": 64, "host": 8},
        failures=Failures(causes=(Exponential(unit="job", mtbf=every),)),
        checkpoint=FixedInterval(interval=600.0, stall=5.0),
    )


class Counting:
    """Works out what it is given here, each part as another process would, and counts the parts."""

    def __init__(self) -> None:
        self.parts = 0

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.parts += 1
            elsewhere, given = pickle.loads(pickle.dumps((function, item)))
            yield elsewhere(given)


def test_spread_runs_are_the_runs_of_one_process():
    run, counting = failing(7200.0), Counting()
    assert spread(run, 3, 200, counting) == simulate(run, 3, 200)
    assert counting.parts > 2


def test_processes_say_the_same():
    run = failing(7200.0)
    assert spread(run, 3, 200, partial(executors.spread, jobs=2)) == simulate(run, 3, 200)


def test_short_runs_stay_in_this_process():
    counting = Counting()
    assert len(spread(failing(7 * DAY), 0, 100, counting)) == 100
    assert counting.parts == 0


@pytest.mark.parametrize("first", [True, False])
def test_the_first_run_that_makes_no_progress_ends_them(first: bool):
    """The first run, which fails every minute and so never saves; or run 90, as another process might tell of it."""
    run = replace(failing(7200.0), failures=Failures(causes=(Exponential(unit="job", mtbf=60.0 if first else 7200.0),)))
    stuck = 0 if first else 90

    def mapped(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        for begin, many in items:
            found = function((begin, many))
            if begin <= stuck < begin + many:
                found = (*found[: stuck - begin], replace(found[stuck - begin], progress=False))
            yield found

    outcomes = spread(run, 0, 200, mapped)
    assert [outcome.progress for outcome in outcomes] == [True] * stuck + [False]


def test_a_run_with_degraded_links_can_be_handed_to_a_process():
    scenario = from_dict(
        {
            "version": 1,
            "model": "llama-3.1-8b",
            "cluster": {"host": "hgx-h100", "hosts": 2},
            "parallelism": {"shard": "parameters"},
            "training": {"steps": 10_000, "sequence_length": 4096, "global_batch": 64, "microbatch": 1},
            "failures": [{"unit": "link", "mtbf": "20d", "effect": "degrade", "bandwidth": 0.5, "lasts": "1h"}],
        }
    )
    run = run_input(scenario, 30 * DAY, 1.0, step_factor(scenario))
    outcomes = simulate(pickle.loads(pickle.dumps(run)), 1, 3)
    assert outcomes == simulate(run, 1, 3)
    assert any(outcome.parts["degraded"] > 0 for outcome in outcomes)
