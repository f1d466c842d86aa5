"""The shipped runs are predicted as well as they were; floors.yaml says how well."""

from __future__ import annotations

import floors
import pytest

from simulator.validation.predict import DEFECT
from simulator.validation.summary import summary

OLD = """\
step_time_s:
  A: {rows: 5, median: 3.0, p90: 9.0}  # the source rounds to seconds
  B: {rows: 5, median: 3.0, p90: 9.0}
"""


def test_each_family_has_bounds_and_each_loosened_one_a_reason() -> None:
    text = floors.FILE.read_text(encoding="utf-8")
    found = floors.bounds(text)
    assert found.keys() == {"step_time_s", "mem_gb", floors.LAYOUTS}
    assert floors.NO_REASON not in text
    assert len(found["step_time_s"]) == 31
    assert all(limits.keys() == {"rows", "median", "p90"} for limits in found["step_time_s"].values())


def test_a_missed_bound_shows_the_figure_and_the_bound() -> None:
    worse = {"step_time_s": {"A": {"rows": 4, "median": 3.01, "p90": 9.0}, "C": {"median": 1.0}}}
    assert list(floors.missed(floors.bounds(OLD), worse)) == [
        "step_time_s of A: rows is 4, expected at least 5",
        "step_time_s of A: median is 3.01, expected at most 3",
        "step_time_s of B: rows is not predicted any more, and has a bound of 5",
        "step_time_s of B: median is not predicted any more, and has a bound of 3",
        "step_time_s of B: p90 is not predicted any more, and has a bound of 9",
        "step_time_s of C: has no bound; run python tests/validation/floors.py --write",
    ]


def test_renewing_tightens_what_is_better_and_loosens_only_what_is_missed() -> None:
    """1.0 + 0.3 is below 3.0; 8.5 + 1 is above 9.0, which holds; 4.0 misses 3.0 and becomes 4.0 + 0.3."""
    now = {
        "step_time_s": {"A": {"rows": 5, "median": 1.0, "p90": 8.5}, "B": {"rows": 6, "median": 4.0, "p90": 9.0}},
        floors.LAYOUTS: {"g: 1": {"spearman": 0.9555, "regret": 0.0}},
    }
    text = floors.written(OLD, now, "a new term")
    assert text.removeprefix(floors.HEAD).splitlines() == [
        "step_time_s:",
        "  A: {rows: 5, median: 1.3, p90: 9.0}  # the source rounds to seconds",
        "  B: {rows: 6, median: 4.3, p90: 9.0}  # a new term",
        "layouts:",
        '  "g: 1": {spearman: 0.93, regret: 1.0}',
    ]
    assert list(floors.missed(floors.bounds(text), now)) == []
    assert floors.written(text, now) == text


@pytest.mark.slow
def test_every_shipped_run_is_predicted_and_every_family_as_well_as_its_bounds() -> None:
    """The rows are predicted once for all bounds, since that takes minutes."""
    lines = floors.predicted()
    assert [line.note for line in lines if line.note.startswith(DEFECT)] == []
    assert len({line.id for line in lines if line.predicted is not None}) >= 1796
    missed = list(floors.missed(floors.bounds(floors.FILE.read_text(encoding="utf-8")), floors.figures(summary(lines))))
    assert not missed, "\n".join(missed)
