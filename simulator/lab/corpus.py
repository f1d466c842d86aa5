"""Text to train on that every machine has: the source of Python's standard library, as bytes."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np

from simulator.units import Bytes, Share

LARGEST: Bytes = 8e6
HELD_OUT: Share = 0.1
SKIPPED = ("test", "tests", "site-packages", "idlelib", "lib2to3")


def corpus(largest: Bytes = LARGEST) -> tuple[np.ndarray, np.ndarray]:
    """Return bytes to train on and bytes held out; every tenth file is held out."""
    root = Path(sysconfig.get_paths()["stdlib"])
    training: list[bytes] = []
    held_out: list[bytes] = []
    total = 0
    for place, path in enumerate(sorted(_sources(root))):
        text = path.read_bytes()
        (held_out if place % round(1 / HELD_OUT) == 0 else training).append(text)
        total += len(text)
        if total >= largest:
            break
    return np.frombuffer(b"".join(training), np.uint8), np.frombuffer(b"".join(held_out), np.uint8)


def _sources(root: Path) -> list[Path]:
    return [path for path in root.rglob("*.py") if not set(path.relative_to(root).parts) & set(SKIPPED)]
