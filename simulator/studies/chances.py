"""P(best): the chance that each of many layouts has the shortest step of all, by their errors and what those share.

Errors of all layouts are drawn together, `DRAWS` times; a layout's chance is how often it comes out shortest. Draws are
named by the seed, so that the same search has the same chances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simulator import random
from simulator.outcome.difference import Loadings, covariance, surprised
from simulator.outcome.student import DEGREES
from simulator.units import Count, Seconds, Share

DRAWS: Count = 2000
"""A chance is known to a percentage point."""
CONTENDERS: Count = 300
"""Layouts that are drawn for; slower ones are none."""
TINY = 1e-12
"""Added to variances, so that layouts alike in everything have a root too."""


def best(seconds: Sequence[Seconds], errors: Sequence[Loadings], seed: int) -> list[Share]:
    """Return the chance of each step, predicted to take so long, to be the shortest; they sum to 1.

    >>> from simulator.outcome.difference import SURE
    >>> best([1.0, 2.0], [SURE, SURE], 0)
    [1.0, 0.0]
    """
    if all(one.own == 0 and not one.causes for one in errors):
        shortest = [one == min(seconds) for one in seconds]
        return [one / sum(shortest) for one in shortest]
    centre = np.log(seconds) + np.array([one.shift for one in errors])
    root = np.linalg.cholesky(covariance(errors) + TINY * np.eye(len(errors)))
    drawn = random.stream(seed, "p_best")
    noise = drawn.standard_normal((DRAWS, len(errors)))
    tails = np.sqrt(DEGREES / drawn.chisquare(DEGREES, DRAWS))
    first = np.argmin(centre + tails[:, None] * (noise @ root.T), axis=1)
    often = np.bincount(first, minlength=len(errors)) / DRAWS
    return [surprised(float(one), len(errors)) for one in often]


def average(known: Sequence[Mapping[str, Seconds]]) -> dict[str, Share]:
    """Return the mean shares of the parts of some steps: what is taken of a step whose parts nobody worked out.

    >>> average([{"compute": 3.0, "data": 1.0}, {"compute": 1.0}])
    {'compute': 0.875, 'data': 0.125}
    """
    found: dict[str, Share] = {}
    for parts in known:
        whole = sum(parts.values())
        for name, seconds in parts.items():
            found[name] = found.get(name, 0.0) + seconds / whole / len(known)
    return found
