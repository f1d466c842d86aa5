"""Files that a user names: read whole, or refused with a sentence."""

from __future__ import annotations

from pathlib import Path

from simulator.errors import ScenarioError
from simulator.io import files

LARGEST = 20_000_000
"""Bytes; the longest log worth reading has some millions."""


def text_of(path: Path, largest: int = LARGEST) -> str:
    """Return the text of a file or pipe; ``-`` is stdin."""
    if str(path) == "-":
        return files.decoded(files.stdin(largest=largest), "<stdin>")
    try:
        return files.text(path, largest=largest, pipe=True)
    except files.UnreadableError as error:
        raise ScenarioError(f"{error}{files.hint(path, error)}") from None
