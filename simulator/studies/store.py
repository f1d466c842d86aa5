"""The rows of a study as they are done: JSON lines that a later start reads, so that a killed study goes on.

A row is known by the content hash of what it was computed from. A last line that was torn by a kill or a full disk
is cut off; what comes after it is computed again, so that a study that was interrupted ends with the same bytes as
one that was not. While a study runs its file is locked, so that a second start on the same folder says no.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from sys import intern
from typing import Any, TextIO

from simulator.errors import ScenarioError
from simulator.version import version

Row = dict[str, Any]
KEY = "key"


def key(*content: Any) -> str:
    """Return the hash of `content`, plain data, and of the version of the program."""
    text = json.dumps([version(), *content], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


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
        self.path = path
        self._file = _locked(path) if path else None
        try:
            self.rows: dict[str, Row] = _read(path) if path else {}
        except ScenarioError:
            self.close()
            raise

    def __contains__(self, one: str) -> bool:
        return one in self.rows

    def __getitem__(self, one: str) -> Row:
        return self.rows[one]

    def add(self, one: str, row: Row) -> Row:
        """Keep a row; it is in the file when this returns. Return it as a later start will read it."""
        line = json.dumps({KEY: one, **plain(row)}, ensure_ascii=False)
        if self._file is not None:
            try:
                self._file.write(line + "\n")
                self._file.flush()
            except OSError as error:
                raise ScenarioError(f"{self.path}: cannot be written: {error.strerror}") from None
        self.rows[one] = _row(json.loads(line))
        return self.rows[one]

    def close(self) -> None:
        """Close the file; what could not be written was said when it was added, and is not tried again."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


def _locked(path: Path) -> TextIO:
    """Return a file to append to, for this process alone; where files cannot be locked, just the file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ScenarioError(
            f"{path}: another study is writing here; wait until it is done, or choose another folder for --out"
        ) from None
    except (ImportError, OSError):
        pass
    return file


def _row(found: Row) -> Row:
    return {intern(name): value for name, value in found.items() if name != KEY}


def _read(path: Path) -> dict[str, Row]:
    """Return the rows of a file by key, after cutting off what follows the last whole line."""
    rows: dict[str, Row] = {}
    whole, torn = 0, b""
    try:
        with path.open("rb") as file:
            for line in file:
                found = _parsed(line)
                if found is None:
                    torn = line
                    break
                rows[found[KEY]] = _row(found)
                whole += len(line)
        size = path.stat().st_size
        if whole + len(torn) < size:
            raise ScenarioError(
                f"{path}: line {len(rows) + 1} is not a row of a study; choose another folder for --out"
            )
        if whole < size:
            with path.open("rb+") as file:
                file.truncate(whole)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    return rows


def _parsed(line: bytes) -> Row | None:
    if not line.endswith(b"\n"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get(KEY), str) else None
