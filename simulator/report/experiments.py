"""The experiments of the lab for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page
from simulator.io.readable import duration, percent, prefixed
from simulator.io.terminal import page, table

if TYPE_CHECKING:
    from rich.console import Console

SAME = 1e-6
"""Difference of gradients that float rounding explains."""


def study(rows: list[dict[str, Any]], console: Console | None = None) -> Page:
    """Return the losses of a scaling study, a row a size and a column a number of tokens."""
    tokens = sorted({row["tokens"] for row in rows})
    sizes = sorted({row["params"] for row in rows})
    losses = {(row["params"], row["tokens"]): f"{row['loss']:.2f}" for row in rows}
    lines = [(prefixed(size), *(losses.get((size, seen), "") for seen in tokens)) for size in sizes]
    return page([table(("params", *(prefixed(seen) for seen in tokens)), lines)], console)


def data_parallel(found: dict[str, Any], console: Console | None = None) -> Page:
    """Return whether gradients agree, and measured against predicted times."""
    same = "the same to float rounding" if found["gradient_difference"] <= SAME else "NOT the same"
    rows = [
        (
            name,
            duration(found[f"measured_{key}_s"]),
            duration(found[f"predicted_{key}_s"]),
            percent(found[f"predicted_{key}_s"] / found[f"measured_{key}_s"] - 1),
        )
        for name, key in (("step", "step"), ("all-reduce", "all_reduce"))
    ]
    evidence = [
        (one["source"], f"{one['rows']}", percent(one["before"]), percent(one["after"])) for one in found["evidence"]
    ]
    blocks: list[Any] = [
        f"{found['ranks']} processes, {prefixed(found['parameters'])} parameters.",
        f"Averaged gradient and that of the whole batch are {same}:",
        f"they differ by {found['gradient_difference']:.1e} of the largest gradient.",
        "",
        table(("", "measured", "predicted", "error"), rows),
        "",
        "Calibrated just now on this machine, all processes at once:",
        table(("from", "rows", "error before", "error after"), evidence),
    ]
    return page(blocks, console)
