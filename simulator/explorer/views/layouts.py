"""Every layout of this cluster as a point; a click loads one."""

from __future__ import annotations

from typing import Any

import streamlit as st

from simulator.explorer import asked, settings, state
from simulator.explorer.charts import scatter
from simulator.explorer.waiting import wait_for_all
from simulator.explorer.wording import literal
from simulator.io.readable import chance, duration, memory, percent
from simulator.outcome.results import Result
from simulator.plots import pareto
from simulator.scenario import Scenario
from simulator.studies import best, ranking
from simulator.studies.layouts import Layout, evaluate, groups
from simulator.studies.metrics import scale
from simulator.studies.point import Base
from simulator.studies.space import Space
from simulator.studies.store import Row

TITLE = "Layouts"
ORDER = 6
AXES = ("tensor", "pipeline", "context", "expert", "schedule", "microbatch", "shard", "recompute")
FREE = ("tensor", "pipeline", "schedule", "microbatch", "recompute")
"""Axes that vary at first."""
SHOWN = 12


def show(base: Base, result: Result) -> None:
    scenario = base.read()
    if scenario.model is None or scenario.parallelism is None or scenario.training.step_time is not None:
        st.caption("Layouts are those of a model; this scenario has a measured step.")
        return
    free = st.multiselect("axes that vary", AXES, default=FREE, key="axes", help="The others stay as they are.")
    study = pinned(base, scenario, free)
    rows = ranked(study)
    order = ranking.ordered(rows)
    if not order:
        st.warning(f"None of {len(rows):,} layouts fits.")
        return
    own = settings.words({**settings.of_scenario(scenario), "data": scenario.data})
    near = pareto.within(order)
    drawn = scatter.points(near, own)
    unit = scale("step_time_s", [row["step_time_s"] for row in near])[1]
    st.markdown(f"**{len(order):,} of {len(rows):,} layouts fit.** A click on a point loads its layout.")
    slower = len(order) - len(near)
    st.caption(
        "The line joins those that none beats in time and memory; the ring is the layout now."
        + (f" {slower:,} more take over {pareto.SLOWEST:g} times as long as the best." if slower else "")
        + (f" The fastest {scatter.MOST:,} are drawn." if len(drawn) == scatter.MOST else "")
    )
    st.altair_chart(
        scatter.chart(drawn, unit),
        key=f"layouts {hash(study)}",
        on_select=lambda: _clicked(study, order),
        selection_mode=scatter.PICK,
        alt="Layouts: step time against memory headroom",
    )
    _table(base, order)
    st.caption("The same layouts as")
    st.code(asked.command(study, "layouts", "--quick"), language="bash", wrap_lines=True)


def pinned(base: Base, scenario: Scenario, free: list[str]) -> Base:
    """Return `base` with every axis that is not free pinned to the value that it has, unless it says otherwise."""
    own = settings.of_scenario(scenario)
    fixed = [axis for axis in AXES if axis not in free and axis not in scenario.search]
    found = asked.applied(base, [f"search.{axis}=[{own[axis]}]" for axis in fixed])
    if "schedule" in fixed and own["chunks"] > 1 and "chunks" not in scenario.search and "pipeline" not in free:
        found = asked.applied(found, [f"search.chunks=[{own['chunks']}]"])
    return found


def ranked(study: Base) -> list[Row]:
    """Return the rows that ``foretrain layouts --quick`` prints; the best are timed task by task."""
    kept: dict[Base, list[Row]] = state.remember("ranked", {})
    if study not in kept:
        scenario = study.read()
        work = groups(study, Space(scenario).layouts())
        found = wait_for_all(evaluate, work, "layouts, in groups")
        layouts: list[Layout] = [layout for group in work for layout in group.layouts]
        rows = [dict(row) for group in found for row in group["layouts"]]
        best.time_exactly(scenario, rows, layouts)
        kept.clear()
        kept[study] = rows
    return kept[study]


def _clicked(study: Base, order: list[Row]) -> None:
    picked: Any = st.session_state[f"layouts {hash(study)}"]["selection"][scatter.PICK]
    chosen = next((row for row in order if picked and settings.words(row) == picked[0]["layout"]), None)
    if chosen is not None:
        state.show(settings.load(st.session_state["base"], chosen))


def _table(base: Base, order: list[Row]) -> None:
    """List the best, each with a button that loads it, for those who do not point."""
    top = list(enumerate(order[:SHOWN], 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = [f"{place}. {settings.words(row)}" for place, row in top]
        chosen = st.selectbox("the best", range(len(top)), format_func=words.__getitem__, key="best")
        st.button("Load it", key="load", on_click=_load, args=(top[chosen or 0][1],))
    table = [
        {
            "": place,
            "layout": literal(settings.words(row)),
            "step": duration(row["step_time_s"]),
            "MFU": percent(row["mfu"]),
            "peak": memory(row["peak_bytes"]),
            "P(fits)": literal(chance(row["p_fits"])),
        }
        for place, row in top
    ]
    st.table(table, border="horizontal", hide_index=True)


def _load(row: Row) -> None:
    state.show(settings.load(st.session_state["base"], row))
