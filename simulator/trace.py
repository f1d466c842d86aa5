"""The step as a Chrome trace: JSON that ui.perfetto.dev and chrome://tracing open.

A pipeline stage is a process and each of its streams a thread, because the viewers do not draw slices that
overlap on one track (Trace Event Format, events of phase X; times in microseconds).
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from simulator.results import Result, Span
from simulator.tracks import STREAMS, place

MICROSECOND = 1e-6


def chrome(result: Result) -> str:
    """Return the trace of ``result.spans`` as text."""
    events = [*_names(result.spans), *(_slice(span) for span in result.spans)]
    about = {"scenario": result.scenario.get("name", ""), "version": result.version, "seed": result.seed}
    return (
        json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": about}, separators=(",", ":")) + "\n"
    )


def _slice(span: Span) -> dict[str, Any]:
    process, thread, _, _ = _address(span.track)
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.kind,
        "pid": process,
        "tid": thread,
        "ts": span.start / MICROSECOND,
        "dur": span.duration / MICROSECOND,
    }


def _names(spans: tuple[Span, ...]) -> list[dict[str, Any]]:
    """Return the events that name and order processes and threads."""
    addresses = sorted({_address(span.track) for span in spans})
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
    return STREAMS.index(stream) + 1 if stream in STREAMS else 100 + zlib.crc32(stream.encode()) % 1_000_000
