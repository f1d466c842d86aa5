"""An attack: files, a command, and what must be true when it ended."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from process import WAIT, Done, Start, ran
from watch import beyond

SECONDS = 10.0
"""Of a processor."""
MEMORY = 1_000_000_000
"""Bytes."""
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that move a cursor, set a title or turn text around; none is ever printed into a file or a pipe."""
OUT = "out"
"""The folder that commands may write to."""
Put = bytes | str | Callable[[Path], object]
"""The content of a file, or what makes it."""
AS_USUAL = Start()
After = Callable[[Path, Done], str | None]


@dataclass(frozen=True)
class Attack:
    """One command; it holds if it ends as it may, soon, in little memory, and touches nothing that nobody named."""

    what: str
    words: Sequence[str | bytes]
    files: Mapping[str, Put] = field(default_factory=dict)
    """What is put under the folder that the command starts in."""
    codes: Sequence[int | None] = (0, 1, 2)
    """Exit codes that fit; None where it may wait for ever."""
    says: str = ""
    """What the message holds."""
    named: Sequence[str] = ()
    """Paths outside of that folder that are named, and may be opened."""
    written: Sequence[str] = (OUT,)
    """Paths that are named for what is written."""
    opens_nothing: bool = False
    """Not even what is in the folder that the command starts in."""
    start: Start = AS_USUAL
    after: After | None = None
    """What else is wrong, or None."""
    raw: bool = False
    """The output may hold control characters."""
    wait: float = WAIT

    @property
    def command(self) -> str:
        words = " ".join(_quoted(os.fsdecode(word)) for word in self.words)
        started = " ".join(f"{name}={value}" for name, value in self.start.environment.items())
        python = f"python {' '.join(self.start.flags)} -m simulator" if self.start.flags else "foretrain"
        return " ".join(part for part in (started, python, words, self.start.shell) if part)

    def complaint(self) -> str | None:
        """Return what does not hold, or None."""
        with folders() as (at, beside):
            for name, content in self.files.items():
                put(at / name, content)
            done = ran(self.words, at, beside, self.start, self.wait)
            try:
                return self.judged(done, at) or (self.after(at, done) if self.after else None)
            except (ValueError, SyntaxError) as error:
                return f"writes what cannot be read: {error}"

    def judged(self, done: Done, at: Path) -> str | None:
        """Return the first promise that is broken."""
        if done.code is None and None not in self.codes:
            return f"does not end in {self.wait:.0f} s{_last(done.err)}"
        if "Traceback (most recent" in done.err + done.out:
            return f"traceback{_last(done.err or done.out)}"
        if done.code not in self.codes:
            return f"exit code {done.code}, not {' or '.join(map(str, self.codes))}{_last(done.err)}"
        if done.code == 2 and not (done.err + done.out if self.start.terminal else done.err).strip():
            return None if "2>" in self.start.shell else "exit code 2 without a message"
        if done.seconds > SECONDS:
            return f"took {done.seconds:.1f} s"
        if done.peak > MEMORY:
            return f"took {done.peak / 1e6:,.0f} MB"
        raw = None if self.raw or self.start.terminal else RAW.search(done.err + done.out)
        if raw:
            return f"prints {raw[0]!r}: {(done.err + done.out)[max(raw.start() - 60, 0) : raw.end() + 20]!r}"
        if self.says not in done.err:
            return f"does not say {self.says!r}: {done.err[:200]!r}"
        named = [] if self.opens_nothing else [str(at), *(str(at / name) for name in self.named)]
        touched = beyond(done.events, named, [str(at / name) for name in self.written])
        return f"{touched[0]} (and {len(touched) - 1} more)" if touched else None


@dataclass(frozen=True)
class Story:
    """Several commands; `told` gets a folder to work in and one for notes, and returns what does not hold, or None."""

    what: str
    told: Callable[[Path, Path], str | None]
    needs: Callable[[], str | None] = lambda: None
    """Why it cannot be tried here, or None."""
    command: str = ""

    def complaint(self) -> str | None:
        with folders() as (at, beside):
            return self.told(at, beside)


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """Yield an empty folder to start in, and one outside of it for what is printed."""
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="foretrain-")))
    (top / "here").mkdir()
    (top / "kept").mkdir()
    try:
        yield top / "here", top / "kept"
    finally:
        shutil.rmtree(top, ignore_errors=True)


def put(path: Path, content: Put) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes | str):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        content(path)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def sparse(size: int) -> Callable[[Path], None]:
    """Return what makes a file of that many bytes of nothing, which takes no room."""

    def made(path: Path) -> None:
        path.touch()
        os.truncate(path, size)

    return made


def folder(path: Path) -> None:
    path.mkdir(parents=True)


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return f": {lines[-1][:200]!r}" if lines else ""


def _quoted(word: str) -> str:
    short = word if len(word) <= 120 else f"{word[:100]}... ({len(word):,} characters)"
    return repr(short) if not re.fullmatch(r"[\w@%+=:,./\[\]{}-]+", short) else short
