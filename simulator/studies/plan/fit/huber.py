"""The fit of L(N, D) = E + A / N^alpha + B / D^beta: the smallest Huber loss of ln(predicted / measured).

Hoffmann's procedure (arXiv 2203.15556, section 3.3): delta 1e-3, and a grid of starts, since the loss has several
valleys. Huber's loss is a weighted sum of squares with weights 1 / max(|r|, delta), so that each step solves weighted
least squares with a damping (Levenberg-Marquardt); many starts, and many resamples, are stepped at once.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from simulator.studies.plan.fit.runs import TrainingRuns

DELTA = 1e-3
GRID = ((0.0, 5.0, 10.0, 15.0, 20.0, 25.0), (0.0, 5.0, 10.0, 15.0, 20.0, 25.0), (-1.0, -0.5, 0.0, 0.5, 1.0))
EXPONENTS = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Starts of ln A, ln B, ln E, and of both exponents: 4,500, as Hoffmann's."""
KEPT = 48
"""Starts that are followed to the end."""
STEPS = 150
Constants = np.ndarray
"""ln A, ln B, ln E, alpha, beta; a row a start or a resample."""


def fit(runs: TrainingRuns) -> Constants:
    """Return the five constants that fit `runs` best."""
    starts = np.array([(*scales, *powers) for scales in product(*GRID) for powers in product(EXPONENTS, repeat=2)])
    ones = np.ones(len(runs))
    scores = np.concatenate([huber(residuals(part, runs), ones, 0.1) for part in np.array_split(starts, 20)])
    best = starts[np.argsort(scores, kind="stable")[:KEPT]]
    found = best
    for delta in (0.1, 0.01, DELTA):
        found = descend(found, runs, ones, delta)
    fitted: Constants = found[int(np.argmin(huber(residuals(found, runs), ones, DELTA)))]
    return fitted


def descend(start: Constants, runs: TrainingRuns, counts: np.ndarray, delta: float = DELTA) -> Constants:
    """Return where each row of `start` comes to rest; `counts` is how often each run counts, a row each or for all."""
    found = np.array(start, dtype=float)
    damping = np.full(len(found), 1e-2)
    score = huber(residuals(found, runs), counts, delta)
    for _ in range(STEPS):
        error, slope = residuals(found, runs), _slopes(found, runs)
        weights = counts / np.maximum(np.abs(error), delta)
        weighted = slope * weights[:, :, None]
        curvature = np.einsum("bni,bnj->bij", weighted, slope)
        pull = np.einsum("bni,bn->bi", weighted, error)
        scale = np.maximum(np.einsum("bii->bi", curvature), 1e-12)
        ridge = np.einsum("bi,ij->bij", scale * damping[:, None], np.eye(5))
        tried = found - np.linalg.solve(curvature + ridge, pull[:, :, None])[:, :, 0]
        better = huber(residuals(tried, runs), counts, delta)
        wins = better < score
        moved = np.where(wins, (score - better) / np.maximum(score, 1e-30), 0.0)
        found[wins], score = tried[wins], np.where(wins, better, score)
        damping = np.clip(np.where(wins, damping / 5, damping * 4), 1e-10, 1e10)
        if moved.max() < 1e-9 and damping[~wins].min(initial=1e10) > 1e4:
            break
    return found


def residuals(constants: Constants, runs: TrainingRuns) -> np.ndarray:
    """Return ln(predicted / measured), a row for each row of constants."""
    error: np.ndarray = np.logaddexp.reduce(_terms(constants, runs), axis=0) - np.log(runs.losses)
    return error


def huber(error: np.ndarray, counts: np.ndarray, delta: float) -> np.ndarray:
    """Return the Huber loss of each row of errors."""
    size = np.abs(error)
    loss: np.ndarray = (counts * np.where(size <= delta, 0.5 * size**2 / delta, size - 0.5 * delta)).sum(axis=-1)
    return loss


def _terms(constants: Constants, runs: TrainingRuns) -> np.ndarray:
    a, b, e, alpha, beta = (column[:, None] for column in np.atleast_2d(constants).T)
    by_size, by_tokens = a - alpha * np.log(runs.parameters), b - beta * np.log(runs.tokens)
    return np.stack([by_size, by_tokens, np.broadcast_to(e, by_size.shape)])


def _slopes(constants: Constants, runs: TrainingRuns) -> np.ndarray:
    """Return the derivative of each residual by each constant: the shares of the three terms."""
    terms = _terms(constants, runs)
    size, tokens, floor = np.exp(terms - np.logaddexp.reduce(terms, axis=0))
    return np.stack([size, tokens, floor, -size * np.log(runs.parameters), -tokens * np.log(runs.tokens)], axis=-1)
