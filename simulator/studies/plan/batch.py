"""How large a batch may be, and how it grows: the critical batch size, from which on more data gains little.

B = 2e8 tokens / L^(1/0.21) (Kaplan, arXiv 2001.08361, equation 1.4; the idea is McCandlish's, 1812.06162). At this size
a run takes twice the fewest possible steps and twice the fewest possible tokens. L is Kaplan's own loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simulator.units import Number, Share

MILESTONES = (0.01, 0.03, 0.1, 0.3, 1.0)


class Stage(NamedTuple):
    share: Share
    """Of the tokens that have been seen."""
    tokens: Number
    batch_tokens: Number


def critical_batch(loss: Number) -> Number:
    """Return the critical batch in tokens at a loss of Kaplan's law.

    >>> [round(critical_batch(loss) / 1e6, 2) for loss in (3.0, 2.5, 2.0)]
    [1.07, 2.55, 7.37]
    """
    return float(2e8 / loss ** (1 / 0.21))


def schedule(tokens: Number, loss_after: Callable[[Number], Number]) -> tuple[Stage, ...]:
    """Return the critical batch as the loss falls; `loss_after` gives Kaplan's loss after so many tokens."""
    return tuple(Stage(share, share * tokens, critical_batch(loss_after(share * tokens))) for share in MILESTONES)
