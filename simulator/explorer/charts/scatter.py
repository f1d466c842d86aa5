"""Layouts as points, time against memory headroom; a click on one loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from simulator.explorer.settings import words
from simulator.io.readable import chance, duration, memory, percent
from simulator.plots import colours
from simulator.studies.metrics import scale
from simulator.studies.ranking import folded, front

PICK = "pick"
MOST = 1200
"""Points that are drawn, so that each can be read and clicked."""


def points(near: Sequence[dict[str, Any]], own: str = "") -> list[dict[str, Any]]:
    """Return the points of layouts in their order; those that do the same by other names are one."""
    edge = {id(row) for row in front(near, lambda row: row["step_time_s"], lambda row: -row["headroom_bytes"])}
    size, _ = scale("step_time_s", [row["step_time_s"] for row in near])
    found = []
    for row, others in folded(near)[:MOST]:
        name = words(row)
        found.append(
            {
                "layout": name,
                "time": row["step_time_s"] / size,
                "headroom": row["headroom_bytes"] / 2**30,
                "verdict": row["verdict"],
                "now": name == own,
                "front": id(row) in edge,
                "step": duration(row["step_time_s"]),
                "MFU": percent(row["mfu"]),
                "peak": memory(row["peak_bytes"]),
                "P(fits)": chance(row["p_fits"]),
                "same": f"{others} more by other names" if others else "",
            }
        )
    return found


def chart(drawn: Sequence[dict[str, Any]], unit: str) -> Any:
    pick = alt.selection_point(name=PICK, fields=["layout"], on="click", clear="dblclick")
    colour = alt.Color(
        "verdict:N",
        title=None,
        scale=alt.Scale(domain=["fits", "tight"], range=[colours.VERDICT[name] for name in ("fits", "tight")]),
        legend=alt.Legend(orient="top"),
    )
    across = alt.X("time:Q", title=f"step time ({unit})", scale=alt.Scale(zero=False, padding=10))
    up = alt.Y("headroom:Q", title="memory headroom (GiB)", scale=alt.Scale(zero=False, padding=10))
    tips = ["layout:N", "step:N", "MFU:N", "peak:N", "P(fits):N", "same:N"]
    base = alt.Chart(alt.Data(values=list(drawn)))
    edge = (
        base.transform_filter("datum.front")
        .mark_line(color=colours.INK, strokeWidth=1, interpolate="step-after")
        .encode(x=across, y=up)
    )
    shape = alt.Shape("verdict:N", scale=alt.Scale(domain=["fits", "tight"], range=["circle", "triangle-up"]))
    dots = base.mark_point(opacity=0.75, size=60, filled=True, strokeWidth=0).encode(
        x=across, y=up, color=colour, shape=shape, tooltip=tips
    )
    dots = dots.add_params(pick)
    now = (
        base.transform_filter("datum.now")
        .mark_point(color=colours.VERMILLION, size=260, strokeWidth=2, filled=False)
        .encode(x=across, y=up, tooltip=tips)
    )
    return alt.layer(edge, now, dots).properties(height=380)
