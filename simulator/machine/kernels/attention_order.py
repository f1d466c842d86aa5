"""When the last multiprocessor is done, by the order in which a kernel deals its blocks.

Equal blocks fill one wave after another. Blocks of a causal mask differ in length, and kernels deal them differently:

- A fixed order, longest first (trtllm-gen). The first multiprocessor gets the longest row, then every
  ``multiprocessors / columns``-th shorter one. It finishes last.
- Sections (flash-attention, hopper/tile_scheduler.hpp). A section is the heads whose keys fit in the second-level cache
  together, or one packed sequence. A free multiprocessor takes the longest block left of the section. So the longest
  block of the last section starts when all earlier sections are dealt, which is ``even / sections`` before the end or
  sooner by what blocks under way have left: for a triangle a third of the longest (mean square over twice the mean).
  `order` is the rest, about two thirds.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from simulator.machine.kernels.attention_grid import Grid
from simulator.units import Count, Number, Seconds, Share


class Deal(NamedTuple):
    """Blocks to be dealt."""

    waves: Number
    """Blocks per multiprocessor."""
    even: Seconds
    """Work of a multiprocessor if all had the same."""
    one: Seconds
    """The longest block on its own."""
    first: Seconds
    """Work of the first multiprocessor in a fixed order."""
    triangle: Share
    """Share of rows that differ."""
    sections: Number
    """Sections dealt one after the other; 0 for a fixed order."""


def core(deal: Deal, overlap: Number, order: Number) -> Seconds:
    """Return the time until all blocks are done; `overlap` and `order` are those of `FlashConstants`."""
    triangle = deal.triangle
    seconds = _triangle(deal, overlap, order) * triangle if triangle else 0.0
    return seconds + _alike(deal, overlap, order) * (1 - triangle) if triangle < 1 else seconds


def _alike(deal: Deal, overlap: Number, order: Number) -> Seconds:
    left = ceil(deal.waves) - deal.waves if deal.waves > 1 else 0.0
    return _joined(deal.even, deal.one, overlap) + order * left * deal.one


def _triangle(deal: Deal, overlap: Number, order: Number) -> Seconds:
    if deal.sections:
        late = max(0.0, order * deal.one - deal.even / deal.sections)
        return _joined(deal.even + late, deal.one, overlap)
    if deal.waves <= 1:
        return max(deal.one, deal.even)
    return max(deal.one, order * deal.first + (1 - order) * _joined(deal.even, deal.one, overlap))


def first(grid: Grid, sms: Count, step: Seconds, start: Seconds) -> Seconds:
    """Return the work of the multiprocessor that gets the longest block of every wave."""
    waves = ceil(grid.blocks / sms)
    shorter = grid.slope * sms / grid.columns
    return step * (waves * grid.longest - shorter * waves * (waves - 1) / 2) + waves * start


def _joined(one: Seconds, other: Seconds, exponent: Number) -> Seconds:
    low, high = (one, other) if one < other else (other, one)
    return high * float((1 + (low / high) ** exponent) ** (1 / exponent))
