"""The tiles that libraries of matrix products choose from, by architecture, and the splits of the depth.

Widths are those that kernels of cuBLAS and CUTLASS are built with; narrow ones are what products of few tokens need.
An architecture that was never measured gets the default list.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

SPLITS = (1, 2, 4, 8, 16)
DEFAULT = ((256, 128), (128, 256), (128, 128), (64, 256), (256, 64), (64, 128), (128, 64), (64, 64), (32, 64), (16, 64))
HOPPER = (
    (256, 128), (128, 256), (192, 128), (128, 192), (128, 128), (64, 256), (64, 128), (128, 64), (64, 64), (32, 128),
    (16, 128),
)  # fmt: skip
BLACKWELL = (
    (256, 256), (256, 192), (256, 128), (128, 256), (128, 192), (128, 128), (256, 64), (128, 64), (64, 128), (128, 32),
    (32, 128), (16, 128),
)  # fmt: skip
TILES = {"hopper": HOPPER, "blackwell": BLACKWELL}


class Configurations(NamedTuple):
    """Every tile with every split, one an element."""

    a: Any
    b: Any
    parts: Any
    area: Any
    span: Any
    """a + b: elements loaded for each element of depth."""
    edges: Any
    """1/a + 1/b."""
    split: Any
    """1 where the depth is split, else 0."""


@lru_cache(maxsize=64)
def configurations(architecture: str, parts: int) -> Configurations:
    """Return the tiles of `architecture` with all splits of the depth into at most `parts`."""
    tiles = TILES.get(architecture, DEFAULT)
    a, b, s = np.array([(a, b, s) for a, b in tiles for s in SPLITS if s <= parts], dtype=float).T
    return Configurations(a, b, s, a * b, a + b, 1 / a + 1 / b, (s > 1).astype(float))
