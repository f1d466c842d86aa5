"""Predicted against measured, one point a published run, with the range of 20% around the line where both agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from simulator.io.readable import duration
from simulator.plots import colours
from simulator.plots.marks import look
from simulator.plots.validation import BAND
from simulator.validation.lines import Line

SHAPES = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "X": "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
    "<": "triangle-left",
    ">": "triangle-right",
}
"""The shapes of drawings in Vega's words."""


def points(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [
        {
            "run": line.id,
            "family": line.family,
            "measured": line.measured,
            "predicted": line.predicted,
            "step measured": duration(line.measured),
            "step predicted": duration(line.predicted),
            "error": f"{100 * line.error:+.1f}%",
        }
        for line in lines
        if line.measured and line.predicted and line.error is not None
    ]


def chart(drawn: Sequence[dict[str, Any]]) -> Any:
    values = [point[name] for point in drawn for name in ("measured", "predicted")]
    ends = (min(values) / 1.3, max(values) * 1.3)
    frame = [{"x": end, "y": end, "low": (1 - BAND) * end, "high": (1 + BAND) * end} for end in ends]
    across = alt.X("x:Q", title="measured step (s)", scale=alt.Scale(type="log", domain=ends, nice=False))
    up = alt.Scale(type="log", domain=ends, nice=False)
    lines = alt.Chart(alt.Data(values=frame))
    band = lines.mark_area(color=colours.FAINT).encode(
        x=across, y=alt.Y("low:Q", scale=up, title="predicted step (s)"), y2="high:Q"
    )
    same = lines.mark_line(color=colours.INK, strokeWidth=1).encode(x=across, y=alt.Y("y:Q", scale=up))
    families = sorted({point["family"] for point in drawn})
    looks = [look(place) for place in range(len(families))]
    shapes = [SHAPES[one.mark] for one in looks]
    dots = (
        alt.Chart(alt.Data(values=list(drawn)))
        .mark_point(size=45, opacity=0.75, filled=True)
        .encode(
            x=alt.X("measured:Q", scale=alt.Scale(type="log", domain=ends, nice=False)),
            y=alt.Y("predicted:Q", scale=up),
            color=alt.Color(
                "family:N",
                scale=alt.Scale(domain=families, range=[one.colour for one in looks]),
                legend=alt.Legend(symbolLimit=40),
            ),
            shape=alt.Shape("family:N", scale=alt.Scale(domain=families, range=shapes)),
            tooltip=["run:N", "family:N", "step measured:N", "step predicted:N", "error:N"],
        )
    )
    return alt.layer(band, same, dots).properties(height=420)
