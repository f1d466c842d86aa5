"""Whether the program keeps its word on an input: an exit code, a message, soon, and nothing written elsewhere."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doors import Door
from typer.testing import CliRunner

import simulator
from simulator.cli import app

ROOT = Path(simulator.__file__).parents[1]
SECONDS = 5.0
"""Of a processor, for an answer or a message."""
DRAWN = "report"
"""The door that draws a dozen pictures, of a large scenario for longer than that."""
LONG = (DRAWN, "plan-fit")
"""Doors of long work: pictures, and a fit of 4,500 starts to as many runs as a table holds."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ELSEWHERE = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
"""Events that change what is at the path that comes first."""
NEVER = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind"}
FONTS = {"matplotlib", ".matplotlib"}
"""Folders where Matplotlib, when it first draws, keeps its own list of fonts."""
LEAKS = re.compile(r"<class '|object at 0x|Traceback")
"""What no message says: the insides of Python."""

NO_NUMBER = r"(?<![\w-])(nan|inf|NaN|Infinity)(?![\w-])"


@dataclass(frozen=True)
class Outcome:
    code: int
    said: str
    """The message on stderr."""
    complaint: str | None
    """What is wrong with how the program took the input."""
    seconds: float


class _Watch:
    """What the interpreter itself reports while a command runs; such a hook stays until the process ends."""

    def __init__(self) -> None:
        self.found: list[str] | None = None
        self.allowed = ""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.found is None:
            return
        if event in NEVER:
            self.found.append(f"{event} {arguments!r:.200}")
        elif event in ELSEWHERE or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
            self.note(event, arguments[0])

    def note(self, event: str, path: Any) -> None:
        if isinstance(path, str | bytes | os.PathLike):
            where = os.path.realpath(os.fsdecode(path))
            if where != os.devnull and not where.startswith(self.allowed) and not FONTS & set(Path(where).parts):
                assert self.found is not None
                self.found.append(f"{event} {where}")


_watch = _Watch()


@contextmanager
def watched(out: Path) -> Iterator[list[str]]:
    """Yield the list of what is written outside `out`, of processes that are started and of machines asked."""
    if not getattr(_watch, "installed", False):
        sys.addaudithook(_watch)
        _watch.installed = True  # type: ignore[attr-defined]
    _watch.found, _watch.allowed = [], os.path.realpath(out)
    try:
        yield _watch.found
    finally:
        _watch.found = None


def tried(door: Door, text: bytes, folder: Path) -> Outcome:
    """Return what becomes of `text` at `door`; `folder` is empty and stays for a look at what was written."""
    arguments = door.command(folder, text)
    start = time.process_time()
    with watched(folder / "out") as written:
        done = CliRunner().invoke(app, arguments)
    seconds = time.process_time() - start
    return Outcome(done.exit_code, done.stderr, complaint(done, text, written, seconds, door.name), seconds)


def complaint(done: Any, given: bytes, written: list[str], seconds: float, door: str) -> str | None:
    """Return the first promise that is broken."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"traceback: {_where(done.exception)}"
    if done.exit_code not in (0, 1, 2):
        return f"exit code {done.exit_code}"
    if done.exit_code == 2 and not done.stderr.strip():
        return "exit code 2 without a message"
    if seconds > SECONDS and door not in LONG:
        return f"took {seconds:.1f} s"
    if written:
        return f"touched {written[0]}"
    leak = LEAKS.search(done.stderr) if done.exit_code == 2 else None
    if leak:
        return f"a message says {leak[0]!r}: {done.stderr[:300]}"
    echoes = door.startswith("import") or re.search(NO_NUMBER, given.decode("utf-8", "replace"))
    return None if done.exit_code == 2 else numbers(done.stdout, bool(echoes))


def numbers(text: str, echoes: bool) -> str | None:
    """Return what is no JSON in a result that should be, or no number in one that does not echo such a word."""
    if text.startswith("{"):
        wrong: list[str] = []
        try:
            json.loads(text, parse_constant=wrong.append)
        except ValueError as error:
            return f"no JSON: {error}"
        return f"JSON says {wrong[0]}" if wrong else None
    found = None if echoes else re.search(NO_NUMBER, text)
    return f"the result says {found[0]}: {text[max(found.start() - 80, 0) : found.end() + 20]}" if found else None


def _where(error: BaseException) -> str:
    """Return the error and the last places of it in the program."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if ROOT in Path(frame.filename).parents]
    places = [f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}" for frame in frames[-3:]]
    return f"{' > '.join(places)}: {type(error).__name__}: {str(error)[:200]}"
