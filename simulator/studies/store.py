"""The rows of a study as they are done, kept so that a killed study goes on, and an answer only to what was asked.

A row is known by the content hash of what was asked: the text of the scenario, its changes, the catalogs, the plugins,
the version.
With it stands what every file held that was opened for it. A row whose files hold something else now is worked out
again, and so is one for which a file could not be read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from sys import intern
from typing import Any, Protocol

from simulator import plugins
from simulator.scenario.beside import UNREAD
from simulator.studies.lines import KEY, KEY_LETTERS, Lines, line
from simulator.version import version

Row = dict[str, Any]
FILES = "files"
"""Where a row that was just worked out says which files were opened for it, as `Scenario.files` does."""


class Folder(Protocol):
    def digest(self, file: str) -> str:
        """Return the SHA-256 of a file that a scenario names, as it is now; ``UNREAD`` where it cannot be read."""


class Asked(Protocol):
    """One question of a study; it travels to other processes."""

    @property
    def key(self) -> str:
        """The content hash of what is asked."""

    @property
    def base(self) -> Folder:
        """Where its files are looked for."""


def key(*content: Any) -> str:
    """Return the hash of `content`, plain data, of the version of the program, and of the plugins that are loaded."""
    brought = sorted(plugin.sha256 for plugin in plugins.loaded())
    text = json.dumps([version(), brought, *content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LETTERS]


def plain(value: Any) -> Any:
    """Return `value` as JSON has it: what is infinite or unknown is null."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


class Store:
    """The rows in one file; without one they are kept for this start only."""

    def __init__(self, path: Path | None = None) -> None:
        self._lines = Lines(path) if path else None
        self._earlier: dict[str, list[tuple[dict[str, str], Row]]] = {}
        """Rows of earlier starts by their key, each with the files that were opened for it."""
        self._now: dict[tuple[str, Folder], Row] = {}
        """Rows of this start, by what was asked."""
        try:
            for found in self._lines.read() if self._lines else ():
                self._earlier.setdefault(found.pop(KEY), []).append((_files(found), _row(found)))
        except BaseException:
            self.close()
            raise

    @property
    def damaged(self) -> int:
        """Lines of the file that are not as they were written."""
        return self._lines.damaged if self._lines else 0

    def __contains__(self, one: Asked) -> bool:
        return self.get(one) is not None

    def get(self, one: Asked) -> Row | None:
        """Return the row of what is asked: of this start, or of an earlier one if its files are as they were."""
        if (found := self._now.get((one.key, one.base))) is not None:
            return found
        for files, row in self._earlier.get(one.key, ()):
            if all(one.base.digest(name) == was for name, was in files.items()):
                return row
        return None

    def add(self, one: Asked, row: Row) -> Row:
        """Keep a row, and return it as a later start reads it; it is in the file when this returns.

        One for which a file could not be read is kept for this start only.
        """
        said = json.loads(json.dumps(plain(row)))
        files = _files(said)
        if self._lines and UNREAD not in files.values():
            self._lines.append(line(one.key, {**said, FILES: files} if files else said))
        return self._now.setdefault((one.key, one.base), _row(said))

    def close(self) -> None:
        if self._lines:
            self._lines.close()


def _files(row: Row) -> dict[str, str]:
    """Take the files off a row."""
    return {intern(name): intern(was) for name, was in row.pop(FILES, {}).items()}


def _row(row: Row) -> Row:
    return {intern(name): value for name, value in row.items()}
