"""Every term of the physics can be switched off, and each is worth something somewhere."""

from __future__ import annotations

import pytest
from user_case import published

from simulator.errors import ScenarioError
from simulator.simulation import predict
from simulator.validation import terms

WHERE = {
    "products": "KOR-0003",
    "attention": "KOR-0003",
    "elementwise": "KOR-0003",
    "recompute": "KOR-0003",
    "ends": "KOR-0003",
    "host": "VTS-1399",
    "optimizer": "KOR-0003",
    "tensor": "KOR-0003",
    "context": "tt-010",
    "expert": "mb-077",
    "data": "KOR-0009",
    "pipeline": "KOR-0003",
    "bubble": "KOR-0003",
    "fitted": "tt-003",
}


@pytest.mark.parametrize("term", WHERE)
def test_a_step_is_shorter_without_a_term(term: str) -> None:
    answer = published(WHERE[term])
    assert predict(answer.scenario, without={term}).step_time_s < answer.step


def test_every_term_is_tried_on_a_row_but_offload_which_no_row_shows() -> None:
    """tests/engine/test_offload.py has it: the one timed row with offload hides it (tune-007)."""
    assert terms.TERMS.keys() - WHERE.keys() == {"offload"}
    assert predict(published("tune-007").scenario).parts_s.get("offload", 0.0) == 0.0


def test_a_term_that_is_none_is_an_error_with_a_hint() -> None:
    assert terms.known(["bubble", "tensor"]) == {"bubble", "tensor"}
    with pytest.raises(ScenarioError, match=r"no term .recompte.; did you mean recompute\?"):
        terms.known(["recompte"])
    with pytest.raises(ScenarioError, match="there are products, attention"):
        terms.known(["xyz"])
