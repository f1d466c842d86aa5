"""The file of a study's rows: one line of JSON a row, with a checksum, for one process at a time.

A last line that was torn by a kill or a full disk is cut off. A line that is not what was written counts for nothing.
A file that does not begin as one of ours is somebody else's, and is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from simulator.errors import ScenarioError
from simulator.io.writing import make

KEY = "key"
KEY_LETTERS = 24
_FIRST = b'{"key": "' + b"0" * KEY_LETTERS + b'"'
"""How a line begins, with zeros for what is different."""
_LINE = re.compile(rb'(\{"key": "[0-9a-f]{24}".*), "check": "([0-9a-f]{16})"\}\n')


def line(key: str, columns: Mapping[str, Any]) -> bytes:
    """Return a row as its line; `columns` are plain data."""
    body = json.dumps({KEY: key, **columns}).removesuffix("}").encode()
    return b'%s, "check": "%s"}\n' % (body, _check(body))


def parsed(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, its key included; None where it is not as it was written."""
    found = _LINE.fullmatch(line)
    if found is None or _check(found[1]) != found[2]:
        return None
    try:
        row: dict[str, Any] = json.loads(found[1] + b"}")
    except (ValueError, RecursionError):
        return None
    return row


class Lines:
    """The file while a study has it."""

    def __init__(self, path: Path) -> None:
        """Open and lock the file; raises ScenarioError where another study has it or where it cannot be written."""
        self.path = path
        self.damaged = 0
        """Lines that are not as they were written."""
        self._file = _opened(path)

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of earlier starts; raises ScenarioError where they are none."""
        whole = 0
        try:
            self._file.seek(0)
            for found in self._file:
                if not whole and not _begins(found):
                    raise ScenarioError(f"{self.path}: line 1 is not a row of a study; choose another folder for --out")
                if not found.endswith(b"\n"):
                    self._file.truncate(whole)
                    break
                row = parsed(found)
                if row is None:
                    self.damaged += 1
                else:
                    yield row
                whole += len(found)
        except OSError as error:
            raise ScenarioError(f"{self.path}: cannot be read: {error.strerror}") from None

    def append(self, line: bytes) -> None:
        """Write a line; it is in the file when this returns."""
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise ScenarioError(f"{self.path}: cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Close the file; what could not be written was said when it was added, and is not tried again."""
        with suppress(OSError):
            self._file.close()


def _check(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:16].encode()


def _begins(line: bytes) -> bool:
    """Return whether a line, torn or whole, begins as a row does."""
    start, stop = len(b'{"key": "'), len(_FIRST) - 1
    return _FIRST.startswith(line[:start] + re.sub(rb"[0-9a-f]", b"0", line[start:stop]) + line[stop : stop + 1])


def _opened(path: Path) -> BinaryIO:
    """Return a file to read and to append to, for this process alone; never what a link leads to."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        make(path.parent)
        if path.is_symlink():
            raise ScenarioError(f"{path}: is a link, and rows are never written through one; remove it")
        file = os.fdopen(os.open(path, flags, 0o666), "a+b")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None
    regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    if regular and _locked(file):
        return file
    file.close()
    reason = "another study is writing here; wait until it is done, or" if regular else "is no file of rows;"
    raise ScenarioError(f"{path}: {reason} choose another folder for --out")


def _locked(file: BinaryIO) -> bool:
    """Lock a file and return whether no other process has it; where files cannot be locked, nobody does."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True
