"""What a report says of deadlines and budgets: the whole chance, and what is left of it if the step is sure."""

from __future__ import annotations

from dataclasses import replace

from simulator.report import targets
from simulator.results import Result


def _notes(result: Result, late: float, by_failures: float) -> tuple[str, str]:
    given = {"deadline_s": 80 * 86400.0, "p_late": late, "p_late_by_failures": by_failures, "budget_dollars": None}
    section = targets.section(replace(result, targets=given))
    assert section is not None
    (fact,) = section.facts
    assert fact.value == "80.0 days"
    return fact.note, section.notes[0]


def test_both_parts_of_a_chance_are_said(result: Result) -> None:
    note, luck = _notes(result, 0.34, 0.02)
    assert note == "missed with a chance of 34%; 2% if the step takes what is predicted"
    assert "failures and the error of the step" in luck


def test_a_step_that_is_given_leaves_the_luck_of_failures(result: Result) -> None:
    sure = replace(result, step=replace(result.step, time_low_s=result.step.time_s, time_high_s=result.step.time_s))
    note, luck = _notes(sure, 0.02, 0.02)
    assert note == "missed with a chance of 2%"
    assert "error of the step" not in luck


def test_without_targets_there_is_nothing_to_say(result: Result) -> None:
    assert targets.section(result) is None
