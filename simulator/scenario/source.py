"""Where the text of a scenario comes from: a file, standard input, or the text itself."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from simulator.errors import ScenarioError
from simulator.io import files
from simulator.scenario.yaml_text import LARGEST


class Source(NamedTuple):
    text: str
    name: str
    """What messages call it."""
    folder: Path
    """Files that the scenario names are looked for here."""
    stem: str


def load(path_or_text: Path | str) -> Source:
    """Return the text that `path_or_text` means; a str with a line break is the text itself, ``-`` is stdin.

    The path may be that of a pipe: whoever names a scenario is at the command line. What a text or a pipe names is
    looked for where the program was started.
    """
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        if len(path_or_text) > LARGEST:
            raise ScenarioError(f"<text>: larger than {LARGEST:,} characters; a scenario is a short file")
        return Source(path_or_text, "<text>", Path(), "scenario")
    if str(path_or_text) == "-":
        return Source(_decoded(files.stdin(largest=LARGEST), "<stdin>"), "<stdin>", Path(), "scenario")
    path = Path(path_or_text)
    try:
        content = files.read(path, largest=LARGEST, pipe=True)
    except files.UnreadableError as error:
        raise ScenarioError(f"{error}{_inside(path) or files.hint(path, error)}") from None
    text = _decoded(content, path)
    folder, stem = (Path(), "scenario") if streams(path) else (path.parent, path.stem)
    return Source(text, str(path), folder, stem)


def streams(path: Path) -> bool:
    """Return whether a path is that of a pipe or of an open file, which may be read only once."""
    return path.parts[:2] in (("/", "dev"), ("/", "proc")) or not path.is_file()


def _decoded(content: bytes, name: Path | str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ScenarioError(f"{name}: is UTF-16; save it as UTF-8")
    return files.decoded(content, name)


def _inside(folder: Path) -> str:
    """Return which scenarios stand in what turned out to be a folder."""
    try:
        found = sorted(path.name for path in folder.glob("*.yaml"))[:3] if folder.is_dir() else []
    except (OSError, ValueError):
        return ""
    return f"; did you mean one of {', '.join(found)} in it?" if found else ""
