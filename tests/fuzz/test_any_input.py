"""Some hundred random inputs at every door; `any_input.py` throws thousands."""

from __future__ import annotations

import random

import pytest
from doors import Door, doors
from judge import DRAWN, numbers, tried
from mutation import mutated

EACH = 6
QUICK = [door for name, door in doors().items() if name != DRAWN]


@pytest.mark.parametrize("door", QUICK, ids=lambda door: door.name)
def test_whatever_comes_in_gets_an_answer_or_a_message(door: Door, tmp_path):
    seeds = door.seeds()
    for number in range(EACH):
        dice = random.Random(f"{door.name} {number}")
        text = mutated(dice.choice(seeds), dice, seeds)
        found = tried(door, text, tmp_path / str(number))
        assert found.complaint is None, (found.complaint, text)


@pytest.mark.parametrize("door", [door for door in QUICK if door.name != "set"], ids=lambda door: door.name)
def test_what_the_inputs_are_made_from_is_valid(door: Door, tmp_path):
    found = tried(door, door.seeds()[0].encode(), tmp_path)
    assert (found.code, found.complaint) in ((0, None), (1, None)), found.said


def test_the_judge_sees_a_number_that_is_none():
    assert numbers('{"a": NaN}', echoes=False) == "JSON says NaN"
    assert numbers("step,inf\n", echoes=False)
    assert numbers("information, a nanosecond\n", echoes=False) is None
