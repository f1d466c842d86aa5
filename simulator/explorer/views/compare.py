"""Up to four pinned scenarios side by side, and why they differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from simulator.explorer import answers, state
from simulator.explorer.headline import WORDS
from simulator.explorer.waiting import wait
from simulator.explorer.wording import literal
from simulator.outcome.results import Result
from simulator.report.comparison import FIGURES, METRICS
from simulator.scenario import Scenario
from simulator.studies import compare
from simulator.studies.columns import of_result
from simulator.studies.metrics import head, text
from simulator.studies.point import Base

TITLE = "Compare"
ORDER = 9


def show(base: Base, result: Result) -> None:
    pins = state.pins()
    if not pins:
        st.caption("Pin this scenario, change something, and come back; up to four may be pinned.")
        return
    every = [*pins, *([base] if base not in pins else [])]
    names = [chr(ord("A") + place) for place in range(len(every))]
    for letter, one in zip(names, every, strict=True):
        _named(letter, one, base)
    if len(every) < 2:
        st.caption("One scenario is nothing to compare; change something.")
        return
    scenarios = [one.read() for one in every]
    results = [wait(f"simulating {letter} …", answers.whole, one) for letter, one in zip(names, every, strict=True)]
    _side_by_side(names, [of_result(found, one.gpus) for one, found in zip(scenarios, results, strict=True)])
    st.markdown("**Inputs that differ**")
    differing = compare.differences([one.resolved for one in scenarios])
    st.table(
        [{"key": literal(one.key), **_cells(names, one.values)} for one in differing],
        border="horizontal",
        hide_index=True,
    )
    pairs = list(zip(scenarios, results, strict=True))
    for letter, other in zip(names[1:], pairs[1:], strict=True):
        _why(f"{letter} over {names[0]}", pairs[0], other)


def _named(letter: str, one: Base, base: Base) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        changes = ", ".join(one.changes) or "as it stands"
        now = " (this one)" if one == base else ""
        st.markdown(f"**{letter}** {literal(one.read().name)}{now}: {literal(changes)}", width="content")
        if one in state.pins():
            st.button("unpin", key=f"unpin {letter}", on_click=state.unpin, args=(one,), type="tertiary")
        if one != base:
            st.button("load", key=f"load {letter}", on_click=state.show, args=(one,), type="tertiary")


def _side_by_side(names: list[str], rows: list[dict[str, Any]]) -> None:
    table = [{"": "verdict", **_cells(names, [WORDS.get(row["verdict"], "") for row in rows])}]
    for metric in METRICS:
        if any(row.get(metric) is not None for row in rows):
            table.append({"": head(metric), **_cells(names, [text(metric, row.get(metric)) for row in rows])})
    st.table(table, border="horizontal", hide_index=True)


def _why(title: str, first: tuple[Scenario, Result], other: tuple[Scenario, Result]) -> None:
    """Write the factors of every figure that multiply to the ratio of a scenario to the first."""
    able = [figure for figure in compare.FIGURES if compare.comparable([first[1], other[1]], figure)]
    each = {FIGURES[figure]: {one.name: one.ratio for one in compare.factors(first, other, figure)} for figure in able}
    ratios = [compare.value(other[1], figure) / compare.value(first[1], figure) for figure in able]
    causes = dict.fromkeys(name for factors in each.values() for name in factors)
    st.markdown(f"**Why {title}:** factors that multiply to the ratio")
    rows = [(name, [f"{factors[name]:.3f}" if name in factors else "" for factors in each.values()]) for name in causes]
    rows.append(("ratio", [f"{ratio:.3f}" for ratio in ratios]))
    table = [{"cause": literal(name), **_cells(list(each), values)} for name, values in rows]
    st.table(table, border="horizontal", hide_index=True)


def _cells(names: Sequence[str], values: Iterable[object]) -> dict[str, str]:
    return {name: literal(str(value)) for name, value in zip(names, values, strict=True)}
