"""Files that are written: one that the user names, as it comes; those of a folder of results, never through a link."""

from __future__ import annotations

import os
import re
from errno import ENAMETOOLONG
from pathlib import Path

from simulator.errors import ScenarioError

_PART = re.compile(r"\..+\.[0-9]+\.part")
"""Names of files that are not whole yet."""


def write(path: Path, content: str | bytes) -> None:
    """Write a file that the user named, whole or not at all; a link, a device or a pipe as it comes."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(_bytes(content))
        else:
            make(path.parent)
            _replace(path, content)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None


def fill(folder: Path, name: str, content: str | bytes) -> None:
    """Write the file `name` of a folder of results, whole or not at all.

    The folder may be a link, since the user named it; nothing in it is written through one. A link in the place of the
    file is replaced, one in the place of a folder below is refused.
    """
    path = folder / name
    try:
        for below in list(Path(name).parents)[:-1]:
            if (folder / below).is_symlink():
                raise ScenarioError(f"{folder / below}: is a link, and nothing is written through one; remove it")
        make(path.parent)
        _replace(path, content)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None


def make(folder: Path) -> None:
    """Make a folder and those above it; raise OSError where that cannot be, for so many that Python gives up too."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except RecursionError:
        raise OSError(ENAMETOOLONG, os.strerror(ENAMETOOLONG)) from None


def sweep_up(folder: Path) -> None:
    """Remove what a writer that was killed left half written in a folder of results; nobody else may write there."""
    for path in folder.glob(".*.part"):
        if _PART.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _replace(path: Path, content: str | bytes) -> None:
    """Put a new file in the place of what is there."""
    part = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with part.open("xb") as file:
            file.write(_bytes(content))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _bytes(content: str | bytes) -> bytes:
    """Return text as UTF-8; letters that are none, from names of files that are no UTF-8, as ``\\udcff``."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
