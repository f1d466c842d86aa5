"""The trace opens in a viewer: named processes and threads, and slices that never overlap on one."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from simulator.outcome.results import Result
from simulator.trace import chrome
from simulator.tracks import STREAMS, place, track


@pytest.fixture(scope="module")
def events(result: Result) -> list[dict[str, Any]]:
    return json.loads(chrome(result))["traceEvents"]


def test_every_span_is_a_slice_in_microseconds(events: list[dict[str, Any]], result: Result) -> None:
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == len(result.spans)
    assert max(event["ts"] + event["dur"] for event in slices) == pytest.approx(
        1e6 * max(span.start + span.duration for span in result.spans)
    )


def test_slices_of_a_thread_never_overlap(events: list[dict[str, Any]]) -> None:
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((event["ts"], event["dur"]))
    assert len(threads) >= 16 * 3
    for slices in threads.values():
        assert all(
            start + duration <= following + 1e-3 for (start, duration), (following, _) in pairwise(sorted(slices))
        )


def test_every_process_and_thread_has_a_name(events: list[dict[str, Any]]) -> None:
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    assert named == {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
    processes = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert processes == {f"stage {stage}" for stage in range(16)}


@pytest.mark.parametrize("stream", STREAMS)
def test_the_name_of_a_track_says_its_place(stream: str) -> None:
    assert place(track(12, stream)) == (12, stream)
