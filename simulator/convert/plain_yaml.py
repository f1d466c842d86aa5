"""YAML as plain data: mappings, lists and text, nothing constructed, no aliases that multiply."""

from __future__ import annotations

from typing import Any

import yaml

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
DEEPEST = 100
"""Mappings and lists inside each other; PyYAML builds them one inside the other and ends the process far beyond."""


class NotPlainError(ValueError):
    """The text is not YAML, or says more than data; `line` and `column` count from 1, 0 where unknown."""

    def __init__(self, message: str, mark: Any = None) -> None:
        self.message = message
        self.line: int = mark.line + 1 if mark else 0
        self.column: int = mark.column + 1 if mark else 0
        super().__init__(f"line {self.line}, column {self.column}: {message}" if mark else message)


def load(text: str) -> Any:
    """Return what `text` says, every scalar as text.

    >>> load("a: [1, 2]")
    {'a': ['1', '2']}
    """
    try:
        _check(text)
        return yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        problem = error.problem or error.context or "cannot be read"
        raise NotPlainError(f"not YAML: {problem}", error.problem_mark or error.context_mark) from None
    except yaml.YAMLError as error:
        raise NotPlainError(f"not text that YAML allows: {str(error).partition(chr(10))[0]}") from None
    except UnicodeEncodeError:
        raise NotPlainError("not UTF-8 text") from None


def _check(text: str) -> None:
    """Refuse aliases, and what is nested too deep, before anything is built."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            name = str(event.anchor)[:40]
            raise NotPlainError(f"aliases such as `*{name}` are not read; write the value out", event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise NotPlainError(f"nested more than {DEEPEST} deep", event.start_mark)
