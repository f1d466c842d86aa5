"""The experiments of the lab for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.readable import duration, percent, prefixed
from simulator.report import table

if TYPE_CHECKING:
    from rich.console import Console

SAME = 1e-6
"""Difference of gradients that float rounding explains."""


def study(rows: list[dict[str, Any]], console: Console | None = None) -> str:
    """Return the losses of a scaling study, a row a size and a column a number of tokens."""
    tokens = sorted({row["tokens"] for row in rows})
    sizes = sorted({row["params"] for row in rows})
    losses = {(row["params"], row["tokens"]): f"{row['loss']:.2f}" for row in rows}
    lines = [(prefixed(size), *(losses.get((size, seen), "") for seen in tokens)) for size in sizes]
    return table.write(("params", *(prefixed(seen) for seen in tokens)), lines, console)


def data_parallel(found: dict[str, Any], console: Console | None = None) -> str:
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
    return (
        "\n".join(
            [
                f"{found['ranks']} processes, {prefixed(found['parameters'])} parameters.",
                f"Averaged gradient and that of the whole batch are {same}:",
                f"they differ by {found['gradient_difference']:.1e} of the largest gradient.",
                "",
                table.write(("", "measured", "predicted", "error"), rows, console).rstrip("\n"),
                "",
                "Calibrated just now on this machine, all processes at once:",
                table.write(("from", "rows", "error before", "error after"), evidence, console).rstrip("\n"),
            ]
        )
        + "\n"
    )
