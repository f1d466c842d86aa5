"""Which layouts are best: nobody beats the front, and what is the same by other names is one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulator.studies.ranking import folded, front, ordered, pareto

ROWS = st.lists(
    st.fixed_dictionaries(
        {"step_time_s": st.integers(1, 20).map(float), "headroom_bytes": st.integers(0, 9), "ideal_s": st.just(1.0)}
    ),
    min_size=1,
    max_size=30,
)


def beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether a layout is as good in both figures and better in one."""
    faster, roomier = one["step_time_s"] - other["step_time_s"], other["headroom_bytes"] - one["headroom_bytes"]
    return faster <= 0 and roomier <= 0 and (faster, roomier) != (0, 0)


@given(ROWS)
def test_nobody_beats_the_front_and_it_beats_all_others(rows: list[dict[str, Any]]) -> None:
    best = pareto(rows)
    for row in rows:
        beaten = any(beats(other, row) for other in rows)
        assert beaten != any(
            (row["step_time_s"], row["headroom_bytes"]) == (b["step_time_s"], b["headroom_bytes"]) for b in best
        )


def test_one_figure_has_a_front_of_one() -> None:
    assert front([{"a": 3}, {"a": 1}, {"a": 2}], lambda row: row["a"]) == [{"a": 1}]


def test_the_best_comes_first_by_each_objective() -> None:
    rows = [
        {"step_time_s": 2.0, "mfu": 0.2, "dollars_p50": 5.0},
        {"step_time_s": 1.0, "mfu": 0.4, "dollars_p50": 6.0},
        {"step_time_s": None, "verdict": "oom"},
    ]
    assert [row["step_time_s"] for row in ordered(rows)] == [1.0, 2.0]
    assert [row["mfu"] for row in ordered(rows, "mfu")] == [0.4, 0.2]
    assert [row["dollars_p50"] for row in ordered(rows, "cost")] == [5.0, 6.0]


def test_what_more_likely_does_not_fit_is_ranked_only_where_nothing_else_is() -> None:
    risky, safe = {"step_time_s": 1.0, "p_fits": 0.4}, {"step_time_s": 2.0, "p_fits": 0.6}
    assert ordered([risky, safe]) == [safe]
    assert ordered([risky]) == [risky]


def test_layouts_that_do_the_same_by_other_names_are_one() -> None:
    rows = [
        {"step_time_s": 1.0, "peak_bytes": 100.0, "name": "a"},
        {"step_time_s": 1.0, "peak_bytes": 200.0, "name": "b"},
        {"step_time_s": 1.0, "peak_bytes": 100.1, "name": "c"},
        {"step_time_s": 1.1, "peak_bytes": 100.0, "name": "d"},
    ]
    assert [(row["name"], count) for row, count in folded(rows)] == [("a", 1), ("b", 0), ("d", 0)]
