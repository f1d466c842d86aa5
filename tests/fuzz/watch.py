"""What the interpreter itself reports while a command runs: what is opened, listed, written, started or contacted.

Nothing of the program is imported here, so that a process is watched from its first line on. What a C library opens
by itself (a device, a font of FreeType) is not reported; what Python opens is, whichever library asked for it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OPENS, LISTS, WRITES, MAKES, STARTS = "opens", "lists", "writes", "makes", "starts"
FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
"""Events that change what is at the paths that come first."""
TWO_PATHS = {"os.rename", "os.link", "os.symlink"}
NEVER = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind"}

SEARCHED = {path for path in sys.path if os.path.isabs(path)}
"""Folders that Python lists to find modules; the checkout is one of them, and its other files are none of ours."""
PYTHON = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *SEARCHED} - {str(ROOT)}
OWN = {str(ROOT / part) for part in ("simulator", "topologies", "scenarios", "pyproject.toml", "tests/fuzz")}
LIBRARIES = {
    "/dev/null": "what is thrown away",
    "/proc/self/fd": "subprocess, before it starts a worker",
    "/usr/share/fonts": "Matplotlib, when it first draws",
    "/usr/local/share/fonts": "Matplotlib",
    "/usr/X11R6/lib/X11/fonts": "Matplotlib",
    "/etc/mime.types": "mimetypes, for Streamlit",
}
"""What a library reads that no scenario names, and which library it is."""
BY_NAME = {
    "matplotlib": "a folder where Matplotlib keeps its list of fonts",
    ".matplotlib": "the same on other systems",
    "matplotlibrc": "settings of Matplotlib, which it looks for where it is started; the house style replaces them",
}
KNOWN = tuple({os.path.realpath(path) for path in {*PYTHON, *OWN, *LIBRARIES}} | PYTHON | OWN | set(LIBRARIES))

Event = tuple[str, str]
"""One of the five words above, and a path or what was started."""


class Watch:
    """An audit hook that passes on what happens; such a hook stays until the process ends, and may be switched off."""

    def __init__(self, tell: Callable[[str, str], None] | None = None) -> None:
        self.tell = tell

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.tell is None:
            return
        if event in NEVER:
            self.tell(STARTS, f"{event} {arguments!r:.200}")
        elif event in CHANGES:
            for path in arguments[: 2 if event in TWO_PATHS else 1]:
                self._note(WRITES, path)
        elif event == "os.mkdir":
            self._note(MAKES, arguments[0])
        elif event == "open":
            self._note(WRITES if isinstance(arguments[2], int) and arguments[2] & FLAGS else OPENS, arguments[0])
        elif event in ("os.listdir", "os.scandir"):
            self._note(LISTS, arguments[0] if arguments and arguments[0] is not None else ".")

    def _note(self, what: str, path: Any) -> None:
        if isinstance(path, str | bytes | os.PathLike):
            name = os.fsdecode(path)
            assert self.tell is not None
            self.tell(what, os.path.realpath(name) if what in (WRITES, MAKES) else os.path.abspath(name))


def beyond(events: Iterable[Event], named: Iterable[str] = (), written: Iterable[str] = ()) -> list[str]:
    """Return what happened outside of what was named: paths that may be read, and paths that may be written.

    A path stands for all below it. The folder that a named file is in may be listed, for "did you mean"; the folders
    above a file that is written may be made, and a part of it may stand beside it under its name with a dot before.
    """
    may_read, may_write = _both(named), _both(written)
    around = {os.path.dirname(path) for path in may_read}
    parts = tuple(os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:100]}") for path in may_write)
    found = []
    for what, path in dict.fromkeys(events):
        if what == STARTS:
            found.append(f"{what} {path}")
        elif path != os.devnull and not BY_NAME.keys() & set(path.split("/")):
            allowed = may_write if what in (WRITES, MAKES) else (*may_read, *may_write, *KNOWN)
            fits = _below(path, allowed)
            fits |= what == LISTS and path in around.union(SEARCHED, sys.path)
            fits |= what == WRITES and path.startswith(parts) and os.path.dirname(path) in map(os.path.dirname, parts)
            fits |= what == MAKES and any(_below(one, [path.rstrip("/")]) for one in may_write)
            found += [] if fits else [f"{what} {path}"]
    return found


def _both(paths: Iterable[str]) -> tuple[str, ...]:
    """Return each path as it is spelled and as it really is."""
    return tuple({spelled for path in paths for spelled in (os.path.abspath(path), os.path.realpath(path))})


def _below(path: str, folders: Iterable[str]) -> bool:
    spellings = {path, os.path.realpath(path)}
    return any(one == folder or one.startswith(f"{folder}/") for folder in folders for one in spellings)
