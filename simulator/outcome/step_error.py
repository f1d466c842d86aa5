"""How far measured steps are from the predicted one: the distribution that the 80% interval is cut from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import erfc, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

from simulator.units import Number, Share

LOW, HIGH = 0.10, 0.90
"""Where the 80% interval is cut."""
PROBABILITIES = (0.05, LOW, 0.25, 0.50, 0.75, HIGH, 0.95)
"""Quantiles of the errors that are kept: fewer would hide that errors are skewed, more say what few families cannot."""


class _Piece(NamedTuple):
    """A straight piece of the line through the known quantiles."""

    start: Number
    """ln(ratio) from which on it holds."""
    score: Number
    """Quantile of the normal distribution at its start."""
    slope: Number
    """What ln(ratio) gains with the normal quantile: the spread of a lognormal distribution."""


@dataclass(frozen=True)
class StepError:
    """Measured over predicted step time as a random number, of which some quantiles are known.

    ln(ratio) over the quantiles of a normal distribution is a line through the known points, straight on beyond the
    outermost: a lognormal distribution in pieces. Two points make one lognormal distribution, and one point makes a
    number that is sure.
    """

    probabilities: tuple[Share, ...]
    """In rising order."""
    ratios: tuple[Number, ...]
    """The quantile of each probability, in rising order."""

    def known(self, probability: Share) -> Number:
        """Return a quantile as it is known."""
        return self.ratios[self.probabilities.index(probability)]

    def beyond(self, ratio: Number) -> Share:
        """Return the chance that a step takes more than `ratio` times its prediction.

        >>> round(StepError((0.1, 0.9), (0.9, 1.2)).beyond(1.2), 12)
        0.1
        >>> SURE.beyond(0.99), SURE.beyond(1.0)
        (1.0, 0.0)
        """
        if ratio <= 0 or not self._pieces:
            return 1.0 if self.ratios[0] > ratio else 0.0
        x = log(ratio)
        piece = self._pieces[max(bisect_right(self._starts, x) - 1, 0)]
        return 0.5 * erfc((piece.score + (x - piece.start) / piece.slope) / sqrt(2))

    @cached_property
    def _pieces(self) -> tuple[_Piece, ...]:
        normal = NormalDist()
        points = [(log(ratio), normal.inv_cdf(p)) for p, ratio in zip(self.probabilities, self.ratios, strict=True)]
        return tuple(_Piece(x, z, (end - x) / (last - z)) for (x, z), (end, last) in pairwise(points) if end > x)

    @cached_property
    def _starts(self) -> tuple[Number, ...]:
        return tuple(piece.start for piece in self._pieces)


SURE = StepError((0.5,), (1.0,))
"""Of a step that is given, not predicted."""
