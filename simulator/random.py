"""One random stream a purpose, the same on every machine and for any number of processes."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, *names: object) -> np.random.Generator:
    """Return the random stream of `names` under `seed`.

    Streams of different names are independent, so that a new purpose does not move the draws of another.
    """
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])
