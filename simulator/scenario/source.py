"""Where the text of a scenario comes from: a file, standard input, or the text itself."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import NamedTuple

from simulator.errors import ScenarioError
from simulator.scenario.yaml_text import LARGEST


class Source(NamedTuple):
    text: str
    name: str
    """What messages call it."""
    folder: Path
    """Files that the scenario names are looked for here."""
    stem: str


def load(path_or_text: Path | str) -> Source:
    """Return the text that `path_or_text` means; a str with a line break is the text itself, ``-`` is stdin."""
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        if len(path_or_text) > LARGEST:
            raise ScenarioError(f"<text>: larger than {LARGEST:,} characters; a scenario is a short file")
        return Source(path_or_text, "<text>", Path(), "scenario")
    if str(path_or_text) == "-":
        return Source(_decoded(sys.stdin.buffer.read(LARGEST + 1), "<stdin>"), "<stdin>", Path(), "scenario")
    path = Path(path_or_text)
    try:
        if path.is_dir():
            raise ScenarioError(f"{path}: is a directory, not a scenario{_inside(path)}")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file{_similar(path)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{str(path)[:200]!r}: cannot be read: {reason}") from None
    return Source(_decoded(content, str(path)), str(path), path.parent, path.stem)


def _decoded(content: bytes, name: str) -> str:
    if len(content) > LARGEST:
        raise ScenarioError(f"{name}: larger than {LARGEST:,} bytes; a scenario is a short text file")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ScenarioError(f"{name}: is UTF-16; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ScenarioError(
            f"{name}:{line}: not UTF-8 text (byte {error.start}); a scenario is a YAML text file"
        ) from None


def _inside(folder: Path) -> str:
    found = sorted(path.name for path in folder.glob("*.yaml"))[:3]
    return f"; did you mean one of {', '.join(found)} in it?" if found else ""


def _similar(path: Path) -> str:
    try:
        names = [item.name for item in path.parent.iterdir()]
    except OSError:
        return f"; there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {path.parent / near[0]}?" if near else ""
