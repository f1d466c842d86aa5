"""What each pipeline stage does during one step: forward, backward, communication, and the bubble between."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from simulator.io.readable import duration, percent
from simulator.outcome.results import Result, Span
from simulator.plots import colours
from simulator.tracks import place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (9.0, 4.6)
NAME = re.compile(r"[FBIW](\d+)(?:\.(\d+))?")
PHASES = {"F": "forward", "B": "backward", "I": "input-gradient", "W": "weight-gradient"}
DRAWN = ("forward", "recompute", "backward", "input-gradient", "weight-gradient", "data", "optimizer")
"""Kinds that fill a stage's row, in the order of the legend; what runs beside compute is left to the trace."""
COMPUTE, BESIDE = "compute", "data"
"""Streams that are drawn: what a stage computes, and below it as a strip what runs beside it."""
FEWEST = 2
"""Rows that there is room for, so that one stage is not a wall."""
DENSE = 600
"""Spans from which they are drawn as an image, without outlines and numbers."""
LABELLED = (0.003, 0.009)
"""Share of the width that a span needs for its microbatch: beside its number, and for each digit."""


def applies(result: Result) -> bool:
    return any(place(span.track) for span in result.spans)


def kind(span: Span) -> str:
    """Return what `span` is: its kind, or the phase that its name begins with (``F3`` is a forward)."""
    known = span.kind in colours.PHASE or span.kind in colours.STEP
    return span.kind if known and span.kind != "compute" else PHASES.get(span.name[:1], span.kind)


def draw(result: Result, axes: Axes) -> Axes:
    """Draw a row for each stage; what stays grey is the bubble."""
    rows = _rows(result.spans)
    end = max((span.start + span.duration for spans in rows.values() for span in spans), default=0.0)
    scale, unit = (1e3, "ms") if end < 1.0 else (1.0, "s")
    dense = sum(map(len, rows.values())) > DENSE
    bars: dict[str, list[tuple[int, Span]]] = defaultdict(list)
    for stage, spans in rows.items():
        for span in spans:
            bars[kind(span)].append((stage, span))
    axes.barh(list(rows), [end * scale] * len(rows), height=0.84, color=colours.FAINT, linewidth=0)
    strip = any(_beside(span) for spans in rows.values() for span in spans)
    for name in (name for name in DRAWN if name in bars):
        _boxes(axes, name, bars[name], scale, dense=dense, strip=strip)
    if not dense:
        _microbatches(axes, rows, end, scale)
    last = max(rows, default=0)
    axes.set_xlim(0, max(end * scale, 1e-9))
    room = max(FEWEST - last - 1, 0) / 2
    axes.set_ylim(last + 0.5 + room, -0.5 - room)
    axes.set_yticks(range(last + 1) if last < 24 else range(0, last + 1, 4))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    chunks = "; paler is every second chunk" if any(_chunk(span) for spans in rows.values() for span in spans) else ""
    beside = "; the strip below runs beside compute" if strip else ""
    alike = " of equal GPUs" if result.step and result.step.parts_s.get("straggler", 0.0) > 0 else ""
    bubble = "; grey is the bubble" if result.step.parts_s.get("bubble", 0.0) > 0 else ""
    axes.set_xlabel(f"time in the step{alike} ({unit}), one pipeline{bubble}{chunks}{beside}")
    axes.set_ylabel("pipeline stage")
    axes.set_title(_title(result), pad=28)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(bars),
        handlelength=1.0,
        columnspacing=1.2,
        borderpad=0,
    )
    return axes


def _rows(spans: tuple[Span, ...]) -> dict[int, list[Span]]:
    """Return the spans that fill each stage's row: the compute stream, and gradients beside it."""
    rows: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        if (found := place(span.track)) and kind(span) in DRAWN and found[1] in (COMPUTE, BESIDE):
            rows[found[0]].append(span)
    return dict(sorted(rows.items()))


def _boxes(axes: Axes, name: str, bars: list[tuple[int, Span]], scale: float, *, dense: bool, strip: bool) -> None:
    from matplotlib.collections import PolyCollection

    colour = colours.PHASE.get(name) or colours.STEP[name]
    corners = []
    for stage, span in bars:
        left, right = span.start * scale, (span.start + span.duration) * scale
        low, high = (stage + 0.26, stage + 0.42) if _beside(span) else (stage - 0.42, stage + (0.26 if strip else 0.42))
        corners.append([(left, low), (left, high), (right, high), (right, low)])
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=[colours.tint(colour, 0.3) if _chunk(span) % 2 else colour for _, span in bars],
            edgecolors="none" if dense else colours.PAPER,
            linewidths=0.6,
            label=name,
            rasterized=dense,
        )
    )


def _beside(span: Span) -> bool:
    """Return whether `span` runs beside compute, not in its stead."""
    found = place(span.track)
    return found is not None and found[1] == BESIDE


def _chunk(span: Span) -> int:
    """Return the chunk of layers that ``F3.1`` names; every second one is drawn paler."""
    name = NAME.match(span.name)
    return int(name[2] or 0) if name else 0


def _microbatches(axes: Axes, rows: dict[int, list[Span]], end: float, scale: float) -> None:
    for stage, spans in rows.items():
        for span in spans:
            name = NAME.match(span.name)
            if name is None or span.duration < (LABELLED[0] + LABELLED[1] * len(name[1])) * end:
                continue
            axes.text(
                (span.start + span.duration / 2) * scale,
                stage,
                name[1],
                ha="center",
                va="center",
                fontsize=7,
                color=colours.on(colours.PHASE.get(kind(span), colours.BLUE)),
            )


def _title(result: Result) -> str:
    bubble, time = result.step.parts_s.get("bubble", 0.0), result.step.time_s
    if bubble <= 0:
        return f"A step of {duration(time)}, without a bubble"
    return f"The bubble takes {percent(bubble / time)} of a step of {duration(time)}"
