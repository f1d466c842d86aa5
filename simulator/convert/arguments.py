"""Flags of a command line, or the same under a key of a YAML file, and which of them were asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, overload

from simulator.convert import plain_yaml
from simulator.convert.values import plain

_LARGEST_TEXT = 1_000_000
SHELL = ("(", ")", "\\", "&&", ";", "|")
"""Words of a shell script around the flags."""


class Arguments:
    """Flags with their values as text; it remembers the ones that were asked for, so that the rest can be reported."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._asked: set[str] = set()
        self._unused: list[str] = []

    def text(self, *flags: str) -> str | None:
        """Return the value of the first of `flags` that is given."""
        self._asked.update(flags)
        return next((self._values[flag] for flag in flags if self._values.get(flag, "") != ""), None)

    def number(self, *flags: str) -> Any:
        """Return a number, whole or not, or None where no flag is given."""
        if (text := self.text(*flags)) is None or text == "None":
            return None
        negative = text.startswith("-")
        value = plain(text[1:] if negative else text)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{flags[0]}: expected a number, found {text[:80]!r}")
        return -value if negative else value

    def switch(self, *flags: str) -> bool:
        """Return whether one of `flags` is there and not called false."""
        self._asked.update(flags)
        return any(self._values.get(flag, "false").lower() not in ("false", "0", "none", "null") for flag in flags)

    @overload
    def choice(self, choices: Mapping[str, str], *flags: str, default: str) -> str: ...
    @overload
    def choice(self, choices: Mapping[str, str], *flags: str) -> str | None: ...
    def choice(self, choices: Mapping[str, str], *flags: str, default: str | None = None) -> str | None:
        """Return what the value of a flag stands for."""
        if (text := self.text(*flags)) is None:
            return default
        if text not in choices:
            raise ValueError(f"{flags[0]}: {text[:80]!r} is not known; known are {', '.join(choices)}")
        return choices[text]

    def leave(self, flag: str, value: str) -> None:
        """Note that a value of a flag that was asked for has no meaning here."""
        self._unused.append(f"{flag} {value}")

    def ignored(self) -> list[str]:
        """Return the flags that no question was about and the values that were left, sorted."""
        return sorted((*(self._values.keys() - self._asked), *self._unused))


def parse(text: str, section: str | None = None) -> Arguments:
    """Return the flags of `text`: a command line, or YAML that holds them as a mapping, under `section` if any.

    >>> parse("--num-layers 32 --swiglu --hidden-size=4096").number("--hidden-size")
    4096
    """
    if len(text) > _LARGEST_TEXT:
        raise ValueError(f"larger than {_LARGEST_TEXT} characters")
    return Arguments(_mapping(text, section) if _is_yaml(text, section) else _flags(text))


def _is_yaml(text: str, section: str | None) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    under_section = bool(section) and any(line.startswith(f"{section}:") for line in lines)
    return under_section or bool(lines and re.match(r"--[\w-]+:", lines[0]))


def _mapping(text: str, section: str | None) -> dict[str, str]:
    content = plain_yaml.load(text)
    flags = content.get(section, content) if isinstance(content, dict) else content
    if not isinstance(flags, dict):
        raise ValueError(f"{section or 'YAML'}: expected flags and their values")
    return {key: _joined(value) for key, value in flags.items() if isinstance(key, str) and key.startswith("--")}


def _joined(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) and all(isinstance(v, str) for v in value) else str(value)


def _flags(text: str) -> dict[str, str]:
    try:
        tokens = shlex.split(re.sub(r"\\\s*\n", " ", text), comments=True)
    except ValueError as error:
        raise ValueError(f"not a command line: {error}") from None
    flags: dict[str, list[str]] = {}
    current: list[str] | None = None
    for token in tokens:
        if token.startswith("--"):
            flag, equals, value = token.partition("=")
            current = flags[flag] = [value] if equals else []
        elif current is not None and token not in SHELL:
            current.append(token)
    if not flags:
        raise ValueError("no flags found: expected words that start with --")
    return {flag: " ".join(values) or "true" for flag, values in flags.items()}
