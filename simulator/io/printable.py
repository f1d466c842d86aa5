"""Text as something to read: a name never moves a cursor, colours a terminal or turns a line around.

Names come from scenarios, tables, catalogs and arguments that somebody else may have written. What people read goes
through `printable`; what programs read keeps a name to the letter, written with the escapes of its format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any
from unicodedata import category

SIMPLER = str.maketrans("█▉▊▋▌▍▎▏−", "#####|||-")


class Page(str):
    """Lines that `simulator.io.terminal` made: printable text, and the colours of the console."""

    __slots__ = ()

    def simpler(self) -> Page:
        """Return the same with other bars and signs, for a stream that is not UTF-8."""
        return Page(self.translate(SIMPLER))


class Json(str):
    """JSON text, in which any character may be written as an escape."""

    __slots__ = ()

    def ascii(self) -> Json:
        """Return the same JSON in ASCII, for a stream that is not UTF-8."""
        return Json("".join(letter if letter.isascii() else _escaped(letter) for letter in self))


def printable(text: str, keep: str = "") -> str:
    r"""Return `text` with an escape for every character that is not shown as itself, save those of `keep`.

    These are control characters, marks that turn the direction of writing around, and bytes of a file's name that are
    not UTF-8.

    >>> print(printable("a\x1b[31m\u202eb é\n"), printable("c\nd\t", keep="\n"))
    a\x1b[31m\u202eb é\n c
    d\t
    """
    if text.isprintable():
        return text
    return "".join(
        letter if _is_shown(letter) or letter in keep else letter.encode("unicode_escape").decode() for letter in text
    )


def shortened(text: str, most: int) -> str:
    """Return at most `most` letters of `text`.

    >>> shortened("a" * 9, 6)
    'aaa...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def json_text(content: Any) -> Json:
    r"""Return JSON that may be printed; what is infinite or unknown is null, as JSON has no word for it.

    >>> print(json_text({"é": "\x9b31m", "b": float("inf")}), end="")
    {
      "é": "\u009b31m",
      "b": null
    }
    """
    text = json.dumps(_plain(content), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    return Json("".join(letter if _is_shown(letter) or letter == "\n" else _escaped(letter) for letter in text))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _escaped(letter: str) -> str:
    return json.dumps(letter)[1:-1]


def _is_shown(letter: str) -> bool:
    """Tell whether a character is text; spaces of other scripts are."""
    return letter.isprintable() or category(letter) == "Zs"
