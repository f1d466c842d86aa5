"""Whether the program keeps its word on an input: an exit code, a message, soon, and nothing touched elsewhere."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from address import shown
from doors import Door
from started import ADDRESS
from typer.testing import CliRunner
from watch import Event, Watch, beyond

import simulator
from simulator.cli import app

ROOT = Path(simulator.__file__).parents[1]
SECONDS = 10.0
"""Of a processor, for an answer or a message."""
STUCK = 30
"""Seconds of a processor after which an input is given up."""
WAIT = 600
"""Seconds after which one is given up that waits for something that does not come."""
MEMORY = 1_000_000_000
"""Bytes."""
DRAWN = "report"
"""The door that draws a dozen pictures."""
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


class Ended(NamedTuple):
    """How a command ended, as the runner of Typer has it."""

    exit_code: int
    stdout: str
    stderr: str
    exception: BaseException | None


class StuckError(BaseException):
    """An input took far too long."""


_watch = Watch()


@contextmanager
def watched() -> Iterator[list[Event]]:
    """Yield the list of what is opened, listed, written and started."""
    if not getattr(_watch, "installed", False):
        sys.addaudithook(_watch)
        _watch.installed = True  # type: ignore[attr-defined]
    found: list[Event] = []
    _watch.tell = lambda what, path: found.append((what, path))
    try:
        yield found
    finally:
        _watch.tell = None


@contextmanager
def within(seconds: int, wait: int) -> Iterator[None]:
    """Raise StuckError in what takes a processor, or waits, for longer, and allow it no more memory than `MEMORY`."""

    def stop(*_: Any) -> None:
        raise StuckError(f"does not end in {seconds} s of a processor, or {wait} s")

    alarms = {signal.SIGALRM: signal.ITIMER_REAL, signal.SIGPROF: signal.ITIMER_PROF}
    before = {alarm: signal.signal(alarm, stop) for alarm in alarms}
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = _pages() * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    signal.setitimer(signal.ITIMER_REAL, wait)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        for alarm, timer in alarms.items():
            signal.setitimer(timer, 0)
            signal.signal(alarm, before[alarm])
        resource.setrlimit(resource.RLIMIT_AS, limits)


def _pages() -> int:
    """Return how much address space this process has, in pages."""
    return int(Path("/proc/self/statm").read_text().split()[0])


def tried(door: Door, text: bytes, folder: Path) -> Outcome:
    """Return what becomes of `text` at `door`; `folder` is empty and stays for a look at what was written."""
    arguments = door.command(folder, text)
    start = time.process_time()
    with within(STUCK, WAIT), watched() as events:
        try:
            done = _followed(*arguments[1:]) if arguments[0] == ADDRESS else CliRunner().invoke(app, arguments)
        except StuckError as error:
            done = Ended(1, "", "", error)
    seconds = time.process_time() - start
    named = [] if arguments[0] == ADDRESS else [str(folder), *_named(events, text)]
    touched = beyond(events, named, [str(folder / "out")])
    return Outcome(done.exit_code, done.stderr, complaint(done, text, touched, seconds, door.name), seconds)


def _named(events: list[Event], text: bytes) -> Iterator[str]:
    """Yield the paths that an input names: those whose last part it holds; which keys may name one is not asked."""
    for _, path in events:
        if os.fsencode(os.path.basename(path)) in text:
            yield path


def _followed(*words: str) -> Ended:
    """Return what the explorer makes of an address."""
    out, err, code = io.StringIO(), io.StringIO(), 1
    error: BaseException | None = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = shown(*words)
        except Exception as raised:
            error = raised
    return Ended(code, out.getvalue(), err.getvalue(), error)


def complaint(done: Any, given: bytes, touched: list[str], seconds: float, door: str) -> str | None:
    """Return the first promise that is broken."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"traceback: {_where(done.exception)}"
    if done.exit_code not in (0, 1, 2):
        return f"exit code {done.exit_code}"
    if done.exit_code == 2 and not done.stderr.strip():
        return "exit code 2 without a message"
    if seconds > SECONDS:
        return f"took {seconds:.1f} s"
    if touched:
        return touched[0]
    leak = LEAKS.search(done.stderr) if done.exit_code == 2 else None
    if leak:
        return f"a message says {leak[0]!r}: {done.stderr[:300]}"
    echoes = door.startswith(("import", "link")) or re.search(NO_NUMBER, given.decode("utf-8", "replace"))
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
