"""How well ranges hold runs that were predicted without something: by what is new about them, and in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from simulator.outcome.intervals import KNOWN
from simulator.units import Count, Number, Share
from simulator.validation.lines import Line

SOFTWARE, ACCELERATOR, BOTH = "new software", "new accelerator", "both new"
CLASSES = (KNOWN, SOFTWARE, ACCELERATOR, BOTH)
HARDWARE_LEVELS = frozenset({"vendor", "unrelated", "sibling"})
HELD: Share = 0.8
"""Share of runs that ranges are to hold."""
MISS = 10.0
"""Cost of what lies outside an 80% range, 2 / 0.2 (the interval score, Gneiting and Raftery 2007, section 6.2)."""


class Figures(NamedTuple):
    """Errors and ranges of one class of runs; means are over what was left out, each thing with the same weight."""

    name: str
    things: Count
    """Things that were left out."""
    runs: Count
    median: Share
    """Of the size of predicted / measured - 1."""
    p90: Share
    held: Share
    width: Number
    """ln(high / low)."""
    score: Number
    """Width and ten times what lies outside, in ln."""
    constant: Number | None
    """Score of one constant range for all runs, as wide as 80% of the other things need; None without others."""


def figures(lines: Sequence[Line]) -> Iterator[Figures]:
    """Yield the figures of each class of runs that there is, and of all of them last."""
    known = [line for line in lines if line.predicted and line.measured and line.low and line.high]
    for name in (*CLASSES, "all"):
        members = [line for line in known if name in ("all", class_of(line))]
        if members:
            yield _figures(name, members, known)


def class_of(line: Line) -> str:
    """Return what is new about a run: its software, its accelerator, both, or neither.

    >>> one = Line(suite="runs", id="", family="", quantity="", unit="", measured=1.0)
    >>> from dataclasses import replace
    >>> [class_of(replace(one, comparable=kind)) for kind in ("known", "experts", "software+sibling", "vendor")]
    ['known', 'known', 'both new', 'new accelerator']
    """
    levels = set(line.comparable.split("+"))
    return CLASSES[("software" in levels) + 2 * bool(levels & HARDWARE_LEVELS)]


def _figures(name: str, members: Sequence[Line], known: Sequence[Line]) -> Figures:
    sizes = [abs(line.error or 0.0) for line in members]
    return Figures(
        name=name,
        things=len({line.without for line in members}),
        runs=len(members),
        median=float(np.median(sizes)),
        p90=float(np.quantile(sizes, 0.9)),
        held=_mean(members, lambda line: float(_outside(line) == 0)),
        width=_mean(members, width),
        score=_mean(members, lambda line: width(line) + MISS * _outside(line)),
        constant=_mean(members, _constant_scores(known)) if len({line.without for line in known}) > 1 else None,
    )


def rescaled(line: Line, factor: Number) -> Line:
    """Return a line whose range is wider by a factor in ln, around the same centre.

    >>> wide = rescaled(Line(suite="", id="", family="", quantity="", unit="", measured=1.0, low=0.5, high=8.0), 0.5)
    >>> wide.low, wide.high
    (1.0, 4.0)
    """
    if not line.low or not line.high:
        return line
    centre = sqrt(line.low * line.high)
    reach = (line.high / centre) ** factor
    return replace(line, low=centre / reach, high=centre * reach)


def width(line: Line) -> Number:
    """Return ln(high / low) of a range."""
    return log((line.high or 1.0) / (line.low or 1.0))


def _off(line: Line) -> Number:
    return abs(log((line.measured or 1.0) / (line.predicted or 1.0)))


def _outside(line: Line) -> Number:
    """Return how far a measurement lies outside its range, in ln."""
    measured = line.measured or 1.0
    return max(log((line.low or 1.0) / measured), log(measured / (line.high or 1.0)), 0.0)


def _constant_scores(known: Sequence[Line]) -> Callable[[Line], Number]:
    """Return the score of a line with a constant range that all other things give."""
    things = dict.fromkeys(line.without for line in known)
    reach = {thing: needed([line for line in known if line.without != thing]) for thing in things}
    return lambda line: 2 * reach[line.without] + MISS * max(_off(line) - reach[line.without], 0.0)


def needed(lines: Sequence[Line], share: Share = HELD) -> Number:
    """Return the distance in ln within which this share of runs lies, each thing left out with the same weight."""
    order = sorted(lines, key=_off)
    weights = np.cumsum(_weights(order))
    return _off(order[int(np.searchsorted(weights, share * weights[-1] - 1e-9))])


def _mean(lines: Sequence[Line], value: Callable[[Line], Number]) -> Number:
    return float(np.average([value(line) for line in lines], weights=_weights(lines)))


def _weights(lines: Sequence[Line]) -> list[Number]:
    """Return weights that give each thing left out as much as any other."""
    sizes: dict[str, int] = {}
    for line in lines:
        sizes[line.without] = sizes.get(line.without, 0) + 1
    return [1 / sizes[line.without] for line in lines]


def without_prediction(lines: Iterable[Line]) -> Count:
    """Return how many runs have no prediction."""
    return sum(line.predicted is None for line in lines)
