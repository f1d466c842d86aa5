"""Files that a user names: read whole, or refused with a sentence."""

from __future__ import annotations

from pathlib import Path

from simulator.errors import ScenarioError
from simulator.io import files

LARGEST = 20_000_000
"""Bytes; the longest table worth reading has some millions."""
LARGEST_LOG = 400_000_000
"""Bytes of the text of a log; that of a month of a large job has a tenth of it."""


def text_of(path: Path, largest: int = LARGEST) -> str:
    """Return the text of a file or pipe; ``-`` is stdin."""
    if str(path) == "-":
        return files.decoded(files.stdin(largest=largest), "<stdin>")
    try:
        return files.text(path, largest=largest, pipe=True)
    except files.UnreadableError as error:
        raise ScenarioError(f"{error}{files.hint(path, error)}") from None


def log_text(path: Path) -> str:
    """Return the text of a log, plain or gzip; what is no UTF-8 in it, as after a crash, is replaced.

    Raises ScenarioError where it cannot be read, or is larger than any log.
    """
    if str(path) == "-":
        content = files.stdin(largest=LARGEST_LOG)
    else:
        try:
            content = files.read(path, largest=LARGEST_LOG, pipe=True)
        except files.UnreadableError as error:
            raise ScenarioError(f"{error}{files.hint(path, error)}") from None
    return files.unzipped(content, path, largest=LARGEST_LOG).decode("utf-8-sig", errors="replace")
