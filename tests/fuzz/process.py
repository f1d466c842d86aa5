"""Runs one command in a process of its own, watched, and says how it ended, what it took and what it touched.

`forked` takes a copy of a process that has imported everything, in some hundredths of a second; `fresh` starts Python
as a user does, for what depends on how it is started. Both refuse more memory than a machine has to spare.
"""

from __future__ import annotations

import ast
import io
import os
import pty
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import started
from small import ONE_HOST
from watch import Event

HERE = Path(__file__).parent
WAIT = 120.0
"""Seconds after which a command that waits for nothing that comes is ended."""
BASH = shutil.which("bash") or "/bin/bash"
ROOM = 3_000_000_000
"""Bytes of address space that a command may add before it gets no more."""
TOLD = 400_000
"""Bytes of what is printed that are looked at."""


@dataclass(frozen=True)
class Start:
    """How a command is started: all but its words."""

    stdin: bytes = b""
    terminal: bool = False
    """stdout and stderr are a terminal."""
    shell: str = ""
    """What a shell does with it, such as ``> /dev/full`` or ``| head -1``."""
    before: str = ""
    """What the shell does first, with a semicolon at its end."""
    flags: tuple[str, ...] = ()
    """Of Python."""
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """Changes; None takes a variable away."""
    plain: bool = False
    """A start of Python even where nothing else asks for one."""

    @property
    def fresh(self) -> bool:
        return bool(self.plain or self.shell or self.before or self.flags or self.environment)


@dataclass(frozen=True)
class Done:
    code: int | None
    """Exit code; minus the number of a signal; None for a command that had to be ended."""
    out: str
    err: str
    seconds: float
    """Of a processor."""
    peak: int
    """Bytes."""
    events: tuple[Event, ...]


def ran(words: Sequence[str | bytes], at: Path, beside: Path, start: Start, wait: float = WAIT) -> Done:
    """Run a command in the folder `at`; what it prints is kept in the folder `beside`."""
    out, err, events = (beside / name for name in ("stdout", "stderr", "events"))
    for path in (out, err, events):
        path.write_bytes(b"")
    (beside / "stdin").write_bytes(start.stdin)
    master, slave = pty.openpty() if start.terminal else (-1, -1)

    def child() -> None:
        os.setsid()
        os.chdir(at)
        for number, path, mode in ((0, beside / "stdin", os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
            os.dup2(slave if start.terminal and number else os.open(path, mode | os.O_APPEND), number)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if start.fresh:
            _exec(words, events, start)
        _as_if_started(words, events)

    pid = _fork(child)
    if start.terminal:
        os.close(slave)
    code, usage, told = _ended(pid, master, wait)
    if start.terminal:
        os.close(master)
    return Done(
        code,
        _text(told if start.terminal else out.read_bytes()[:TOLD]),
        _text(err.read_bytes()[:TOLD]),
        usage.ru_utime + usage.ru_stime,
        1024 * usage.ru_maxrss,
        tuple(_event(line) for line in events.read_text(encoding="utf-8").splitlines()),
    )


def _fork(child: Callable[[], None]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        try:
            child()
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        finally:
            os._exit(70)
    return pid


def _exec(words: Sequence[str | bytes], events: Path, start: Start) -> None:
    changed = {**os.environ, **start.environment}
    python = [sys.executable, "-B", *start.flags, str(HERE / "started.py"), str(events)]
    line = f'"$@" {start.shell}; exit ${{PIPESTATUS[0]}}' if start.shell else 'exec "$@"'
    line = f"{start.before} {line}"
    shell = ["bash", "-c", line, "bash", *python, *words]
    os.execve(BASH, shell, {name: value for name, value in changed.items() if value is not None})


def _as_if_started(words: Sequence[str | bytes], events: Path) -> None:
    """Do in a copy of a warm process what Python does when it starts and ends."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        errors = "backslashreplace" if name == "stderr" else "surrogateescape" if name == "stdin" else "strict"
        raw = io.FileIO(number, "wb" if number else "rb", closefd=False)
        whole = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        file = io.TextIOWrapper(whole, encoding="utf-8", errors=errors, line_buffering=os.isatty(number))
        setattr(sys, name, file)
        setattr(sys, f"__{name}__", file)
    code: Any = 1
    started.watched(str(events))
    try:
        started.command([os.fsdecode(word) for word in words])
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _ended(pid: int, master: int, wait: float) -> tuple[int | None, resource.struct_rusage, bytes]:
    """Return how a process ended, what it used, and what it wrote to a terminal."""
    told, last = b"", time.monotonic() + wait
    poll, handle = select.poll(), os.pidfd_open(pid)
    poll.register(handle, select.POLLIN)
    if master >= 0:
        poll.register(master, select.POLLIN)
    over = False
    while not over and (left := last - time.monotonic()) > 0:
        for number, what in poll.poll(1000 * left):
            if number == master and what & select.POLLIN:
                told += os.read(master, 65536)
            elif number == master:
                poll.unregister(master)
            else:
                over = True
    while master >= 0 and select.select([master], [], [], 0)[0]:
        try:
            told += os.read(master, 65536)
        except OSError:
            break
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.close(handle)
    _, status, usage = os.wait4(pid, 0)
    return (os.waitstatus_to_exitcode(status) if over else None), usage, told


def _text(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def _event(line: str) -> Event:
    what, _, path = line.partition(" ")
    return what, ast.literal_eval(path)


def warm() -> None:
    """Import all that commands import, so that copies of this process need not."""
    import gc
    import importlib
    import pkgutil

    import matplotlib
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.backends.backend_svg
    import matplotlib.font_manager  # noqa: F401
    from typer.testing import CliRunner

    import simulator
    import topologies
    from simulator.cli import app

    sys.dont_write_bytecode = True
    for package in (simulator, topologies):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(("simulator.explorer", "simulator.lab", "simulator.__main__")):
                try:
                    importlib.import_module(module.name)
                except ModuleNotFoundError as missing:  # of a library that need not be installed, such as Dask
                    if missing.name is None or missing.name.startswith(("simulator", "topologies")):
                        raise
    for name in ("address", "rich.console", "rich.progress"):
        importlib.import_module(name)
    for words in (["check", ONE_HOST], ["run", ONE_HOST, "--runs", "1"]):
        assert CliRunner().invoke(app, words).exit_code == 0
    gc.freeze()
