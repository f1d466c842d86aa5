"""Where the ranks of an axis lie in a torus of chips: the box that a group fills, and which of its sides close.

A slice is the box nearest to a cube that holds its chips. An axis takes whole sides of it where their lengths multiply
to its size, as many as possible, and the axis whose ranks are neighbours chooses first (`mesh_utils` of JAX,
``_create_device_mesh_for_nd_torus``). A side closes to a ring where the machine has a cable from its end to its
beginning: a side of 16 on a TPU v5e, and any multiple of 4 on a TPU v5p, whose cubes of 4 x 4 x 4 chips are joined by
optical switches, so that a slice smaller than a cube closes nowhere (jax-ml/scaling-book@0819a7d, ``tpus.md``). Part of
a side never closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

from simulator.units import Count, Number


class Side(NamedTuple):
    """One side of the box that a group fills."""

    length: Count
    closes: bool

    @property
    def links(self) -> Count:
        """Links of a chip that a ring along this side keeps busy.

        On a line the part that the first chip needs of the last crosses each cable in one direction only, so that one
        of the two links of a chip sets the time.
        """
        return 0 if self.length < 2 else 2 if self.closes else 1

    @property
    def hops(self) -> Count:
        """Cables between the two chips that are furthest apart."""
        return self.length // 2 if self.closes else self.length - 1

    @property
    def exchanged(self) -> Number:
        """Buffers of one chip that cross the busiest cable when every chip sends an equal part to every other.

        Half of the chips send half of their buffers across the middle, which a ring has two cables for each way.
        """
        return self.length / (8 if self.closes else 4)


Sides = tuple[Side, ...]


def box(chips: Count, dimensions: Count) -> tuple[Count, ...]:
    """Return the sides of the most cubic box of so many chips.

    >>> box(32, 3), box(2048, 3), box(128, 2)
    ((2, 4, 4), (8, 16, 16), (8, 16))
    """
    found, left = [], chips
    for remaining in range(dimensions, 1, -1):
        nearest = max(1, round(left ** (1 / remaining)))
        side = next(d for d in range(nearest, 0, -1) if left % d == 0)
        found.append(side)
        left //= side
    return tuple(sorted((*found, left)))


def sides(size: Count, stride: Count, shape: Sequence[Count], wraps: Count, *, cubes: bool = False) -> Sides:
    """Return the box that `size` ranks `stride` apart fill in a slice, whose sides close at multiples of `wraps`.

    Where the slice is made of `cubes`, none closes unless all are such multiples.

    >>> sides(16, 1, (16, 16), 16), sides(16, 16, (16, 16), 16)
    ((Side(length=16, closes=True),), (Side(length=16, closes=True),))
    >>> sides(4, 1, (16, 16), 16)
    (Side(length=4, closes=False),)
    """
    if cubes and any(length % wraps for length in shape):
        wraps = prod(shape) + 1
    _, free = _taken(stride, shape, wraps)
    return _taken(size, free, wraps)[0]


def _taken(size: Count, free: Sequence[Count], wraps: Count) -> tuple[Sides, tuple[Count, ...]]:
    """Return the sides that an axis takes of those that are free, and what is free after it."""
    if size == 1:
        return (), tuple(free)
    for count in range(len(free), 0, -1):
        for places in combinations(range(len(free)), count):
            if prod(free[place] for place in places) == size:
                taken = tuple(Side(free[place], free[place] % wraps == 0) for place in places if free[place] > 1)
                return taken, tuple(length for place, length in enumerate(free) if place not in places)
    for place, length in enumerate(free):
        if length % size == 0:
            left = (*free[:place], length // size, *free[place + 1 :])
            return (Side(size, closes=False),), left
    part = tuple(Side(length, closes=False) for length in box(size, max(1, len(free))) if length > 1)
    return part, box(max(1, prod(free) // size), max(1, len(free)))
