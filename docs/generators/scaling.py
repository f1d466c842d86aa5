"""The figure of scaling: efficiency of one model from 8 to 131,072 GPUs, beside runs that were published.

Weak scaling: the batch grows with the GPUs. Efficiency is the step of one host over that of so many GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simulator as ft
from simulator.cli.validate import Predict
from simulator.plots import colours
from simulator.plots.canvas import drawn
from simulator.units import Number, Seconds, Share
from simulator.validation import files, predict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GPUS = tuple(8 * 4**power for power in range(8))
REPLICA = 64
"""GPUs that share one copy of the weights in the predicted hybrid."""
FAMILY = "ievo"
PUBLISHED = {"all GPUs": range(1, 9), "the GPUs of a host": range(9, 17)}
"""Rows of the family that shard over so many GPUs; the same batch a GPU, two sequences a microbatch."""
Curve = Mapping[int, Number]


def scenario(gpus: int, replicas: int) -> dict[str, Any]:
    """Return Llama 3.1 8B on H100 hosts, one sequence of 8,192 tokens a GPU, as YAML would say it."""
    return {
        "model": "llama-3.1-8b",
        "cluster": {"host": "hgx-h100", "hosts": gpus // 8},
        "stack": "torchtitan-2025",
        "parallelism": {"shard": {"level": "parameters", "replicas": replicas}},
        "training": {
            "sequence_length": 8192,
            "global_batch": gpus,
            "microbatch": 1,
            "steps": 1000,
            "recompute": "full",
        },
    }


def predicted(hybrid: bool) -> Curve:
    """Return the efficiency of FSDP, or of HSDP with replicas of `REPLICA` GPUs, by GPUs."""
    times = {}
    for gpus in GPUS:
        replicas = max(gpus // REPLICA, 1) if hybrid else 1
        times[gpus] = ft.predict(scenario(gpus, replicas)).step_time_s
    return efficiency(times)


def published() -> dict[str, tuple[Curve, Curve]]:
    """Return measured and predicted efficiency by GPUs, for each group that shares the state of the optimizer."""
    tables = [files.read(path) for path in files.shipped()]
    rows = {row.text("id"): row for one in tables if one.suite.kind == "runs" for row in one.rows}
    predictor, found = Predict(), {}
    for name, numbers in PUBLISHED.items():
        members = [rows[f"{FAMILY}-{number:03d}"] for number in numbers]
        measured = {int(row.text("gpus")): predict.step_time(row) or 0.0 for row in members}
        expected = {int(row.text("gpus")): predict.predict(row, predictor)[1].step_time_s for row in members}
        found[name] = efficiency(measured), efficiency(expected)
    return found


def efficiency(times: Mapping[int, Seconds]) -> dict[int, Share]:
    """Return the step of the fewest GPUs over that of so many."""
    return {gpus: times[min(times)] / seconds for gpus, seconds in sorted(times.items())}


def draw(folder: Path) -> None:
    """Draw the figure as `scaling.svg` into `folder`."""
    (folder / "scaling.svg").write_bytes(drawn(figure, "scaling.svg"))


def figure(drawing: Axes) -> None:
    """Draw predictions as lines and what was measured as points."""
    ours = {"FSDP over all GPUs": (False, colours.VERMILLION), f"HSDP, {REPLICA} GPUs a copy": (True, colours.BLUE)}
    for name, (hybrid, colour) in ours.items():
        curve = predicted(hybrid)
        drawing.plot(list(curve), list(curve.values()), color=colour, label=f"Llama 3.1 8B on H100: {name}")
    marks = {"all GPUs": ("s", colours.ORANGE), "the GPUs of a host": ("o", colours.GREEN)}
    for name, (measured, expected) in published().items():
        mark, colour = marks[name]
        drawing.plot(list(expected), list(expected.values()), color=colour, linestyle="--")
        label = f"InternLM 7B on A100: optimizer over {name}, published (dashed: predicted)"
        drawing.plot(list(measured), list(measured.values()), mark, color=colour, label=label)
    drawing.set_xscale("log", base=2)
    drawing.set_xticks(GPUS, [f"{gpus:,}" for gpus in GPUS])
    drawing.minorticks_off()
    drawing.set_ylim(0, 1.05)
    drawing.set_xlabel("GPUs")
    drawing.set_ylabel("tokens/s a GPU, over those of 8 GPUs")
    drawing.grid(axis="y")
    drawing.legend(loc="lower left")
    drawing.set_title("Weak scaling: the batch grows with the GPUs")
