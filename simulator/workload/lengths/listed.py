"""Lengths from a file: a length per line, or a length and the number of samples that have it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from simulator.errors import ScenarioError
from simulator.workload.lengths.base import Lengths

MOST = 1_000_000_000
"""Most tokens of a sample, and most samples of a length."""


@dataclass(frozen=True, kw_only=True)
class Listed(Lengths):
    kind: ClassVar[str] = "file"
    file_holds: ClassVar[str] = "text"
    """The field that whoever opens `file` fills with what it holds."""

    file: str = ""
    """The file, looked for beside the scenario: `tokens` or `tokens,samples` per line; a first line of names is left
    out."""
    text: str = field(default="", repr=False)
    """What the file holds, where it is not in a file."""

    def __post_init__(self) -> None:
        if not self.text:
            raise ScenarioError("lengths of kind file need `file`, the name of a list of lengths, or `text`, the list")
        read(self.text, self.file or "text")

    def at(self, shares: np.ndarray) -> np.ndarray:
        lengths, below = read(self.text, self.file or "text")
        return lengths[np.minimum(np.searchsorted(below, shares, side="right"), len(lengths) - 1)]


@lru_cache(maxsize=16)
def read(text: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths, sorted, and the share of samples up to each. Raises ScenarioError at a line that is wrong."""
    rows = [
        _row(line, name, number)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not (number == 1 and not line.strip()[0].isdigit())
    ]
    if not rows or not sum(samples for _, samples in rows):
        raise ScenarioError(f"{name}: no lengths are in it")
    table = np.array(sorted(rows), dtype=float)
    below = np.cumsum(table[:, 1])
    return table[:, 0], below / below[-1]


def _row(line: str, name: str, number: int) -> tuple[int, int]:
    parts = [part.strip() for part in line.split(",")]
    whole = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= 10]
    tokens, samples = (*whole, 1)[:2] if len(whole) == len(parts) <= 2 else (0, 0)
    if not (1 <= tokens <= MOST and 0 <= samples <= MOST):
        raise ScenarioError(f"{name}:{number}: no length; write `tokens` or `tokens,samples`, whole numbers")
    return tokens, samples
