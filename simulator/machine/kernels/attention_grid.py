"""How a fused attention kernel cuts its work: blocks of queries, and the steps of 64 keys that each of them walks.

Forward, blocks of queries walk over keys; backward, blocks of keys walk over queries, which is the same triangle seen
from the other side. Under a causal mask the i-th block walks ``base + slope i`` steps, under a window no more than the
window's: an arithmetic progression with a ceiling, so that its sum needs no loop.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from simulator.units import Count, Number, Share

STEP = 64
"""Keys in a step. Kernels take 64 to 176 at once, by head size; constants are those of 64."""


class Grid(NamedTuple):
    """The blocks of one kernel."""

    columns: Count
    """Heads times sequences: blocks that walk the same number of steps."""
    rows: Count
    """Blocks of one head and sequence."""
    longest: Number
    """Steps of the longest block."""
    steps: Number
    """Steps of the blocks of one head and sequence together."""
    slope: Number
    """Steps by which a row of the triangle is shorter than the next longer one."""
    triangle: Share
    """Share of the rows in the triangle of a causal mask, its last row included, which the sequence's end may cut; the
    others are alike."""
    block: Count
    """Queries, or keys backward, in a block."""

    @property
    def blocks(self) -> Count:
        """All blocks of the kernel."""
        return self.columns * self.rows


def forward(
    columns: Count, queries: Count, keys: Count, block: Count, *, causal: bool, window: int | None, packed: Count = 1
) -> Grid:
    """Return the grid of a forward.

    `packed` query heads of a key head share a block, which then has as many times fewer positions of the sequence;
    `columns` are those of key heads then.
    """
    rows, slope = ceil(queries * packed / block), block / packed / STEP
    base = max(0, keys - queries) / STEP if causal else None
    return _grid(columns, rows, keys, slope, base, block, window if window is not None and window < keys else None)


def backward(columns: Count, queries: Count, keys: Count, block: Count, *, causal: bool, window: int | None) -> Grid:
    """Return the grid of a backward, whose blocks of keys walk over the queries that see them."""
    base = 0.0 if causal else None
    return _grid(
        columns, ceil(keys / block), queries, block / STEP, base, block,
        window if window is not None and window < keys else None,
    )  # fmt: skip


def _grid(
    columns: Count, rows: Count, walked: Count, slope: Number, base: Number | None, block: Count, window: int | None
) -> Grid:
    """Return the grid of `rows` that walk over at most `walked` positions; without a `base` all walk the same."""
    ceiling: Number = ceil(walked / STEP)
    if window is not None:
        ceiling = min(ceiling, window / STEP + slope)
    if base is None:
        return Grid(columns, rows, ceiling, rows * ceiling, 0.0, 0.0, block)
    # Steps are whole: the i-th row walks ceil(base + slope i), which is more by half of what a step leaves in the mean.
    base = ceil(base) + (0.0 if slope == int(slope) else max(0.25, (1 - slope) / 2))
    rising = min(rows, max(0, int((ceiling - base) / slope)))
    steps = rising * base + slope * rising * (rising + 1) / 2 + (rows - rising) * ceiling
    longest = min(ceiling, base + slope * rows)
    return Grid(columns, rows, longest, steps, slope, min(1.0, (rising + 1) / rows), block)
