"""The clock that a kernel runs at under the power limit of the board.

Busy tensor cores draw more power than the board may. Above a utilisation `threshold` of the peak, firmware lowers the
clock. Equal products of 1024 and more that repeat for 0.3 to 1 s, instead of milliseconds, are slower on H200, B200 and
GB200 by ``(utilisation / threshold) ** 0.4``, in bf16, fp8 and nvfp4 alike. A burst starts at the full clock and falls
to the same one within milliseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.units import Number, Seconds, Share

EXPONENT: Number = 0.4
"""Slope of the clock in utilisation, the same in every format of Hopper and Blackwell (sustained against burst rows of
equal products, ai-dynamo/aiconfigurator@095f58a)."""
REACTION: Seconds = 3e-3
"""Length of a kernel whose 5 to 20 replays see half of the slowdown; 2 to 5 ms by the same rows."""


def share(
    utilisation: Any, threshold: Share, exponent: Number = EXPONENT, *, burst: Any = None, reaction: Seconds = REACTION
) -> Any:
    """Return the clock over its maximum at `utilisation` of the peak, a number or an array.

    `burst` is the length in seconds of a kernel that a benchmark repeats a few times, one that takes `reaction` sees
    half of the slowdown; None is a kernel in a run that goes on for seconds.
    """
    settled = np.maximum(utilisation / threshold, 1.0) ** -exponent
    return settled if burst is None else 1 - (1 - settled) * burst / (burst + reaction)
