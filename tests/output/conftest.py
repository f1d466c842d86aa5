"""Results to draw and tell."""

from __future__ import annotations

import pytest
from example_result import endless, llama, measured_step, out_of_memory

from simulator.outcome.results import Result

RESULTS = {"fits": llama, "oom": out_of_memory, "measured step": measured_step, "no progress": endless}


@pytest.fixture(scope="session")
def result() -> Result:
    return llama()


@pytest.fixture(scope="session", params=RESULTS)
def any_result(request: pytest.FixtureRequest) -> Result:
    return RESULTS[request.param]()
