"""A measured roofline for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.readable import digits, duration, percent, prefixed, rate
from simulator.io.terminal import page, table
from simulator.lab.roofline import Roofline

if TYPE_CHECKING:
    from rich.console import Console


def write(measured: Roofline, sheet: tuple[float, float] | None = None, console: Console | None = None) -> Page:
    """Return kernels, roof and ridge; `sheet` is peak and bandwidth of the datasheet."""
    rows = [
        (
            point.kind,
            point.dtype,
            f"{point.size:,}",
            duration(point.seconds),
            prefixed(point.rate, "FLOP/s"),
            rate(point.bandwidth),
            digits(point.intensity),
        )
        for point in measured.points
    ]
    head = ("kernel", "dtype", "size", "time", "rate", "bandwidth", "FLOP/B")
    lines: list[Any] = [f"{measured.backend} on {measured.device}", "", table(head, rows), ""]
    lines += [f"peak       {dtype} {prefixed(peak, 'FLOP/s')}" for dtype, peak in measured.peak.items()]
    lines.append(f"bandwidth  {rate(measured.bandwidth)}")
    lines += [f"ridge      {dtype} {digits(measured.ridge(dtype))} FLOP/B" for dtype in measured.peak]
    if sheet is not None:
        peak, bandwidth = sheet
        best = max(measured.peak.values())
        lines.append(
            f"of the datasheet: {percent(best / peak)} of the peak, {percent(measured.bandwidth / bandwidth)} of memory"
        )
    return page(lines, console)


def record(measured: Roofline) -> dict[str, Any]:
    """Return the roofline as plain data."""
    return {
        "backend": measured.backend,
        "device": measured.device,
        "peak_flops": measured.peak,
        "bandwidth_bytes_per_s": measured.bandwidth,
        "ridge_flops_per_byte": {dtype: measured.ridge(dtype) for dtype in measured.peak},
        "points": [
            {
                "kind": point.kind,
                "dtype": point.dtype,
                "size": point.size,
                "flops": point.flops,
                "bytes": point.moved,
                "seconds": point.seconds,
            }
            for point in measured.points
        ],
    }
