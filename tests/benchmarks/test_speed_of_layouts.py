"""How fast layouts are ranked, on one processor: end to end with memory, and whatever the number of GPUs.

Run with ``pytest -m benchmark tests/benchmarks -s``; processor time, so that a busy machine says the same.
"""

from __future__ import annotations

import sys
from time import process_time

import pytest

from simulator.studies import best, layouts
from simulator.studies.point import Base
from simulator.studies.space import Space

GPT_3 = """\
version: 1
model: gpt-3-175b
cluster: {{host: dgx-a100, hosts: {hosts}}}
stack: megatron-2021
training: {{tokens: 300B, sequence_length: 2048, global_batch: {batch}, microbatch: 1}}
search: {search}
runs: 1
"""


def ranked(text: str) -> tuple[int, float]:
    """Return how many layouts a scenario has, and the processor time that ranking them takes."""
    base = Base("benchmark", text)
    start, began = base.read(), process_time()
    groups = layouts.groups(base, Space(start).layouts())
    rows = [row for group in groups for row in layouts.evaluate(group)["layouts"]]
    best.time_exactly(start, rows, [layout for group in groups for layout in group.layouts])
    return len(rows), process_time() - began


@pytest.mark.benchmark
def test_gpt_3_on_512_gpus_is_ranked_at_500_layouts_a_second() -> None:
    count, seconds = ranked(GPT_3.format(hosts=64, batch=1536, search="{context: [1]}"))
    sys.stdout.write(f"\n{count:,} layouts in {seconds:.1f} s: {count / seconds:.0f}/s a processor\n")
    assert count > 4000
    assert count / seconds > 400


@pytest.mark.benchmark
def test_all_axes_take_less_than_90_seconds_on_two_processors() -> None:
    search = "{context: [1, 2, 4, 8], schedule: [1f1b, gpipe, interleaved-1f1b, zb-h1, zb-h2, zb-v, dualpipe]}"
    count, seconds = ranked(GPT_3.format(hosts=64, batch=1536, search=search))
    sys.stdout.write(f"\n{count:,} layouts in {seconds:.1f} s: {count / seconds:.0f}/s a processor\n")
    assert count > 40_000
    assert seconds / 2 < 90


@pytest.mark.benchmark
def test_the_cost_of_a_layout_does_not_grow_with_the_cluster() -> None:
    each = {}
    for hosts in (64, 16384):
        search = "{context: [1], pipeline: [4, 8, 16, 32]}"
        count, seconds = ranked(GPT_3.format(hosts=hosts, batch=3 * hosts * 8, search=search))
        each[hosts] = seconds / count
        sys.stdout.write(f"\n{hosts * 8:,} GPUs: {count:,} layouts, {1e3 * each[hosts]:.2f} ms each\n")
    assert each[16384] < 2 * each[64]
