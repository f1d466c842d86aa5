"""Cases of failures and checkpoints are predicted within their tolerances, by formula and by simulation."""

from __future__ import annotations

import pytest

from simulator.validation.reliability import SUMMED, evaluate, shipped

SUMS = [row for row in shipped() if row["model"] in SUMMED]
MISSES = {"R45", "R46"}


@pytest.mark.parametrize("row", SUMS, ids=lambda row: f"{row['id']} {row['quantity']}")
def test_every_sum_agrees(row: dict[str, str]):
    (case,) = evaluate([row])
    assert case.agrees, case


def test_simulated_cases_agree_but_the_two_misses_that_are_reported():
    quick = [row for row in shipped() if row["id"] in {"R13", "R16", "R17", "R22", "R43", *MISSES}]
    for case in evaluate(row for row in quick if row["model"] not in SUMMED):
        assert case.agrees is (case.id not in MISSES), case


@pytest.mark.slow
def test_every_simulated_case_agrees():
    for case in evaluate(row for row in shipped() if row["model"] not in SUMMED):
        assert case.agrees is (case.id not in MISSES), case


def test_a_row_in_words_is_looked_up_by_its_id():
    found = list(evaluate([{"id": "R36", "inputs": "405B checkpoint 5.29 TB at 2 TB/s and 7 TB/s"}]))
    assert [case.predicted for case in found] == pytest.approx([2.645, 0.7557], rel=1e-3)
    (unknown,) = evaluate([{"id": "R99", "inputs": "words"}])
    assert unknown.predicted is None
    assert not unknown.agrees


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"model": "astrology", "inputs": "stars=7"}, "no model of failures is named 'astrology'"),
        ({"inputs": "stall=300"}, "model young: missing a required argument: 'mtbf'"),
        ({"inputs": "stall=300 mtbf=1d"}, "mtbf: expected a number, found '1d'"),
        ({"inputs": "stall"}, "inputs: expected KEY=NUMBER, found 'stall'"),
        ({"inputs": "stall=300 mtbf=-1"}, "model young has no answer for stall=300 mtbf=-1"),
        ({"expected": "three"}, "expected: expected a number, found 'three'"),
        ({"tolerance": "..2"}, "tolerance: expected a number, found '..2'"),
        ({"model": "job run", "inputs": "mtbf=often"}, "mtbf: expected a number up to"),
        ({"model": "job run", "inputs": "mtbf=100", "quantity": "fate"}, "gives no 'fate'; it gives completion_s"),
        (
            {"model": "job run", "inputs": "mtbf=30 work=30000 interval=57 runs=400"},
            "failures in 400 runs are too many",
        ),
        ({"model": "preset run", "inputs": "gpus=64"}, "a case of this model needs preset"),
    ],
)
def test_a_case_that_cannot_be_worked_out_says_why(cells: dict[str, str], reason: str):
    row = {"id": "X", "model": "young", "inputs": "stall=300 mtbf=86400", "quantity": "s", "expected": "1"}
    (case,) = evaluate([row | {"tolerance": "0"} | cells])
    assert case.predicted is None
    assert reason in case.note
