"""The figures as a page of Markdown, for ``docs/validation.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from simulator.validation import rules
from simulator.validation.scores import Errors
from simulator.validation.summary import SMALLEST_CELL, SMALLEST_FAMILY, SMALLEST_GROUP, Quantity, Summary
from simulator.validation.tables import NAMES, phrased

HEAD = """# Validation

Predictions beside published measurements, by family of source. The error is predicted / measured - 1; median, mean and
P90 are of its size, the bias is its median with sign. `foretrain validate` prints the same, and
`python docs/generate.py validation` writes this page; every row and its source is in `simulator/validation/data`.
"""
RULES = """## What stands in for fields that a source leaves out

One rule each, for all rows alike; a row that needed one says so in the `note` of `foretrain validate --csv`.
"""


def write(shipped: Summary, others: Sequence[tuple[str, Summary]] = ()) -> str:
    """Return the page on what ships, and below it a section for each of `others` under its heading."""
    sections = [HEAD, *_figures(shipped, "##")]
    sections += [section(heading, figures) for heading, figures in others]
    sections += [RULES, *_rules()]
    return "\n".join(sections)


def section(heading: str, figures: Summary) -> str:
    """Return figures under a heading of their own."""
    return "\n".join([f"## {heading}\n", *_figures(figures, "###")])


def _figures(figures: Summary, level: str) -> Iterator[str]:
    for quantity in figures.quantities:
        if quantity.total:
            yield f"{level} {quantity.suite.capitalize()}: {NAMES.get(quantity.name, quantity.name)}\n"
            yield from _quantity(quantity)
    if figures.goals:
        yield f"{level} Collectives: what they are meant to reach\n"
        rows = [
            (goal.name, f"{goal.errors.count:,}", _percent(goal.errors.mape), _percent(goal.limit))
            for goal in figures.goals
        ]
        yield _table(("collectives", "rows", "mean error of time", "meant to be at most"), rows)
    if figures.spread:
        yield f"{phrased(figures.spread)}\n"
    if figures.fits:
        yield f"{level} Out of memory\n"
        head = ("family", "rows", "out of memory", "right", "found", "tight", "right when sure", "Brier")
        yield _table(
            head,
            [
                (
                    name or "**all**",
                    f"{fit.count:,}",
                    f"{fit.out_of_memory:,}",
                    *map(_percent, (fit.accuracy, fit.recall, fit.tight, fit.accuracy_outside_tight)),
                    f"{fit.brier:.3f}",
                )
                for name, fit in sorted(figures.fits.items(), key=lambda item: (not item[0], item[0]))
            ],
        )
    yield f"{level} Not predicted\n"
    yield f"{figures.expressed:,} of {figures.rows:,} rows are predicted; the others have a reason.\n"
    if figures.reasons:
        yield _table(("rows", "reason"), [(f"{count:,}", reason) for reason, count in figures.reasons.items()])


def _quantity(quantity: Quantity) -> Iterator[str]:
    rival = quantity.baseline
    head = ("family", "rows", "median", "mean", "P90", "bias", *(("one MFU: median", "P90") if rival else ()))
    rows = [(family, *_errors(errors), *_rival(rival, family)) for family, errors in quantity.families.items()]
    assert quantity.total is not None
    rows.append(("**all**", *_errors(quantity.total), *_rival(rival, "")))
    rows += [(name, *_errors(errors), *(("", "") if rival else ())) for name, errors in quantity.sizes.items()]
    yield _table(head, rows)
    if means := quantity.means:
        least = SMALLEST_FAMILY.get(quantity.suite, SMALLEST_CELL)
        yield (
            f"Mean over the {means['families']:.0f} families of at least {least} rows: "
            f"median {_percent(means['median'])}, mean {_percent(means['mape'])}, P90 {_percent(means['p90'])}; "
            f"worst median {_percent(means['worst_median'])}.\n"
        )
    if rankings := list(quantity.groups.values()):
        rho = [ranking.spearman for ranking in rankings]
        yield (
            f"Ranking layouts in {len(rankings)} groups of at least {SMALLEST_GROUP}, ties against us: Spearman median "
            f"{np.median(rho):.2f}, lowest {min(rho):.2f}; regret of the predicted best "
            f"{_percent(float(np.median([ranking.regret for ranking in rankings])))} in the median, "
            f"{_percent(float(np.mean([ranking.regret for ranking in rankings])))} on average.\n"
        )
    if coverage := quantity.coverage:
        yield f"Ranges hold {_percent(coverage.share)} of the rows; median width {_percent(coverage.width)}.\n"
    if quantity.coverages:
        rows = [
            (name, f"{one.count:,}", _percent(one.share), _percent(one.width))
            for name, one in quantity.coverages.items()
        ]
        yield _table(("class of run", "rows", "held by their range", "median width"), rows)


def _rules() -> Iterator[str]:
    yield _table(("field", "rule"), [(f"`{name}`", text) for name, text in rules.stated().items()])


def _errors(errors: Errors) -> tuple[str, ...]:
    sizes = (errors.median, errors.mape, errors.p90)
    return (f"{errors.count:,}", *map(_percent, sizes), f"{errors.bias:+.1%}")


def _rival(rival: Mapping[str, Errors], family: str) -> tuple[str, ...]:
    if not rival:
        return ()
    errors = rival.get(family)
    return (_percent(errors.median), _percent(errors.p90)) if errors else ("", "")


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    sides = ["---", *["---:"] * (len(head) - 1)] if len(head) > 2 else ["---"] * len(head)
    return "\n".join([line(head), f"|{'|'.join(sides)}|", *map(line, rows)]) + "\n"
