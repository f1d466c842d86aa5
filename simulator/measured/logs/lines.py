"""What lines of logs have in common: numbers, times of day, bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import isfinite

NUMBER = r"[-+]?(?:[0-9][0-9,]{0,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][-+]?[0-9]{1,3})?"
CLOCK = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?")
COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
LARGEST = 1e15
"""Steps, tokens and bytes of no log are more; what is, is no number of a log."""
BYTES = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2.0**10, "MIB": 2.0**20, "GIB": 2.0**30}


def number(text: str | None) -> float | None:
    """Return a finite number as logs write it, None for anything else.

    >>> number("6,512"), number("2e+3"), number("nan")
    (6512.0, 2000.0, None)
    """
    try:
        found = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return found if isfinite(found) else None


def _float(value: float) -> float | None:
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def positive(value: object) -> float | None:
    """Return a value as a number above zero, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = number(value) if isinstance(value, str) else _float(value)
    return found if found is not None and 1 / LARGEST < found < LARGEST**2 else None


def whole(value: object) -> int | None:
    """Return a value as a whole number from 0 on, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = number(value) if isinstance(value, str) else _float(value)
    return int(found) if found is not None and 0 <= found <= LARGEST and found == int(found) else None


def clock(line: str) -> float | None:
    """Return the time of day in a line, seconds; no zone is UTC.

    >>> clock("[2024-03-30 20:02:50] iteration 11") - clock("[2024-03-30 20:02:40.5] iteration 10")
    9.5
    """
    found = CLOCK.search(line)
    if found is None:
        return None
    *parts, fraction = found.groups()
    try:
        day = datetime(*map(int, parts), tzinfo=UTC)  # type: ignore[misc,arg-type]
    except ValueError:
        return None
    return day.timestamp() + float(f"0.{fraction or 0}")


def field(line: str, pattern: str) -> float | None:
    """Return the number after `pattern` in a line."""
    found = re.search(rf"{pattern}\s{{0,8}}({NUMBER})", line)
    return number(found[1]) if found else None


def size(line: str, pattern: str) -> float | None:
    """Return the bytes after `pattern` in a line, such as ``22.95GB``."""
    found = re.search(rf"{pattern}\s{{0,8}}({NUMBER})\s?([KMG]?i?B)\b", line)
    amount = number(found[1]) if found else None
    return amount * BYTES[found[2].upper()] if found and amount is not None else None
