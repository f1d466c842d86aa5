"""How far few measurements are believed: a factor goes to 1 as its rows go to none.

Of published runs, one row made predictions of the others worse on average and five made them better, so that a
factor keeps n / (n + 5) of its logarithm.
"""

from __future__ import annotations

from simulator.units import Count, Number

HALF = 5
"""Rows at which a factor is believed by half."""


def shrunk(factor: Number, rows: Count) -> Number:
    """Return the factor that so many rows justify.

    >>> shrunk(2.0, 0), round(shrunk(2.0, 5), 3), round(shrunk(2.0, 1000), 2)
    (1.0, 1.414, 1.99)
    """
    return float(factor ** (rows / (rows + HALF)))
