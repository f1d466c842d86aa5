"""Files that somebody named: read whole within a bound, or refused in one sentence.

Who named a file decides what it may be. What stands in a scenario, a catalog or an import is a regular file: a device,
a pipe or a folder is refused before a byte is read, so that no name makes the program wait for ever or take all memory.
What a user names on the command line may be a pipe too, such as ``/dev/stdin`` or ``<(command)``, with the same bound.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from simulator.errors import ScenarioError

MISSING = "no such file"
"""The reason where nothing has that name, so that another may be meant."""
GZIP = b"\x1f\x8b"
"""How a gzip file begins."""
MOST_NAMES = 1000
"""Files of a folder that are looked at for the one that was meant."""
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)


class UnreadableError(ScenarioError):
    """A file cannot be read; `reason` says why, without its name."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{str(path)[:200]}: {reason}")
        self.reason = reason


def read(path: Path, *, largest: int, pipe: bool = False) -> bytes:
    """Return the bytes of a regular file, or with `pipe` also of a pipe or terminal, of at most `largest` bytes.

    Raises UnreadableError for anything else: what is missing, larger, no such file, or not permitted.
    """
    try:
        _check(os.stat(path).st_mode, path, pipe)  # before it is opened, which some devices take for an order
        number = os.open(path, os.O_RDONLY | _FLAGS | (0 if pipe else getattr(os, "O_NONBLOCK", 0)))
    except (OSError, ValueError) as error:
        raise UnreadableError(path, _refused(path, error)) from None
    with open(number, "rb") as file:
        _check(os.fstat(number).st_mode, path, pipe)
        return _bounded(file, path, largest)


def stdin(*, largest: int) -> bytes:
    """Return what stands on standard input, at most `largest` bytes; raises UnreadableError."""
    if sys.stdin is None:
        raise UnreadableError("<stdin>", "is closed; name a file, or give the text on standard input")
    return _bounded(sys.stdin.buffer, "<stdin>", largest)


def text(path: Path, *, largest: int, pipe: bool = False) -> str:
    """Return the UTF-8 text of a file as `read` opens it, plain or gzip; raises UnreadableError."""
    return decoded(unpacked(read(path, largest=largest, pipe=pipe), path, largest), path)


def decoded(content: bytes, path: Path | str) -> str:
    """Return UTF-8 text, without the mark that some editors begin it with; raises UnreadableError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnreadableError(f"{path}:{line}", f"not UTF-8 text (byte {error.start})") from None


def unpacked(content: bytes, path: Path | str, largest: int) -> bytes:
    """Return what a gzip file holds, at most `largest` bytes, and anything else as it is; raises UnreadableError."""
    if not content.startswith(GZIP):
        return content
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = unpacking.decompress(content, largest)
    except zlib.error as error:
        raise UnreadableError(path, f"no gzip file that can be read: {error}") from None
    if unpacking.unconsumed_tail:
        raise UnreadableError(path, f"unpacks to more than {largest:,} bytes; give the part that matters")
    if not unpacking.eof:
        raise UnreadableError(path, "a gzip file that was cut off")
    return content


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def hint(path: Path, error: UnreadableError) -> str:
    """Return what may have been meant by a name that nothing has, after a semicolon, or nothing."""
    if error.reason != MISSING:
        return ""
    try:
        names = {item.name for _, item in zip(range(MOST_NAMES), path.parent.iterdir(), strict=False)}
    except OSError:
        return f"; there is no folder {str(path.parent)[:200]}"
    near = get_close_matches(path.name[:200], names, n=1)
    return f"; did you mean {path.parent / near[0]}?" if near else ""


def _check(mode: int, path: Path, pipe: bool) -> None:
    if not (stat.S_ISREG(mode) or (pipe and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)))):
        raise UnreadableError(path, f"is {_kind(mode)}, not a file")


def _bounded(file: BinaryIO, path: Path | str, largest: int) -> bytes:
    try:
        content = file.read(largest + 1)
    except (OSError, ValueError) as error:
        raise UnreadableError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > largest:
        raise UnreadableError(path, f"is larger than {largest:,} bytes")
    return content


def _refused(path: Path, error: OSError | ValueError) -> str:
    """Return why a file could not be opened."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "is a link to a file that does not exist" if os.path.islink(path) else MISSING
    number = getattr(error, "errno", None)
    if number == errno.ELOOP:
        return "is a link that leads back to itself"
    if number == errno.ENAMETOOLONG:
        return "is too long for the name of a file"
    if isinstance(error, PermissionError):
        return "may not be read: permission denied"
    if isinstance(error, ValueError):
        return "is not the name of a file"
    return f"cannot be read: {error.strerror or error}"


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "no regular file")
