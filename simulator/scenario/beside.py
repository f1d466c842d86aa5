"""Files that a scenario names: they are looked for beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simulator.io import files
from simulator.scenario.document import Keys
from simulator.scenario.reading import Reading

LARGEST = 1_000_000
"""Bytes of a file with keys and values."""
LARGEST_TABLE = 20_000_000
"""Bytes of a log or a list of cables."""
UNREAD = ""
"""What stands for the SHA-256 of a file that cannot be read."""


def located(name: str, reading: Reading) -> Path:
    """Return the file that `name` means: beside the scenario, or where `reading` says that it is."""
    return reading.folder / name if reading.only is None else reading.only.get(name, Path())


def read_file(name: Any, path: Keys, reading: Reading, largest: int = LARGEST) -> str | None:
    """Return the text of the file that `name` means, or None and note what is wrong.

    No message repeats what is in the file: who wrote the scenario need not be allowed to read it.
    """
    if not isinstance(name, str) or not name:
        reading.mistakes.add(path, "the name of a file belongs here")
        return None
    if reading.only is not None and name not in reading.only:
        reading.mistakes.add(path, f"`{name[:80]}` is not opened: {_ONLY}")
        return None
    file = located(name, reading)
    reading.files[str(name)] = UNREAD
    try:
        content = files.read(file, largest=largest)
        reading.files[str(name)] = files.digest(content)
        text = files.decoded(content, file)
        if text.strip():
            return text
        reading.mistakes.add(path, f"`{name[:80]}`: is empty")
    except files.UnreadableError as error:
        beside = "; it is looked for beside the scenario" if error.reason == files.MISSING else ""
        reading.mistakes.add(path, f"`{name[:80]}`: {error.reason}{files.hint(file, error) or beside}")
    return None


def digest(name: str, reading: Reading) -> str:
    """Return what `Reading.files` would say of the file that `name` means, as it is now."""
    try:
        return files.digest(files.read(located(name, reading), largest=LARGEST_TABLE))
    except files.UnreadableError:
        return UNREAD


_ONLY = (
    "text from a page or a link names no files but those of the scenario that `foretrain explore` was started with; "
    "name this one there, and start it again"
)
