"""The step as a Chrome trace: JSON that ui.perfetto.dev and chrome://tracing open.

A pipeline stage is a process and each of its streams a thread, because the viewers do not draw slices that
overlap on one track (Trace Event Format, events of phase X; times in microseconds). Beside them a stage has a
counter (events of phase C): the memory that it has allocated.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from simulator.outcome.results import Level, Result, Span
from simulator.tracks import STREAMS, place
from simulator.units import whole

MICROSECOND = 1e-6
TOLERANCE = 1e-12
"""Seconds by which rounding may make one span begin before the last has ended."""


def chrome(result: Result) -> str:
    """Return the trace of ``result.spans`` as text."""
    laid = _lanes(result.spans)
    events = [*_names([track for track, _ in laid]), *(_slice(track, span) for track, span in laid)]
    events += [_counter(stage, level) for stage, levels in enumerate(result.occupancy) for level in levels]
    about = {"scenario": result.scenario.get("name", ""), "version": result.version, "seed": result.seed}
    return (
        json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": about}, separators=(",", ":")) + "\n"
    )


def _lanes(spans: Sequence[Span]) -> list[tuple[str, Span]]:
    """Return each span with its track; one that begins before another has ended goes to a track of its own.

    A compute stream does one thing at a time, but messages to a neighbour may be under way together.
    """
    ends: dict[str, list[float]] = defaultdict(list)
    laid = []
    for span in sorted(spans, key=lambda span: (span.start, span.start + span.duration)):
        lanes = ends[span.track]
        free = next((lane for lane, end in enumerate(lanes) if end <= span.start + TOLERANCE), len(lanes))
        lanes[free : free + 1] = [span.start + span.duration]
        laid.append((f"{span.track} {free + 1}" if free else span.track, span))
    return laid


def _slice(track: str, span: Span) -> dict[str, Any]:
    process, thread, _, _ = _address(track)
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.kind,
        "pid": process,
        "tid": thread,
        "ts": span.start / MICROSECOND,
        "dur": span.duration / MICROSECOND,
    }


def _counter(stage: int, level: Level) -> dict[str, Any]:
    """Return the memory of a stage from a moment on; a process is numbered as in ``_address``."""
    allocated = {"allocated GiB": round(level.nbytes / 2**30, 3)}
    return {"ph": "C", "name": "memory", "pid": stage + 1, "ts": level.time_s / MICROSECOND, "args": allocated}


def _names(tracks: Sequence[str]) -> list[dict[str, Any]]:
    """Return the events that name and order processes and threads."""
    addresses = sorted({_address(track) for track in tracks})
    processes = {process: name for process, _, name, _ in addresses}
    named = [_metadata("process_name", process, 0, name=name) for process, name in processes.items()]
    named += [_metadata("process_sort_index", process, 0, sort_index=process) for process in processes]
    named += [_metadata("thread_name", process, thread, name=name) for process, thread, _, name in addresses]
    named += [_metadata("thread_sort_index", process, thread, sort_index=thread) for process, thread, _, _ in addresses]
    return named


def _metadata(kind: str, process: int, thread: int, **arguments: Any) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": arguments}


def _address(track: str) -> tuple[int, int, str, str]:
    """Return number and name of the process and the thread of a track; what is not a stage comes last."""
    found = place(track)
    if found is None:
        return 1_000_000, _order(track), "run", track
    stage, stream = found
    return stage + 1, _order(stream), f"stage {stage}", stream


def _order(stream: str) -> int:
    """Return the number of a stream: its place in the list, else one that its name gives, the same every time."""
    name, _, last = stream.rpartition(" ")
    lane = whole(last)
    if lane is None:
        name, lane = stream, 1
    if name in STREAMS:
        return 100 * (STREAMS.index(name) + 1) + min(lane, 99)
    return 10_000 + zlib.crc32(stream.encode()) % 1_000_000
