"""The figures as text: 80 columns, one table a quantity, and what could not be expressed below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from simulator.io.printable import Page
from simulator.io.terminal import page, words
from simulator.validation.scores import Errors, Fit
from simulator.validation.spread import Spread
from simulator.validation.summary import SMALLEST_CELL, SMALLEST_FAMILY, SMALLEST_GROUP, Quantity, Summary

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_REASONS = 15
NAMES = {
    "step_time_s": "step time",
    "mem_gb": "peak memory",
    "time_us": "kernel time",
    "tflops": "rate",
    "achieved_gbs": "bandwidth",
    "busbw_gbs": "bus bandwidth",
    "case": "expected values",
}


def write(summary: Summary) -> Page:
    """Return all tables of `summary`."""
    return Page(page(_blocks(summary)).lstrip("\n"))


def _blocks(summary: Summary) -> Iterator[RenderableType]:
    for quantity in summary.quantities:
        if quantity.rows:
            yield from _quantity(quantity, summary)
    if summary.goals:
        yield "\nCOLLECTIVES: mean error of time beside what it is meant to be at most"
        yield _goals(summary)
    if summary.spread:
        yield phrased(summary.spread)
    if summary.fits:
        yield "\nOUT OF MEMORY: the probability predicted, against what happened"
        yield _fits(summary)
    if summary.mfu:
        pairs = ", ".join(f"{name} {mfu:.1%}" for name, mfu in summary.mfu.items())
        yield f"\nOne constant MFU: the median of these families by GPU generation ({pairs})."
    yield f"\n{summary.expressed:,} of {summary.rows:,} rows predicted."
    if summary.reasons:
        yield "Not predicted, with the reason:"
        yield _grid((6, 0), "rl", [(f"{count:,}", reason) for reason, count in _most(summary.reasons)])


def _quantity(quantity: Quantity, summary: Summary) -> Iterator[RenderableType]:
    known = quantity.total.count if quantity.total else 0
    name = NAMES.get(quantity.name, quantity.name)
    yield f"\n{quantity.suite.upper()}: {name}, {known:,} of {quantity.rows:,} scored rows predicted"
    if quantity.total is None:
        return
    rival = quantity.baseline
    head = ["family", "n", "median", "MAPE", "P90", "bias", *(["one MFU: median", "P90"] if rival else [])]
    rows = [[family, *_figures(errors), *_rival(rival.get(family))] for family, errors in quantity.families.items()]
    rows.append(["all", *_figures(quantity.total), *_rival(rival.get(""))])
    if means := quantity.means:
        least = SMALLEST_FAMILY.get(quantity.suite, SMALLEST_CELL)
        rows.append([f"mean of families >= {least}", *_mean(means)])
        rows += [[f"  {name}", *_mean(figures)] for name, figures in quantity.size_means.items()]
    rows += [[name, *_figures(errors)] for name, errors in quantity.sizes.items()]
    rows = [[*row, *[""] * (len(head) - len(row))] for row in rows]
    yield _grid((28 if rival else 36, *[7] * 5, *([9, 7] if rival else [])), "l" + "r" * (len(head) - 1), rows, head)
    if rankings := list(quantity.groups.values()):
        rho = [ranking.spearman for ranking in rankings]
        regret, top3 = ([getattr(ranking, key) for ranking in rankings] for key in ("regret", "top3"))
        yield (
            f"Ranking layouts, {len(rankings)} groups of at least {SMALLEST_GROUP}, ties against us: Spearman median "
            f"{np.median(rho):.2f}, lowest {min(rho):.2f}; the predicted best is slower than the best by "
            f"{_percent(float(np.median(regret)))} in the median, {_percent(float(np.mean(regret)))} on average; "
            f"the best of the predicted three by {_percent(float(np.median(top3)))}."
        )
    if coverage := quantity.coverage:
        yield (
            f"Ranges hold {_percent(coverage.share)} of {coverage.count:,} measurements; "
            f"median width {_percent(coverage.width)}."
        )
    if quantity.coverages:
        each = [
            (name, f"{one.count:,}", _percent(one.share), _percent(one.width))
            for name, one in quantity.coverages.items()
        ]
        yield _grid((28, 7, 7, 7), "lrrr", each, ["class of run", "n", "held", "width"])


def _fits(summary: Summary) -> RenderableType:
    head = ["family", "n", "oom", "right", "found", "tight", "right when sure", "Brier"]
    families = sorted(summary.fits.items(), key=lambda item: (not item[0], item[0]))
    return _grid((28, 6, 6, 7, 7, 7, 8, 7), "lrrrrrrr", [[name or "all", *_fit(fit)] for name, fit in families], head)


def _goals(summary: Summary) -> RenderableType:
    rows = [
        [goal.name, f"{goal.errors.count:,}", _percent(goal.errors.mape), _percent(goal.limit)]
        for goal in summary.goals
    ]
    return _grid((36, 7, 7, 7), "lrrr", rows, ["", "n", "MAPE", "goal"])


def phrased(spread: Spread) -> str:
    """Return how far sources are apart, as a sentence."""
    widest = "; ".join(
        f"{one.name}: {', '.join(f'{rate / 1e9:.0f}' for rate in one.rates)} GB/s" for one in spread.widest
    )
    return (
        f"Sources of the same setting inside a host, 32 MiB and above: the highest of {spread.settings} is "
        f"{_percent(spread.median)} above the lowest in the median, and they differ from their own median by "
        f"{_percent(spread.mape)} in the mean ({widest})."
    )


def _figures(errors: Errors) -> list[str]:
    return [
        f"{errors.count:,}",
        *(_percent(value) for value in (errors.median, errors.mape, errors.p90)),
        _signed(errors.bias),
    ]


def _most(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most frequent reasons, and how many rows have another."""
    listed, rest = list(reasons.items())[:MOST_REASONS], list(reasons.values())[MOST_REASONS:]
    return [*listed, *([("another reason each; --csv has them in its notes", sum(rest))] if rest else [])]


def _mean(means: Mapping[str, float]) -> list[str]:
    return [f"{means['families']:.0f}", *(_percent(means[key]) for key in ("median", "mape", "p90"))]


def _rival(errors: Errors | None) -> list[str]:
    return [_percent(errors.median), _percent(errors.p90)] if errors else []


def _fit(fit: Fit) -> list[str]:
    shares = (fit.accuracy, fit.recall, fit.tight, fit.accuracy_outside_tight)
    return [f"{fit.count:,}", f"{fit.out_of_memory:,}", *map(_percent, shares), f"{fit.brier:.3f}"]


def _percent(share: float) -> str:
    return f"{share:.1%}" if abs(share) < 10 else f"{share:.0%}"


def _signed(share: float) -> str:
    return f"{share:+.1%}" if abs(share) < 10 else f"{share:+.0%}"


def _grid(widths: Sequence[int], sides: str, rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=bool(head))
    for index, (width, side) in enumerate(zip(widths, sides, strict=True)):
        table.add_column(
            words(head[index]) if head else "",
            justify="right" if side == "r" else "left",
            width=width or None,
            ratio=None if width else 1,
            overflow="fold",
            vertical="bottom" if head else "top",
        )
    for row in rows:
        table.add_row(*map(words, row))
    return table
