"""Text that was valid and is not quite any more: the slips of people, and bytes that no person writes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

NUMBERS = (
    *("0", "-1", "1", "2", "3", "7", "0.5", "-0.0", "1e9", "1e18", "1e30", "1e-30", "1e309", "1e400", "9" * 400, "nan"),
    *(
        "inf",
        "-inf",
        "8%",
        "5 %",
        "1:7",
        "30m",
        "10min",
        "1s",
        "1ms",
        "50y",
        "1GB",
        "1GiB",
        "80GiB",
        "400Gbps",
        "400GB/s",
    ),
    *("400GB/s", "$2", "$0", "1T", "15.6T", "1_000", "1,000", "0x10", "1e", "+3", "³", "١٢", "1/0"),
)
WORDS = (
    *("", "null", "~", "true", "none", "[]", "{}", "[[[]]]", "[1, 2]", "{kind: x}", "{base: x}", "{a: {b: c}}", "#"),
    *("h100", "hgx-h100", "llama3", "gpt-2", "generic", "full", "1f1b", "fixed", "zb-v", "/", ".", "-", "*a", "&a 1"),
    *("../../etc/passwd", "/dev/zero", "{{7*7}}", "%s", "<script>alert(1)</script>", "'", '"', "`", "\\", "\t"),
    *("!!python/object/apply:os.system [id]", "? ", ": ", "- ", "---\n", "\n", "\r\n", "\x1b[31m", "\u202e"),
    *("\ufeff", "é", "😀"),
)
VALUE = re.compile(r"(?<=[:=,\s])[^\s:=,{}\[\]]+")
"""What stands after a key, or in a cell."""


def mutated(text: str, dice: random.Random, others: Sequence[str]) -> bytes:
    """Return `text` with a few slips in it; now and then a hole, a piece of another text, or raw bytes."""
    for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
        text = dice.choice(SLIPS)(text, dice, others)
    raw = text.encode("utf-8", "surrogatepass" if dice.random() < 0.01 else "replace")
    if dice.random() < 0.05:
        at = dice.randrange(len(raw) + 1)
        raw = raw[:at] + dice.randbytes(dice.choice((1, 2, 16))) + raw[at + dice.choice((0, 1, 8)) :]
    return raw


def _value(text: str, dice: random.Random, _: Sequence[str]) -> str:
    return _instead(text, dice, dice.choice(NUMBERS if dice.random() < 0.6 else WORDS))


def _neighbour(text: str, dice: random.Random, others: Sequence[str]) -> str:
    """Put a value where another was: right by itself, wrong in its place."""
    values = VALUE.findall(dice.choice(others))
    return _instead(text, dice, dice.choice(values)) if values else text


def _instead(text: str, dice: random.Random, value: str) -> str:
    places = list(VALUE.finditer(text))
    if not places:
        return text + value
    place = dice.choice(places)
    return text[: place.start()] + value + text[place.end() :]


def _digit(text: str, dice: random.Random, _: Sequence[str]) -> str:
    places = [found.start() for found in re.finditer(r"\d", text)]
    if not places:
        return text
    at = dice.choice(places)
    return text[:at] + dice.choice(("", "0", "9", "00000000", "-", ".", "e5")) + text[at + dice.choice((0, 1)) :]


def _hole(text: str, dice: random.Random, _: Sequence[str]) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + text[at + dice.choice((1, 2, 10, 200)) :]


def _insert(text: str, dice: random.Random, _: Sequence[str]) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(WORDS) + text[at:]


def _line_gone(text: str, dice: random.Random, _: Sequence[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    del lines[dice.randrange(len(lines))]
    return "".join(lines)


def _line_moved(text: str, dice: random.Random, others: Sequence[str]) -> str:
    lines = text.splitlines(keepends=True)
    from_there = (dice.choice(others) if dice.random() < 0.5 else text).splitlines(keepends=True) or [""]
    lines.insert(dice.randrange(len(lines) + 1), dice.choice(from_there))
    return "".join(lines)


def _letter(text: str, dice: random.Random, _: Sequence[str]) -> str:
    places = [found.start() for found in re.finditer(r"[a-z]{2}", text)]
    if not places:
        return text
    at = dice.choice(places)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _repeated(text: str, dice: random.Random, _: Sequence[str]) -> str:
    at = dice.randrange(len(text) + 1)
    return text[:at] + text[at : at + dice.choice((1, 20))] * dice.choice((2, 50, 2000)) + text[at:]


SLIPS = (_value, _value, _value, _value, _neighbour, _neighbour, _digit, _digit, _hole, _insert, _line_gone)
SLIPS += (_line_moved, _letter, _repeated)
