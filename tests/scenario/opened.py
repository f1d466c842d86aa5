"""What is opened while a block runs, as the interpreter itself reports it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import simulator

PROGRAM = [Path(simulator.__file__).parents[1], *map(Path, dict.fromkeys((sys.prefix, sys.base_prefix)))]
"""The program, its data and its libraries, which are none of a user's files."""


class _Watch:
    """An audit hook stays until the process ends; it notes while there is a list to write on."""

    def __init__(self) -> None:
        self.found: set[Path] | None = None
        self.installed = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.found is not None and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            self.found.add(Path(os.path.realpath(os.fsdecode(arguments[0]))))


_watch = _Watch()


@contextmanager
def opened() -> Iterator[set[Path]]:
    """Yield the set of files that are opened in the block, but for those of the program."""
    if not _watch.installed:
        sys.addaudithook(_watch)
        _watch.installed = True
    found: set[Path] = set()
    _watch.found = found
    try:
        yield found
    finally:
        _watch.found = None
        found -= {path for path in found if any(path.is_relative_to(os.path.realpath(root)) for root in PROGRAM)}
