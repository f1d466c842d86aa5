"""What is known: GPUs, hosts, models, stacks, failures, prices, calibrations, one small file an entry.

Data only. Every scalar of a YAML entry is text, because YAML's own guess turns ``1:7`` into 67; the reader of a
field knows its unit. Every entry carries its ``source``. A name is looked up, never a path; a user's catalogs are
folders of the same shape, searched first.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from simulator.convert import plain_yaml
from simulator.convert.plain_yaml import NotPlainError
from simulator.errors import ScenarioError
from simulator.io import files

KINDS = ("gpu", "host", "model", "stack", "failures", "prices", "calibration")
_ROOT = Path(__file__).parent
_LARGEST_FILE = 2_000_000


class UnknownEntryError(ScenarioError, KeyError):
    """No such entry; ``suggestions`` holds the names that look like it."""

    def __init__(self, kind: str, name: str, suggestions: Sequence[str]) -> None:
        self.kind, self.name, self.suggestions = kind, name, tuple(suggestions)
        hint = f"; did you mean {' or '.join(self.suggestions)}?" if suggestions else ""
        super().__init__(f"no {kind} named {name[:80]!r} in the catalog{hint}")

    def __str__(self) -> str:
        return str(self.args[0])


def names(kind: str, catalogs: Sequence[Path | str] = ()) -> tuple[str, ...]:
    """Return the names of all entries of `kind`, sorted."""
    return tuple(sorted({path.stem for folder in _folders(kind, catalogs) for path in _files(folder)}))


def canonical(kind: str, name: str, catalogs: Sequence[Path | str] = ()) -> str:
    """Return the name of the entry that `name` or one of its aliases means; spaces and case do not matter."""
    for folder in _folders(kind, catalogs):
        if found := _stems(folder).get(_spelling(name)) or _spellings(folder).get(_spelling(name)):
            return found
    spellings = {s: n for folder in _folders(kind, catalogs) for s, n in _spellings(folder).items()}
    close = difflib.get_close_matches(_spelling(name)[:80], spellings, n=6, cutoff=0.6)
    raise UnknownEntryError(kind, name, list(dict.fromkeys(spellings[s] for s in close))[:3])


def entry(kind: str, name: str, catalogs: Sequence[Path | str] = ()) -> dict[str, Any]:
    """Return the YAML entry `name` of `kind` as mappings, lists and text."""
    found = canonical(kind, name, catalogs)
    for folder in _folders(kind, catalogs):
        if (path := folder / f"{found}.yaml") in _files(folder):
            return {key: _copied(value) for key, value in _read(path).items()}
    raise UnknownEntryError(kind, name, ())


def _copied(data: Any) -> Any:
    """Return mappings and lists of an entry once more, so that nobody changes what was read."""
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(value) for value in data] if isinstance(data, list) else data


def digest(folder: Path) -> str:
    """Return the hash of all entries of a catalog, which another content of any of them changes."""
    return files.digest(repr([(path.parent.name, path.name, _content(path)) for path in _entries(folder)]).encode())


def _entries(folder: Path) -> list[Path]:
    return [path for kind in KINDS for path in _files(folder / kind)]


def _content(path: Path) -> str:
    """Return the hash of a file, or why it cannot be read."""
    try:
        return files.digest(files.read(path, largest=_LARGEST_FILE))
    except files.UnreadableError as error:
        return error.reason


def csv_rows(kind: str, name: str, catalogs: Sequence[Path | str] = ()) -> tuple[dict[str, str], ...]:
    """Return the rows of the table `name` of `kind`, as text."""
    found = canonical(kind, name, catalogs)
    for folder in _folders(kind, catalogs):
        if (path := folder / f"{found}.csv") in _files(folder):
            return tuple(dict(row) for row in _rows(path))
    raise UnknownEntryError(kind, name, ())


def _folders(kind: str, catalogs: Sequence[Path | str]) -> tuple[Path, ...]:
    if kind not in KINDS:
        raise UnknownEntryError("kind of entry", kind, difflib.get_close_matches(kind, KINDS))
    return _below(kind, tuple(catalogs))


@lru_cache
def _below(kind: str, catalogs: tuple[Path | str, ...]) -> tuple[Path, ...]:
    return tuple(folder / kind for folder in (*map(Path, catalogs), _ROOT))


def _spelling(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


@lru_cache
def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for suffix in ("yaml", "csv") for path in folder.glob(f"*.{suffix}")))


@lru_cache
def _stems(folder: Path) -> dict[str, str]:
    """Map the spelling of each file's name to the name; no file is read for it."""
    return {_spelling(path.stem): path.stem for path in _files(folder)}


@lru_cache
def _spellings(folder: Path) -> dict[str, str]:
    """Map every spelling of a name in `folder` to the name; names win over aliases."""
    entries = (path for path in _files(folder) if path.suffix == ".yaml")
    aliases = {_spelling(alias): path.stem for path in entries for alias in _aliases(path)}
    return aliases | _stems(folder)


def _aliases(path: Path) -> list[str]:
    aliases = _read(path).get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise ScenarioError(f"{path}: aliases: expected a list of names")
    return aliases


@lru_cache(maxsize=4096)
def _read(path: Path) -> dict[str, Any]:
    try:
        content = plain_yaml.load(files.text(path, largest=_LARGEST_FILE))
    except NotPlainError as error:
        place = f"{path}:{error.line}:{error.column}" if error.line else f"{path}"
        raise ScenarioError(f"{place}: {error.message}") from None
    if not isinstance(content, dict) or not content.get("source"):
        raise ScenarioError(f"{path}: a catalog entry is a mapping with a `source`")
    return content


@lru_cache(maxsize=256)
def _rows(path: Path) -> tuple[dict[str, str], ...]:
    try:
        return tuple(csv.DictReader(io.StringIO(files.text(path, largest=_LARGEST_FILE), newline="")))
    except csv.Error as error:
        raise ScenarioError(f"{path}: cannot be read as a table: {error}") from None
