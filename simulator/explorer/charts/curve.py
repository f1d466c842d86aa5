"""How a figure answers to a key: a line over numbers with its percentiles, bars over words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

from simulator.plots import colours
from simulator.plots.captions import measure
from simulator.plots.curves import BANDS
from simulator.studies.metrics import label, scale, text
from simulator.studies.sweep import feasible
from simulator.studies.vary import Axis


def points(rows: Sequence[dict[str, Any]], axis: Axis, metric: str) -> list[dict[str, Any]]:
    """Return what is drawn of the rows that can be run, in the unit of the drawing."""
    able = [row for row in feasible(list(rows)) if row.get(metric) is not None]
    size, _ = scale(metric, [row[metric] for row in able])
    numbers = dict(zip(axis.values, axis.numbers or (), strict=False))
    low, high = BANDS.get(metric, (metric, metric))
    return [
        {
            "value": row[axis.key],
            "number": numbers.get(row[axis.key]),
            "figure": row[metric] / size,
            "low": row[low] / size,
            "high": row[high] / size,
            "said": text(metric, row[metric]),
            "spread": f"{text(low, row[low])} to {text(high, row[high])}" if low != high else "",
        }
        for row in able
    ]


def chart(rows: Sequence[dict[str, Any]], axis: Axis, metric: str, now: str = "") -> Any:
    """Draw `metric` over `axis`; the value that the scenario has `now` is marked."""
    drawn = points(rows, axis, metric)
    unit = scale(metric, [row.get(metric) for row in feasible(list(rows))])[1]
    title = measure(metric, unit)
    for point in drawn:
        point["now"] = point["value"] == now
    tips = ["value:N", alt.Tooltip("said:N", title=label(metric)), alt.Tooltip("spread:N", title="P10 to P90")]
    base = alt.Chart(alt.Data(values=drawn))
    if axis.numbers is None:
        bars = base.mark_bar(color=colours.BLUE).encode(
            x=alt.X("figure:Q", title=title), y=alt.Y("value:N", sort=None, title=axis.key), tooltip=tips
        )
        return bars.properties(height=max(120, 32 * len(drawn)))
    wide = min(axis.numbers) > 0 and max(axis.numbers) / min(axis.numbers) >= 8
    kind: Literal["log", "linear"] = "log" if wide else "linear"
    across = alt.X(
        "number:Q",
        title=f"{axis.key} ({axis.unit})" if axis.unit else axis.key,
        scale=alt.Scale(type=kind, nice=False, padding=12),
        axis=alt.Axis(values=list(axis.numbers), format="~g", labelOverlap=True),
    )
    up = alt.Y("figure:Q", title=title, scale=alt.Scale(zero=False))
    layers = [base.mark_line(color=colours.BLUE).encode(x=across, y=up)]
    if metric in BANDS:
        layers.insert(0, base.mark_area(color=colours.BLUE, opacity=0.15).encode(x=across, y="low:Q", y2="high:Q"))
    dots = base.mark_circle(opacity=1).encode(
        x=across,
        y=up,
        size=alt.condition("datum.now", alt.value(190), alt.value(70)),
        color=alt.condition("datum.now", alt.value(colours.VERMILLION), alt.value(colours.BLUE)),
        tooltip=tips,
    )
    return alt.layer(*layers, dots).properties(height=320)
