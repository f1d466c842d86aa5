"""The address of a page: the scenario and the view, so that what is seen can be sent to someone else.

A shipped scenario stands there by its name; any other one with its whole text, compressed. A name in an address is
looked up among those that are shipped and the one that the server was started with, and is never a path. What an
address or a page says opens no file but those that the scenario named with which the server was started.
"""

from __future__ import annotations

import binascii
import os
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from simulator import shipped
from simulator.errors import ScenarioError
from simulator.scenario.source import load, streams
from simulator.scenario.yaml_text import LARGEST
from simulator.studies.point import Base

SCENARIO, TEXT, NAME, SET, VIEW = "scenario", "yaml", "name", "set", "view"
FIRST = "tutorial/3-failures"
"""What a page without an address shows."""
Parameters = Mapping[str, Sequence[str]]
Files = tuple[tuple[str, str], ...]
"""Names that may be opened, each with the file that it means."""


def write(base: Base, view: str = "") -> dict[str, list[str]]:
    """Return the parameters of the address that shows `base`."""
    if base.name in shipped.names() and base.source == str(shipped.find(base.name)):
        told = {SCENARIO: [base.name]}
    else:
        told = {NAME: [base.name], TEXT: [packed(load(base.source).text)]}
    return told | ({SET: list(base.changes)} if base.changes else {}) | ({VIEW: [view]} if view else {})


def started(given: Base) -> Base:
    """Return the scenario that a server is started with; from now on it opens only the files that it names now."""
    found = load(given.source)
    once = "\n" not in given.source and streams(Path(given.source))
    given = replace(given, source=f"{found.text}\n") if once else given
    return replace(given, only=tuple((name, str(found.folder / name)) for name, _ in given.read().files))


def read(parameters: Parameters, given: Base | None = None, catalogs: Sequence[str] = ()) -> Base:
    """Return what an address shows; `given` is the scenario that the server was started with."""
    changes, only = tuple(parameters.get(SET, ())), (given.only if given else None) or ()
    if text := first(parameters, TEXT):
        said, name = unpacked(text), first(parameters, NAME) or "scenario"
        if given is not None and given.name == name and load(given.source).text.strip() == said.strip():
            return Base(given.name, given.source, changes, tuple(catalogs), only)
        return replace(of_text(said, name, catalogs, only), changes=changes)
    name = first(parameters, SCENARIO)
    if not name and given is not None:
        return replace(given, changes=(*given.changes, *changes), only=only)
    if (name or FIRST) not in shipped.names():
        raise ScenarioError(f"no scenario named {name[:80]!r} is shipped; `foretrain catalog scenario` lists them")
    return Base(name or FIRST, str(shipped.find(name or FIRST)), changes, tuple(catalogs), only)


def of_text(text: str, name: str = "scenario", catalogs: Sequence[str] = (), only: Files = ()) -> Base:
    """Return the scenario that a text says; text of one line is still a text, never a path."""
    return Base(name, text if text.endswith("\n") else f"{text}\n", (), tuple(catalogs), only)


def looked_at(base: Base) -> Base:
    """Return `base` with how its files look now; answers about it from before one of them changed are forgotten."""
    paths = [base.source] if "\n" not in base.source else []
    paths += [file for _, file in base.only or ()]
    return replace(base, seen=tuple(part for path in paths for part in _look(path)))


def _look(path: str) -> tuple[int, int]:
    """Return when a file was written and how long it is; a file that is gone has neither."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


def first(parameters: Parameters, name: str) -> str:
    return next(iter(parameters.get(name, ())), "")


def packed(text: str) -> str:
    """Return a text as letters that an address may hold.

    >>> unpacked(packed("version: 1"))
    'version: 1'
    """
    return urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpacked(letters: str) -> str:
    """Return the text that `letters` hold; one that is too long, or torn, is a ScenarioError."""
    try:
        packed = urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
        reader = zlib.decompressobj()
        content = reader.decompress(packed, LARGEST + 1)
        if len(content) > LARGEST:
            raise ScenarioError(f"the scenario in the address is larger than {LARGEST:,} bytes")
        if not reader.eof:
            raise ScenarioError("the scenario in the address is torn; was the link cut off?")
        return content.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError, ValueError):
        raise ScenarioError("the scenario in the address cannot be read; was the link cut off?") from None
