"""Kinds that a user brings: a file of Python that ``--plugin`` names, whose classes join the open sets.

A scenario is data and names no plugin, so that opening somebody's scenario runs nobody's code. A plugin is one file; it
is run once, under a name made of its content, and so is its text in every process that works for this one.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from simulator.errors import ScenarioError
from simulator.io import files
from simulator.kinds import is_open, members

LARGEST = 1_000_000
"""Bytes of a plugin."""
PREFIX = "foretrain_plugin_"
"""How the names of their modules begin."""


class Source(NamedTuple):
    """A plugin as it travels to other processes: the file as it was named, and what it held."""

    file: str
    content: bytes

    @property
    def sha256(self) -> str:
        return files.digest(self.content)

    @property
    def module(self) -> str:
        return f"{PREFIX}{self.sha256[:16]}"


@dataclass(frozen=True)
class Plugin:
    """A plugin that is loaded."""

    file: str
    sha256: str
    kinds: tuple[str, ...]
    """What it brings, such as ``schedule my-1f1b``."""


_LOADED: dict[str, tuple[Source, Plugin]] = {}
"""By module, in the order in which they were loaded."""


def load(named: Iterable[Path | str]) -> tuple[Plugin, ...]:
    """Run the files that are named and return what they bring; one that was loaded as it is now is not run again.

    Raises ScenarioError for a file that cannot be read or run, that brings no kind, or one whose name is taken.
    """
    return tuple(_installed(Source(str(file), _read(Path(file)))) for file in named)


def become(wanted: Iterable[Source]) -> None:
    """Load what files held in the process that this one works for, and nothing else; raises as `load` does."""
    wanted = tuple(wanted)
    for source in sources():
        if source not in wanted:
            _drop(source)
    for source in wanted:
        _installed(source)


def sources() -> tuple[Source, ...]:
    """Return the plugins that are loaded, for another process to install."""
    return tuple(source for source, _ in _LOADED.values())


def loaded() -> tuple[Plugin, ...]:
    """Return the plugins that are loaded."""
    return tuple(plugin for _, plugin in _LOADED.values())


def blamed(error: BaseException) -> str | None:
    """Return what a plugin raised and in which line, or None where no plugin has a part in `error`.

    An error of another process comes with its traceback as text.
    """
    told = "".join(traceback.format_exception(error)).splitlines()
    for line in reversed(told):
        for source in sources():
            head = f'File "{source.file}", line '
            if head in line:
                number = line.partition(head)[2].partition(",")[0]
                return f"{source.file}:{number}: {type(error).__name__}: {error}"
    return None


def _installed(source: Source) -> Plugin:
    """Load a plugin unless it is; one that was loaded from the same file with another content is replaced."""
    if source.module not in _LOADED:
        for before in sources():
            if before.file == source.file:
                _drop(before)
        _LOADED[source.module] = source, _run(source)
    return _LOADED[source.module][1]


def _drop(source: Source) -> None:
    del _LOADED[source.module]
    _forget(sys.modules.pop(source.module))


def _read(file: Path) -> bytes:
    try:
        return files.read(file, largest=LARGEST)
    except files.UnreadableError as error:
        raise ScenarioError(f"--plugin {error}{files.hint(file, error)}") from None


def _run(source: Source) -> Plugin:
    """Run a plugin; where that fails, nothing of it is left behind."""
    text = files.decoded(source.content, f"--plugin {source.file}")
    module = ModuleType(source.module)
    module.__file__ = source.file
    sys.modules[source.module] = module  # where dataclasses look names up, and pickle
    linecache.cache[source.file] = len(text), None, text.splitlines(keepends=True), source.file
    try:
        _execute(text, source, module)
        return Plugin(source.file, source.sha256, tuple(_brought(module, source)))
    except ScenarioError:
        _forget(sys.modules.pop(source.module))
        raise


def _execute(text: str, source: Source, module: ModuleType) -> None:
    try:
        exec(compile(text, source.file, "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        place = f"{error.filename}:{error.lineno}" if error.filename else source.file
        raise ScenarioError(f"--plugin {place}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        own = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == source.file]
        place = f"{source.file}:{own[-1]}" if own else source.file
        raise ScenarioError(f"--plugin {place}: {type(error).__name__}: {error}") from None


def _brought(module: ModuleType, source: Source) -> Iterator[str]:
    """Yield what a module brings; raises ScenarioError where that is nothing, or something that is there already."""
    found = [(cls, base) for cls in _classes(module) if "kind" in vars(cls) for base in cls.__mro__ if is_open(base)]
    if not found:
        raise ScenarioError(
            f"--plugin {source.file}: defines no kind; expected a class with a `kind` that extends Schedule, Topology, "
            f"Optimizer or another open base (docs/how-to/write-a-kind.md)"
        )
    for cls, base in found:
        kind: Any = vars(cls)["kind"]
        called = f"{base.__name__.lower()} {kind}"
        if not isinstance(kind, str) or not kind:
            raise ScenarioError(f"--plugin {source.file}: {cls.__name__}.kind: expected text, found {kind!r}")
        if inspect.isabstract(cls):
            missing = ", ".join(sorted(cls.__abstractmethods__))  # type: ignore[attr-defined]
            raise ScenarioError(f"--plugin {source.file}: {called}: {cls.__name__} does not define {missing}")
        others = [one for one in _rivals(base, kind) if _name(one) != _name(cls)]
        if others:
            where = others[0].__module__
            owner = next((one.file for one in sources() if one.module == where), where)
            raise ScenarioError(f"--plugin {source.file}: {called}: this name is taken by {owner}; choose another one")
        yield called


def _rivals(base: type, kind: str) -> list[type]:
    """Return all classes of one kind, those included that a later one hides."""
    members(base)
    found, left = [], [base]
    while left:
        cls = left.pop()
        left += cls.__subclasses__()
        if vars(cls).get("kind") == kind:
            found.append(cls)
    return found


def _name(cls: type) -> tuple[str, str]:
    """Return what tells classes apart; a dataclass with slots is made twice under one name."""
    return cls.__module__, cls.__qualname__


def _classes(module: ModuleType) -> list[type]:
    return [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]


def _forget(module: ModuleType) -> None:
    """Take the names off the kinds of a module, so that nobody finds them however long the classes live."""
    for cls in _classes(module):
        if "kind" in vars(cls):
            del cls.kind  # type: ignore[attr-defined]
