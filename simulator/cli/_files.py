"""Files that a user names: read whole, or refused with a sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from simulator.errors import ScenarioError

LARGEST = 20_000_000
"""Bytes; the longest log worth reading has some millions."""


def text_of(path: Path, largest: int = LARGEST) -> str:
    """Return the text of a file; ``-`` is stdin."""
    try:
        if str(path) == "-":
            content = sys.stdin.buffer.read(largest + 1)
        else:
            with path.open("rb") as file:
                content = file.read(largest + 1)
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file{_similar(path)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{str(path)[:200]}: cannot be read: {reason}") from None
    if len(content) > largest:
        raise ScenarioError(f"{path}: larger than {largest:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text (byte {error.start})") from None


def write(path: Path, text: str) -> None:
    """Write a file that the user asked for, whole or not at all; a link, a device or a pipe as it comes."""
    part = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(text, encoding="utf-8")
            return
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None


def _similar(path: Path) -> str:
    from difflib import get_close_matches

    try:
        names = [item.name for _, item in zip(range(1000), path.parent.iterdir(), strict=False)]
    except OSError:
        return f"; there is no folder {path.parent}"
    near = get_close_matches(path.name, names, n=1)
    return f"; did you mean {path.parent / near[0]}?" if near else ""
