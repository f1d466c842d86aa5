"""What each stage does during a step, to zoom into and to point at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from simulator.io.readable import duration
from simulator.outcome.results import Span
from simulator.plots import colours
from simulator.plots.pipeline import BESIDE, COMPUTE, DRAWN, kind
from simulator.tracks import place
from simulator.units import Seconds

Window = tuple[Seconds, Seconds]
MOST = 5000
"""Boxes that are drawn at a time."""


def boxes(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Return a box for each span of compute, and for what runs beside it a strip below."""
    found = []
    for span in spans:
        where = place(span.track)
        if where is None or where[1] not in (COMPUTE, BESIDE) or kind(span) not in DRAWN:
            continue
        stage, beside = where[0], where[1] == BESIDE
        found.append(
            {
                "stage": stage,
                "low": stage + (0.26 if beside else -0.42),
                "high": stage + (0.42 if beside else 0.26),
                "start": span.start,
                "end": span.start + span.duration,
                "kind": kind(span),
                "task": span.name,
                "takes": duration(span.duration),
                "from": duration(span.start),
            }
        )
    return sorted(found, key=lambda box: box["start"])


def first_window(every: Sequence[dict[str, Any]]) -> Window:
    """Return the whole step, or as much of its beginning as can be drawn at a time."""
    end = max((box["end"] for box in every), default=0.0)
    return 0.0, end if len(every) <= MOST else every[MOST]["start"]


def within(every: Sequence[dict[str, Any]], window: Window) -> list[dict[str, Any]]:
    """Return the boxes that begin or end in a window, cut at its edges; the first ones where there are too many."""
    low, high = window
    inside = [box for box in every if box["end"] > low and box["start"] < high]
    return [{**box, "start": max(box["start"], low), "end": min(box["end"], high)} for box in inside[:MOST]]


def chart(drawn: Sequence[dict[str, Any]], window: Window) -> Any:
    stages = max((box["stage"] for box in drawn), default=0) + 1
    names = [name for name in DRAWN if any(box["kind"] == name for box in drawn)]
    hues = [colours.PHASE.get(name) or colours.STEP[name] for name in names]
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"])
    ticks = list(range(0, stages, 1 if stages < 24 else 4))
    return (
        alt.Chart(alt.Data(values=list(drawn)))
        .mark_rect(stroke=colours.PAPER, strokeWidth=0.3 if len(drawn) < 1500 else 0)
        .encode(
            x=alt.X("start:Q", title="seconds in the step", scale=alt.Scale(domain=window, nice=False)),
            x2="end:Q",
            y=alt.Y(
                "low:Q",
                title="pipeline stage",
                scale=alt.Scale(domain=(stages - 0.5, -0.5), nice=False),
                axis=alt.Axis(values=ticks, format="d", grid=False, labelOverlap=False),
            ),
            y2="high:Q",
            color=alt.Color(
                "kind:N", title=None, scale=alt.Scale(domain=names, range=hues), legend=alt.Legend(orient="top")
            ),
            tooltip=["task:N", "kind:N", "stage:Q", "from:N", "takes:N"],
        )
        .add_params(zoom)
        .properties(height=max(260, min(110 + 26 * stages, 560)))
    )
