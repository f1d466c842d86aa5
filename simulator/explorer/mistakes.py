"""The reader's messages, each beside the field that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from simulator.errors import ForetrainError
from simulator.scenario.sections import SHAPES

_KEY = re.compile(r"[a-z][a-z_0-9]*(?:\.[A-Za-z_0-9-]+|\[\d+\])*")


def by_field(error: ForetrainError, fields: Iterable[str]) -> dict[str, list[str]]:
    """Return the messages of `error` by the field they are about; those about no field under the empty name.

    A message about a whole section, such as a layout that does not divide, goes to the fields of the section that
    were changed last, so it is kept under the section's name.
    """
    known, found = tuple(fields), dict[str, list[str]]()
    for line in str(error).splitlines():
        key, message = _split(line)
        found.setdefault(_field(key, known), []).append(message)
    return found


def _split(line: str) -> tuple[str, str]:
    """Return the key that a message names and the rest; an empty key where it names none.

    >>> _split("mine.yaml:6:14: parallelism: 8 GPUs are not divisible by tensor 7")
    ('parallelism', '8 GPUs are not divisible by tensor 7')
    >>> _split("--set foo=1: foo: unknown key")
    ('', '--set foo=1: foo: unknown key')
    """
    parts = line.split(": ")
    for place, part in enumerate(parts[:-1]):
        if _KEY.fullmatch(part) and re.split(r"[.\[]", part)[0] in SHAPES:
            return part, ": ".join(parts[place + 1 :])
    return "", line


def _field(key: str, known: tuple[str, ...]) -> str:
    """Return the known field that `key` belongs to: itself, the longest above it, else its section."""
    above = [name for name in known if f"{key}.".startswith((f"{name}.", f"{name}["))]
    return max(above, key=len, default=key.partition(".")[0])
