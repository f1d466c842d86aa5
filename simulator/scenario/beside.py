"""Files that a scenario names: they are looked for beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simulator.scenario.document import Keys, Word
from simulator.scenario.mistakes import did_you_mean
from simulator.scenario.reading import Reading

LARGEST = 1_000_000


def read_file(name: Any, path: Keys, reading: Reading) -> str | None:
    """Return the text of the file that `name` means from the scenario's folder, or None and note what is wrong."""
    if not isinstance(name, str) or not name:
        reading.mistakes.add(path, "the name of a file belongs here")
        return None
    file = Path(located(name, path, reading))
    if not file.is_file():
        return None
    try:
        if file.stat().st_size > LARGEST:
            reading.mistakes.add(path, f"`{name}` is larger than {LARGEST} bytes")
            return None
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reading.mistakes.add(path, f"`{name}` cannot be read: {error}")
        return None


def located(name: str, path: Keys, reading: Reading) -> Word:
    """Return the path of a file that is named from the scenario's folder."""
    file = reading.folder / name
    if name and not file.is_file():
        near = did_you_mean(file.name, sorted(item.name for item in _siblings(file)) or [""])
        hint = f"; {near}" if near.startswith("did") else "; it is looked for beside the scenario"
        reading.mistakes.add(path, f"no file `{name[:80]}`{hint}")
    word = Word(file)
    word.place = getattr(name, "place", None)
    return word


def _siblings(file: Path) -> list[Path]:
    try:
        return [item for _, item in zip(range(1000), file.parent.iterdir(), strict=False)]
    except OSError:
        return []
