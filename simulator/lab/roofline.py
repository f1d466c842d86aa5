"""The roofline of this machine: matrix products by size, sums of vectors by size, and where the two meet.

A kernel of intensity I (FLOPs a byte moved) runs at most at min(peak, I x bandwidth); the ridge is the intensity at
which both bind (Williams, doi:10.1145/1498765.1498785). Peak and bandwidth are the best that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.lab.backend import WIDTH, Backend
from simulator.lab.stopwatch import seconds
from simulator.units import Bytes, BytesPerSecond, Count, Flops, FlopsPerSecond, Number, Seconds

SIZES = (32, 64, 128, 256, 512, 1024, 2048)
VECTORS = (1 << 14, 1 << 17, 1 << 20, 1 << 23, 1 << 25)
"""Elements, from what a cache holds to what it does not."""
LARGE: Bytes = 64e6
"""Bytes from which a sum is one of memory, not of caches."""


@dataclass(frozen=True)
class Point:
    """One measured kernel."""

    kind: str
    dtype: str
    size: Count
    flops: Flops
    moved: Bytes
    seconds: Seconds

    @property
    def rate(self) -> FlopsPerSecond:
        return self.flops / self.seconds

    @property
    def bandwidth(self) -> BytesPerSecond:
        return self.moved / self.seconds

    @property
    def intensity(self) -> Number:
        return self.flops / self.moved


@dataclass(frozen=True)
class Roofline:
    backend: str
    device: str
    points: tuple[Point, ...]

    @property
    def peak(self) -> dict[str, FlopsPerSecond]:
        """Best matrix product by precision."""
        found: dict[str, float] = {}
        for point in self.points:
            if point.kind == "product":
                found[point.dtype] = max(found.get(point.dtype, 0.0), point.rate)
        return found

    @property
    def bandwidth(self) -> BytesPerSecond:
        """Best sum of vectors that no cache holds."""
        return max(point.bandwidth for point in self.points if point.kind == "sum" and point.moved >= LARGE)

    def ridge(self, dtype: str) -> Number:
        """Return the intensity at which memory and arithmetic take as long."""
        return self.peak[dtype] / self.bandwidth

    def attainable(self, intensity: Number, dtype: str) -> FlopsPerSecond:
        """Return the most that a kernel of this intensity can do."""
        return min(self.peak[dtype], intensity * self.bandwidth)


def measure(backend: Backend, *, largest: Count = SIZES[-1]) -> Roofline:
    """Return the roofline of this machine; takes some seconds."""
    points = [
        product(backend, size, size, size, dtype) for dtype in backend.dtypes for size in SIZES if size <= largest
    ]
    points += [_sum(backend, elements, backend.dtypes[0]) for elements in VECTORS]
    return Roofline(backend.name, backend.device, tuple(points))


def product(backend: Backend, m: Count, n: Count, k: Count, dtype: str) -> Point:
    """Return a measured matrix product."""
    time = seconds(backend.product(m, n, k, dtype))
    moved = WIDTH[dtype] * (m * k + k * n + m * n)
    return Point("product", dtype, round((m * n * k) ** (1 / 3)), 2.0 * m * n * k, moved, time)


def _sum(backend: Backend, elements: Count, dtype: str) -> Point:
    time = seconds(backend.add(elements, dtype))
    return Point("sum", dtype, elements, float(elements), 3.0 * WIDTH[dtype] * elements, time)
