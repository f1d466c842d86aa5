"""What was written, with the place of each word: the tree between YAML text and a scenario.

Every scalar is text, because the field it belongs to decides what it means. A place is carried by the words
themselves, so that an error still points at its line after sections were expanded and merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

Keys = tuple[str | int, ...]


DEEPEST = 20
"""Mappings and lists inside each other; scenarios have five."""


class Place(NamedTuple):
    """Where a word stands; line and column count from 1, and are 0 where there is no text."""

    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


class Word(str):
    """A scalar or a key."""

    place: Place | None = None


class Table(dict[str, Any]):
    """A mapping; its keys are words."""

    place: Place | None = None


class Items(list[Any]):
    """A list."""

    place: Place | None = None


class Left:
    """The value ``null``: the key counts as left out."""

    place: Place | None = None

    def __bool__(self) -> bool:
        return False


class Failed:
    """A value about which a mistake has already been noted."""

    place: Place | None = None


def placed(data: Any, place: Place | None, depth: int = 0) -> Any:
    """Return `data`, made of plain mappings, lists and scalars, as a document whose words all stand at `place`.

    Raises RecursionError where it is nested more than `DEEPEST` deep.
    """
    if depth > DEEPEST:
        raise RecursionError
    made: Any
    if isinstance(data, dict):
        made = Table({at(Word(key), place): placed(value, place, depth + 1) for key, value in data.items()})
    elif isinstance(data, list | tuple):
        made = Items(placed(item, place, depth + 1) for item in data)
    elif data is None:
        made = Left()
    else:
        made = Word(str(data).lower() if isinstance(data, bool) else repr(data) if isinstance(data, float) else data)
    return at(made, place)


def at(data: Any, place: Place | None) -> Any:
    """Return `data`, standing at `place`."""
    data.place = place
    return data


def plain(data: Any) -> Any:
    """Return `data` as plain mappings, lists and text."""
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [plain(item) for item in data]
    return None if isinstance(data, Left) else str(data)


def place_of(data: Any, path: Sequence[str | int], *, key: bool = False) -> Place | None:
    """Return where the value at `path` stands, or its key; the nearest thing around it where it was not written."""
    place: Place | None = getattr(data, "place", None)
    for number, part in enumerate(path):
        if isinstance(data, dict) and part in data:
            if key and number == len(path) - 1:
                return getattr(next(word for word in data if word == part), "place", place)
            data = data[part]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            continue
        place = getattr(data, "place", None) or place
    return place


def written(data: Any, path: Keys) -> Keys:
    """Return the part of `path` that was written: a short form stands for keys that were not."""
    for number, part in enumerate(path):
        if isinstance(data, str):
            return path[:number]
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
    return path


@lru_cache(maxsize=4096)
def dotted(path: Keys) -> str:
    """Return `path` as people write it.

    >>> dotted(("failures", "causes", 0, "mtbf"))
    'failures.causes[0].mtbf'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part[:60]}" for part in path).lstrip(".")
