"""The figures that people rank and draw: short names, which way is better, and how each is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from simulator.errors import ScenarioError
from simulator.io import readable
from simulator.studies.columns import COLUMNS

SHORT = {
    "step": "step_time_s",
    "time": "step_time_s",
    "tokens": "tokens_per_s",
    "memory": "peak_bytes",
    "headroom": "headroom_bytes",
    "days": "wall_clock_p50_s",
    "wall_clock": "wall_clock_p50_s",
    "ideal": "ideal_s",
    "goodput": "goodput_mean",
    "gpu_hours": "gpu_hours_p50",
    "dollars": "dollars_p50",
    "cost": "dollars_p50",
    "energy": "energy_j",
    "co2": "co2_kg",
}
LARGER_IS_BETTER = ("mfu", "hfu", "tokens", "tflops", "goodput", "headroom", "p_fits")
HEADS = {
    "step_time_s": "step",
    "step_time_low_s": "step P10",
    "step_time_high_s": "step P90",
    "tokens_per_s": "tokens/s",
    "tokens_per_s_per_gpu": "tok/s/GPU",
    "mfu": "MFU",
    "hfu": "HFU",
    "dropped_tokens": "dropped",
    "peak_bytes": "peak",
    "headroom_bytes": "headroom",
    "p_fits": "P(fits)",
    "ideal_s": "ideal",
    "wall_clock_mean_s": "days mean",
    "wall_clock_p10_s": "days P10",
    "wall_clock_p50_s": "days P50",
    "wall_clock_p90_s": "days P90",
    "goodput_mean": "goodput",
    "dollars_mean": "cost mean",
    "dollars_p10": "cost P10",
    "dollars_p50": "cost P50",
    "dollars_p90": "cost P90",
    "gpu_hours_p50": "GPU-hours",
    "energy_j": "energy",
    "co2_kg": "CO2",
}


def column(name: str) -> str:
    """Return the column that `name` means.

    >>> column("days"), column("mfu")
    ('wall_clock_p50_s', 'mfu')
    """
    known = {**{each: each for each in COLUMNS if each not in ("verdict", "reason", "progress")}, **SHORT}
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"some of them: {', '.join(SHORT)}"
    raise ScenarioError(f"--metric {name[:60]}: no such figure; {hint}")


def larger_is_better(name: str) -> bool:
    return name.startswith(LARGER_IS_BETTER)


def head(name: str) -> str:
    """Return what a table calls a column."""
    return HEADS.get(name, name.removesuffix("_s").removesuffix("_bytes").replace("_", " "))


def label(name: str) -> str:
    """Return what an axis of a drawing calls a column, without its unit."""
    words = {
        "step_time_s": "step time",
        "wall_clock_p50_s": "wall clock (P50)",
        "wall_clock_mean_s": "mean wall clock",
        "dollars_p50": "cost (P50)",
        "dollars_mean": "mean cost",
        "goodput_mean": "mean goodput",
        "dropped_tokens": "share of tokens dropped",
    }
    return words.get(name, head(name))


def text(name: str, value: Any) -> str:
    """Return a figure of the column `name` as one would say it.

    >>> text("step_time_s", 6.52), text("mfu", 0.404), text("dollars_p50", 4.2e6), text("peak_bytes", None)
    ('6.52 s', '40.4%', '$4.20M', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return _writer(name)(value)


def _writer(name: str) -> Callable[[Any], str]:
    if name.startswith("dollars"):
        return readable.dollars
    if name.startswith(("mfu", "hfu", "goodput", "p_fits", "dropped")):
        return readable.percent
    if name == "energy_j":
        return readable.energy
    if name == "co2_kg":
        return readable.mass
    if name.endswith("_bytes"):
        return readable.memory
    return readable.duration if name.endswith("_s") and not name.endswith("per_s") else readable.prefixed


def scale(name: str, values: Iterable[float | None]) -> tuple[float, str]:
    """Return the factor and the unit in which an axis shows these values.

    >>> scale("wall_clock_p50_s", [5e6, None]), scale("dollars_p50", [3e6])
    ((86400.0, 'days'), (1000000.0, '$M'))
    """
    largest = max((abs(value) for value in values if value is not None), default=1.0)
    if name.startswith("dollars"):
        return next(
            (size, unit)
            for size, unit in ((1e9, "$B"), (1e6, "$M"), (1e3, "$k"), (1.0, "$"))
            if largest >= size or size == 1.0
        )
    if _writer(name) is readable.percent:
        return 0.01, "%"
    if name.endswith("_bytes"):
        return 2.0**30, "GiB"
    if _writer(name) is readable.duration:
        sizes = ((86400.0, 2 * 86400.0, "days"), (3600.0, 7200.0, "h"), (60.0, 120.0, "min"), (1.0, 1.0, "s"))
        return next(((size, unit) for size, least, unit in sizes if largest >= least), (1e-3, "ms"))
    sizes_of_counts = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
    return next(((size, unit) for size, unit in sizes_of_counts if largest >= 10 * size), (1.0, ""))
