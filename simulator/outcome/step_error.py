"""How far measured steps are from the predicted one: Student t in ln, its width the sum of the reasons for doubt."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from simulator.outcome.student import all_below, quantile
from simulator.sums import added
from simulator.units import Number, Share

LOW, HIGH = 0.10, 0.90
"""Where the 80% interval is cut."""


class Reason(NamedTuple):
    """One reason for doubt, and what it alone adds."""

    what: str
    sd_ln: Number
    """Scale in ln(measured / predicted); squares of all reasons add up to that of the whole."""


@dataclass(frozen=True)
class StepError:
    """Measured over predicted step time as a random number: ln(ratio) is Student t around ln(median)."""

    median: Number = 1.0
    """The ratio that half of all runs stay below."""
    reasons: tuple[Reason, ...] = ()
    """The largest first; none where the step is sure."""

    @property
    def sd_ln(self) -> Number:
        """Return the scale of the Student t: the root of the summed squares of the reasons."""
        return sqrt(added(reason.sd_ln**2 for reason in self.reasons))

    @property
    def low(self) -> Number:
        """Return the ratio that 10% of runs stay below."""
        return self.at(LOW)

    @property
    def high(self) -> Number:
        """Return the ratio that 10% of runs exceed."""
        return self.at(HIGH)

    def at(self, probability: Share) -> Number:
        """Return the ratio that this share of runs stays below.

        >>> StepError(1.0, (Reason("any run", 0.1),)).at(0.9) == exp(0.1 * quantile(0.9))
        True
        """
        return self.median * exp(self.sd_ln * quantile(probability))

    def beyond(self, ratio: Number) -> Share:
        """Return the chance that a step takes more than `ratio` times its prediction.

        >>> SURE.beyond(0.99), SURE.beyond(1.0)
        (1.0, 0.0)
        """
        return float(longer(self, np.array([ratio]), np.array([1.0]))[0])


SURE = StepError()
"""Of a step that is given, not predicted."""


def longer(error: StepError, left: np.ndarray, growing: np.ndarray) -> np.ndarray:
    """Return the chance that f x `growing` exceeds `left`, f being measured over predicted; arrays of one number a run.

    Runs that never end exceed everything, and nothing exceeds more than what does not grow.
    """
    ratio = np.divide(left, growing, out=np.where(left >= 0, np.inf, -np.inf), where=growing > 0)
    able = (ratio > 0) & np.isfinite(growing) & np.isfinite(ratio)
    times = np.where(able, ratio, 1.0) / error.median
    chance = all_below(-np.log(times) / error.sd_ln) if error.sd_ln else np.where(times < 1, 1.0, 0.0)
    return np.where(able, chance, np.where((ratio <= 0) | ~np.isfinite(growing), 1.0, 0.0))
