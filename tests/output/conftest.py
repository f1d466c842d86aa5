"""Results to draw and tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from example_result import llama, measured_step, out_of_memory

from simulator.results import Result


def endless() -> Result:
    """A run that never gets anywhere."""
    whole = llama()
    never = float("inf")
    wall = replace(whole.run.wall_clock_s, mean=never, p10=never, p50=never, p90=never)
    return replace(whole, run=replace(whole.run, progress=False, wall_clock_s=wall, samples=(never,) * 3))


RESULTS = {"fits": llama, "oom": out_of_memory, "measured step": measured_step, "no progress": endless}


@pytest.fixture(scope="session")
def result() -> Result:
    return llama()


@pytest.fixture(scope="session", params=RESULTS)
def any_result(request: pytest.FixtureRequest) -> Result:
    return RESULTS[request.param]()
