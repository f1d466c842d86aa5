"""Measures the roofline of this machine and tells it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.cli._streams import show, terminal, working
from simulator.io.writing import write

QUICK = 256
"""Largest product of a quick look."""


def measure(
    *,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
    gpu: str | None = None,
    catalogs: Sequence[Path] = (),
    with_backend: str = "auto",
    quick: bool = False,
) -> None:
    """Print rates by size; write the machine as YAML to `out` and the drawing to `plot`."""
    import yaml

    from simulator.io.printable import json_text
    from simulator.lab import machine, roofline
    from simulator.lab.backends import backend
    from simulator.plots import canvas
    from simulator.plots import roofline as drawing
    from simulator.report import roofline as report

    if plot is not None:
        canvas.check(plot)
    sheet = _sheet(gpu, catalogs)
    chosen = backend(with_backend)
    with working(f"Measuring with {chosen.name}"):
        found = roofline.measure(chosen, largest=QUICK if quick else roofline.SIZES[-1])
    show(json_text(report.record(found)) if as_json else report.write(found, sheet, terminal()))
    if out is not None:
        head = "# This machine as `foretrain calibrate --measure` found it; a scenario takes it as cluster.host.gpu.\n"
        write(out, head + yaml.safe_dump(machine.described(found), sort_keys=False))
    if plot is not None:
        canvas.save(lambda axes: drawing.draw(found, sheet, axes), plot)


def _sheet(gpu: str | None, catalogs: Sequence[Path]) -> tuple[float, float] | None:
    """Return peak and memory bandwidth of the datasheet of a GPU of the catalog."""
    if gpu is None:
        return None
    from simulator import catalog
    from simulator.machine import hardware

    known = hardware.gpu(catalog.canonical("gpu", gpu, catalogs), catalogs)
    return known.peak_of("bf16"), known.memory_bandwidth
