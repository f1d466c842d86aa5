"""How good predictions are: definitions of every figure, on plain arrays.

The error is e = predicted / measured - 1. In a group of layouts ties count against us: whatever is predicted within
0.1% of the best may be what a user picks, so the slowest of those decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TIE = 1.001
TIGHT = (0.2, 0.8)


@dataclass(frozen=True, kw_only=True)
class Errors:
    count: int
    median: float
    """Median of |e|."""
    mape: float
    """Mean of |e|."""
    p90: float
    """90th percentile of |e|, interpolated linearly."""
    bias: float
    """Median of e."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    count: int
    spearman: float
    regret: float
    """How much slower the predicted best really is than the best, ties counted against us."""
    top3: float
    """The same for the best of the three predicted best."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well a probability of running out of memory agrees with what happened."""

    count: int
    out_of_memory: int
    accuracy: float
    """Share of rows on the right side of one half."""
    recall: float
    """Share of the runs out of memory that were called so."""
    false_fits: float
    """Share of rows that ran out of memory where less than 20% was predicted."""
    tight: float
    """Share of rows between 20% and 80%."""
    accuracy_outside_tight: float
    brier: float
    """Mean square of predicted probability minus what happened."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    count: int
    share: float
    """Share of measurements inside their interval."""
    width: float
    """Median of (high - low) / predicted."""


def errors(measured: Sequence[float], predicted: Sequence[float]) -> Errors:
    """Return the figures of signed errors.

    >>> errors([1.0, 2.0, 4.0], [1.1, 1.8, 4.0]).median
    0.1
    """
    error = np.asarray(predicted, float) / np.asarray(measured, float) - 1
    size = np.abs(error)
    return Errors(
        count=len(error),
        median=_round(np.median(size)),
        mape=_round(np.mean(size)),
        p90=_round(np.quantile(size, 0.9)),
        bias=_round(np.median(error)),
    )


def ranking(measured: Sequence[float], predicted: Sequence[float]) -> Ranking:
    """Return how well predictions order a group of layouts."""
    real, guess = np.asarray(measured, float), np.asarray(predicted, float)
    best = real.min()
    picked = real[guess <= guess.min() * TIE].max()
    first = np.lexsort((-real, guess))[:3]
    return Ranking(
        count=len(real),
        spearman=_round(spearman(real, guess)),
        regret=_round(picked / best - 1),
        top3=_round(real[first].min() / best - 1),
    )


def spearman(measured: Sequence[float] | np.ndarray, predicted: Sequence[float] | np.ndarray) -> float:
    """Return the correlation of ranks, equal values sharing their mean rank; 0 where one side is constant.

    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    x, y = ranks(measured), ranks(predicted)
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale else 0.0


def ranks(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rank of each value from 1; equal values share the mean of their ranks.

    >>> ranks([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    _, inverse, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((last - counts + 1 + last) / 2)[inverse.ravel()]


def fit(out_of_memory: Sequence[float], probability: Sequence[float]) -> Fit:
    """Return the figures of predicted probabilities of running out of memory."""
    happened, guess = np.asarray(out_of_memory, float) > 0.5, np.asarray(probability, float)
    right = (guess > 0.5) == happened
    sure = (guess < TIGHT[0]) | (guess > TIGHT[1])
    return Fit(
        count=len(guess),
        out_of_memory=int(happened.sum()),
        accuracy=_mean(right),
        recall=_mean((guess > 0.5)[happened]),
        false_fits=_mean(happened & (guess < TIGHT[0])),
        tight=_mean(~sure),
        accuracy_outside_tight=_mean(right[sure]),
        brier=_mean((guess - happened) ** 2),
    )


def coverage(
    measured: Sequence[float], predicted: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> Coverage:
    """Return how often intervals hold the measurement, and how wide they are."""
    real, guess, below, above = (np.asarray(values, float) for values in (measured, predicted, low, high))
    return Coverage(
        count=len(real),
        share=_mean((below <= real) & (real <= above)),
        width=_round(np.median((above - below) / guess)),
    )


def _mean(values: np.ndarray) -> float:
    return _round(np.mean(values)) if len(values) else 1.0


def _round(value: float) -> float:
    """Drop the digits that differ between machines."""
    return round(float(value), 12)
