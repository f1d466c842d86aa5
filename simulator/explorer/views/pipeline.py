"""One step on the clock, stage by stage."""

from __future__ import annotations

import streamlit as st

from simulator.explorer import drawn
from simulator.explorer.charts import timeline
from simulator.io.readable import duration, percent
from simulator.outcome.results import Result
from simulator.studies.point import Base

TITLE = "Pipeline"
ORDER = 2


def show(base: Base, result: Result) -> None:
    every = timeline.boxes(result.spans)
    if not every:
        st.caption("The step is given, so there is nothing to play.")
        return
    bubble, step = result.step.parts_s.get("bubble", 0.0), result.step.time_s
    st.markdown(
        f"**The bubble takes {percent(bubble / step)}** of a step of {duration(step)}. What stays white is waiting."
    )
    first, end = timeline.first_window(every), max(box["end"] for box in every)
    window = st.slider(
        "seconds of the step",
        min_value=0.0,
        max_value=float(end),
        value=(0.0, float(first[1])),
        key=f"window {hash(base)}",
        help="Drag the ends, or use the arrow keys. In the drawing, the wheel zooms and dragging moves.",
    )
    inside = timeline.within(every, window)
    st.altair_chart(timeline.chart(inside, window), alt="Timeline of one step, a row for each pipeline stage")
    if len(inside) == timeline.MOST:
        st.caption(f"The first {timeline.MOST:,} tasks of this part are drawn; choose a shorter part to see the rest.")
    if len(every) > timeline.MOST:
        drawn.picture("pipeline", base, result)
