"""YAML text to a document: safe, every scalar as text, and all mistakes with their place.

The parser's events are read one by one instead of a loaded tree: nothing is constructed or executed, and size,
depth and the copies that aliases make are bounded before they cost anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from simulator.scenario.document import DEEPEST, Failed, Items, Keys, Left, Place, Table, Word, place_of
from simulator.scenario.mistakes import Mistakes

LARGEST = 1_000_000
"""Bytes of a scenario; the longest one that is shipped has two thousand."""
MOST_WORDS = 50_000
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _StopError(Exception):
    """The rest cannot be read."""


def read(text: str, source: str | Place, mistakes: Mistakes) -> Any:
    """Return the document in `text`, or None after a mistake that leaves nothing to read.

    With a place for `source`, all words stand there: the text is short and has no lines.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        place = source if isinstance(source, Place) else Place(source)
        mistakes.add_at(place, (), "not UTF-8 text")
        return None
    reader = _Reader(text, source, mistakes)
    try:
        return reader.document()
    except yaml.MarkedYAMLError as error:
        place = reader.place(error.problem_mark or error.context_mark)
        mistakes.add_at(place, (), f"not YAML: {_problem(error)}")
    except yaml.YAMLError as error:
        mistakes.add_at(reader.place(None), (), f"not text that YAML allows: {str(error).splitlines()[0]}")
    except _StopError:
        pass
    return None


class _Reader:
    def __init__(self, text: str, source: str | Place, mistakes: Mistakes) -> None:
        self.events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self.source, self.mistakes = source, mistakes
        self.path: Keys = ()
        self.words = 0

    def document(self) -> Any:
        start = next(self.events)
        if isinstance(next(self.events), yaml.StreamEndEvent):
            self.stop(self.place(start.start_mark), "empty; `foretrain new` writes a scenario to start from")
        content = self.node(next(self.events), 0)
        next(self.events)
        if not isinstance(more := next(self.events), yaml.StreamEndEvent):
            self.stop(self.place(more.start_mark), "a second document begins here; a file holds one scenario")
        return content

    def node(self, event: Any, depth: int) -> Any:
        place = self.place(event.start_mark)
        self.count(place)
        if isinstance(event, yaml.AliasEvent):
            self.stop(place, f"aliases such as `*{event.anchor}` are not read; write the value out")
        if depth > DEEPEST:
            self.stop(place, f"nested more than {DEEPEST} deep")
        made = self.content(event, depth)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.mistakes.add_at(place, self.path, f"tags such as `{tag[:40]}` are not read; remove it")
            made = Failed()
        made.place = place
        return made

    def content(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(depth)
        items = Items()
        while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(item, depth + 1))
        return items

    def scalar(self, event: Any) -> Any:
        if event.implicit[0] and event.value in ("null", "Null", "NULL", "~"):
            return Left()
        return Word(event.value)

    def mapping(self, depth: int) -> Table:
        table = Table()
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            place = self.place(event.start_mark)
            key = self.node(event, depth + 1)
            above, self.path = self.path, (*self.path, str(key))
            value = self.node(next(self.events), depth + 1)
            self.path = above
            if not isinstance(key, Word):
                self.mistakes.add_at(place, (), "a key is a word, not a list or a mapping")
            elif key in table:
                first = place_of(table, (key,), key=True)
                self.mistakes.add_at(
                    place, (*self.path, key), f"given twice, first in line {first.line if first else '?'}"
                )
            elif key == "<<":
                self.mistakes.add_at(
                    place, (*self.path, key), "merge keys are not read; write `base: NAME` to start from an entry"
                )
            else:
                table[key] = value
        return table

    def count(self, place: Place) -> None:
        self.words += 1
        if self.words > MOST_WORDS:
            self.stop(place, f"more than {MOST_WORDS} words; a scenario is a short file")

    def place(self, mark: Any) -> Place:
        if isinstance(self.source, Place):
            return self.source
        return Place(self.source, mark.line + 1, mark.column + 1) if mark else Place(self.source)

    def stop(self, place: Place, message: str) -> None:
        self.mistakes.add_at(place, (), message)
        raise _StopError


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = (error.problem or error.context or "cannot be read").strip()
    if "mapping values are not allowed" in problem:
        return "a `:` that belongs to no key; quote text that contains `: `"
    if "tab" in problem or "cannot start any token" in problem:
        return f"{problem}; indent with spaces, and quote text that begins with a special character"
    return problem
