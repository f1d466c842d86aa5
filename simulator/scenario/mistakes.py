"""All mistakes of an input at once: ``file:line:column: key: what is wrong; did you mean ...``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from simulator.errors import ScenarioError
from simulator.scenario.document import Keys, Place, dotted, place_of

MOST = 100
"""Mistakes that are listed; a file with more has one cause."""


class Mistakes:
    """Collects what is wrong with one input; `document` is what was written, for places."""

    def __init__(self) -> None:
        self.document: Any = None
        self._found: dict[str, Place] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, path: Keys, message: str, *, key: bool = False, data: Any = None, above: int = 0) -> None:
        """Note that the value at `path` (or with `key` the key itself) is wrong.

        With `data`, the value at ``path[:above]`` as it was expanded, the place is found there.
        """
        place = place_of(data, path[above:], key=key) if data is not None else None
        self.add_at(place or place_of(self.document, path, key=key), path, message)

    def add_at(self, place: Place | None, path: Keys, message: str) -> None:
        parts = [str(place)] if place else []
        parts += [dotted(path)] if path else []
        self._found.setdefault(_printable(": ".join([*parts, message])), place or Place(""))

    def stop(self) -> None:
        """Raise a ScenarioError with one line a mistake, in the order of the text, if there is any."""
        if not self._found:
            return
        lines = sorted(self._found, key=lambda line: self._found[line][1:])
        if len(lines) > MOST:
            lines[MOST:] = [f"... and {len(lines) - MOST} more mistakes"]
        raise ScenarioError("\n".join(lines))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint at the known word that is closest, or at all of them.

    >>> did_you_mean("tensors", ["tensor", "pipeline"])
    'did you mean `tensor`?'
    >>> did_you_mean("x", ["tensor", "pipeline"])
    'one of tensor, pipeline'
    """
    names = list(known)
    spelled = {name.lower().replace("_", "-"): name for name in names}
    close = difflib.get_close_matches(word.lower().replace("_", "-")[:80], spelled, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{spelled[close[0]]}`?"
    return f"one of {', '.join(names)}" if len(names) > 1 else f"write `{names[0]}`" if names else "leave it out"


def listed(words: Sequence[str]) -> str:
    """Return `words` as a sentence has them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _printable(text: str) -> str:
    """Return `text` without what would move a terminal's cursor."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)[:600]
