"""A comparison for a terminal: the ratios in a line, the inputs that differ, the figures side by side, and why."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.io.printable import Page, printable, shortened
from simulator.io.readable import chance, dollars, percent, prefixed
from simulator.io.terminal import page, table
from simulator.studies.breakeven import Even
from simulator.studies.compare import ELSE, Difference, Factor
from simulator.studies.metrics import head, text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

FIGURES = {"step time": "step", "days": "days", "dollars": "cost"}
METRICS = (
    "step_time_s",
    "step_time_low_s",
    "step_time_high_s",
    "mfu",
    "dropped_tokens",
    "tokens_per_s_per_gpu",
    "headroom_bytes",
    "p_fits",
    "wall_clock_p10_s",
    "wall_clock_p50_s",
    "wall_clock_p90_s",
    "goodput_mean",
    "gpu_hours_p50",
    "dollars_p10",
    "dollars_p50",
    "dollars_p90",
    "energy_j",
)
MOST_DIFFERENCES = 24
LONGEST = 24
"""Letters of a value of the input."""
WRITERS: Mapping[str, Callable[[float], str]] = {
    "tokens a step": prefixed,
    "tokens of the run": prefixed,
    "FLOPs a token": lambda value: prefixed(value, "FLOP"),
    "GPUs": lambda value: f"{round(1 / value):,}",
    "GPUs rented": lambda value: f"{round(value):,}",
    "peak FLOP/s": lambda value: prefixed(1 / value, "FLOP/s"),
    "kernel efficiency": lambda value: percent(1 / value),
    "price of a GPU-hour": lambda value: dollars(3600 * value),
    "steps": prefixed,
    ELSE: lambda value: "",
    "measured step": lambda value: text("step_time_s", value),
    "the step": lambda value: text("step_time_s", value),
}


def write(
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    differing: Sequence[Difference],
    ratios: Mapping[str, Sequence[tuple[float, Sequence[Factor]]]],
    sure: Mapping[str, Sequence[float | None]] | None = None,
    solved: Even | None = None,
    figure: str = "",
    console: Console | None = None,
) -> Page:
    """Return the comparison; `ratios` holds for each figure the ratio of each further scenario to the first and why.

    `sure` holds for each figure the chance that each further scenario takes less than the first.
    """
    letters = [chr(ord("A") + index) for index in range(len(names))]
    blocks: list[Any] = [
        f"{letter}  {shortened(printable(name), 76)}" for letter, name in zip(letters, names, strict=True)
    ]
    blocks += ["", *_answers(letters, ratios, sure or {})]
    if solved is not None:
        blocks += ["", *textwrap.wrap(even(solved, figure, letters[-1]), 79)]
    blocks += ["", "Inputs that differ", *_inputs(letters, differing)]
    blocks += ["", "Side by side", _figures(letters, rows)]
    if len(names) == 2 and ratios:
        blocks += ["", f"Why: factors of {letters[1]} over {letters[0]}, which multiply to the ratio"]
        blocks.append(_why({name: found[0] for name, found in ratios.items()}, letters))
    elif ratios:
        for name, found in ratios.items():
            blocks += ["", f"Why: factors of {name}, which multiply to the ratio", _each(found, letters)]
    return page(blocks, console)


def even(solved: Even, figure: str, letter: str) -> str:
    """Return at which value two options are equal.

    >>> even(Even("prices.gpu_hour", "$3.12", 1.25, "$2.50"), "dollars", "B")
    'Equal dollars with prices.gpu_hour $3.12 in B, 1.25 times the $2.50 it has now.'
    """
    said = f"Equal {figure} with {solved.key} {solved.value} in {letter}"
    return f"{said}, {solved.times:.3g} times the {solved.now} it has now."


def _answers(
    letters: Sequence[str],
    ratios: Mapping[str, Sequence[tuple[float, Sequence[Factor]]]],
    sure: Mapping[str, Sequence[float | None]],
) -> list[str]:
    """Return for each scenario what it takes of the first one's time and money, and the largest reasons."""
    lines = []
    for place, letter in enumerate(letters[1:]):
        parts = [f"{FIGURES[name]} x{found[place][0]:.3g}" for name, found in ratios.items()]
        said = f"{letter} over {letters[0]}: {', '.join(parts)}" if parts else f"{letter}: nothing to divide"
        main = next(iter(ratios.values()), ())
        whys = sorted(main[place][1] if main else (), key=lambda factor: -abs(_log(factor.ratio)))[:3]
        told = [f"{factor.name} x{factor.ratio:.3g}" for factor in whys if factor.name != ELSE]
        said += f". Step: {', '.join(told)}." if told else "."
        said += _chances(letter, letters[0], {name: found[place] for name, found in sure.items()})
        lines += textwrap.wrap(said, 79, subsequent_indent="  ")
    return lines


def _chances(letter: str, first: str, sure: Mapping[str, float | None]) -> str:
    """Return how surely a scenario takes less than the first.

    >>> _chances("B", "A", {"step time": None, "days": 0.73, "dollars": 0.004})
    ' B takes less than A with: days 73%, cost < 1%.'
    """
    told = [f"{FIGURES[name]} {chance(p)}" for name, p in sure.items() if p is not None]
    return f" {letter} takes less than {first} with: {', '.join(told)}." if told else ""


def _log(ratio: float) -> float:
    from math import log

    return log(ratio) if ratio > 0 else 0.0


def _inputs(letters: Sequence[str], differing: Sequence[Difference]) -> list[Any]:
    if not differing:
        return ["none; the scenarios say the same"]
    lines = [[shortened(one.key, 36), *(shortened(value, LONGEST) for value in one.values)] for one in differing]
    blocks: list[Any] = [table(["", *letters], lines[:MOST_DIFFERENCES])]
    if len(lines) > MOST_DIFFERENCES:
        blocks.append(f"... and {len(lines) - MOST_DIFFERENCES} more keys; --json has them all")
    return blocks


def _figures(letters: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Table:
    # Without a model nobody has to say how many tokens a step has.
    measured = any(row.get("mfu") is None for row in rows)
    wanted = [metric for metric in METRICS if not (measured and metric.startswith("tokens"))]
    shown = [metric for metric in wanted if any(row.get(metric) is not None for row in rows)]
    if not any(row.get("dropped_tokens") for row in rows):
        shown = [metric for metric in shown if metric != "dropped_tokens"]
    lines = [[head(metric), *(text(metric, row.get(metric)) for row in rows)] for metric in shown]
    lines.insert(0, ["verdict", *(row["verdict"] or "" for row in rows)])
    return table(["", *letters], lines)


def _why(ratios: Mapping[str, tuple[float, Sequence[Factor]]], letters: Sequence[str]) -> Table:
    """Return what each cause is in two scenarios, and its factor in every figure that it has a part in."""
    causes = {why.name: why for _, whys in ratios.values() for why in whys}
    each = {name: {why.name: f"{why.ratio:.3f}" for why in whys} for name, (_, whys) in ratios.items()}
    lines = [
        [name, _value(why, why.first), _value(why, why.second), *(found.get(name, "") for found in each.values())]
        for name, why in sorted(causes.items(), key=lambda pair: pair[0] == ELSE)
    ]
    lines.append(["ratio", "", "", *(f"{ratio:.3f}" for ratio, _ in ratios.values())])
    return table(["", *letters, *(FIGURES[name] for name in ratios)], lines)


def _each(found: Sequence[tuple[float, Sequence[Factor]]], letters: Sequence[str]) -> Table:
    """Return the factors of one figure of several scenarios over the first."""
    causes = dict.fromkeys(why.name for _, whys in found for why in whys)
    each = [{why.name: f"{why.ratio:.3f}" for why in whys} for _, whys in found]
    lines = [[name, *(one.get(name, "") for one in each)] for name in sorted(causes, key=ELSE.__eq__)]
    lines.append(["ratio", *(f"{ratio:.3f}" for ratio, _ in found)])
    return table(["", *(f"{letter}/{letters[0]}" for letter in letters[1:])], lines)


def _value(factor: Factor, value: float) -> str:
    """Return a cause in its own words: a share, a price, or by how much it lengthens what comes before."""
    if factor.name in WRITERS:
        return WRITERS[factor.name](value)
    return f"+{percent(value - 1)}" if 1 <= value < 4 else f"x{value:.3g}"
