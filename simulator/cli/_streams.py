"""What goes where: the result to stdout and nothing else there, warnings and progress to stderr."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from simulator.errors import ScenarioError
from simulator.io.printable import Json, Page, printable

if TYPE_CHECKING:
    from rich.console import Console


def prepare() -> None:
    """Make the streams of this process say what they cannot encode as an escape, and keep the numbers of closed ones.

    Without that, the next file that is opened would be the stdout of processes that are started.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def show(*parts: str) -> None:
    """Write a result to stdout; a reader who went away early, or who closed it, is no error.

    What is neither a page nor JSON is text with line breaks. Raises ScenarioError where stdout cannot be written.
    """
    if sys.stdout is None:
        return
    text = "".join(map(_shown, parts))
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise ScenarioError(f"standard output: cannot be written: {error.strerror}") from None


def _shown(part: str) -> str:
    if isinstance(part, Page):
        return part if _is_utf8(sys.stdout) else part.simpler()
    if isinstance(part, Json):
        return part if _is_utf8(sys.stdout) else part.ascii()
    return printable(part, keep="\n")


def _is_utf8(stream: TextIO) -> bool:
    return codecs.lookup(stream.encoding or "utf-8").name == "utf-8"


def terminal() -> Console:
    """Return what is known of stdout: its width and its colours, none where it is a pipe or NO_COLOR is set."""
    from rich.console import Console

    return Console()


def say(message: str) -> None:
    """Write a message to stderr, unless nobody can read it there."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(wrapped(printable(message, keep="\n"), sys.stderr) + "\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def wrapped(text: str, stream: TextIO | None) -> str:
    """Return lines broken between words where they would run over the edge of a terminal; elsewhere as they are."""
    if stream is None or not stream.isatty():
        return text
    from shutil import get_terminal_size
    from textwrap import TextWrapper
    from unicodedata import east_asian_width

    fill = TextWrapper(max(get_terminal_size().columns, 20), break_long_words=False, break_on_hyphens=False)
    lines = []
    for line in text.split("\n"):
        fill.subsequent_indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
        # A letter that takes two columns counts as two.
        lines.append(
            fill.fill("".join(f"{letter}\0" if east_asian_width(letter) in "WF" else letter for letter in line))
        )
    return "\n".join(lines).replace("\0", "")


def warn(messages: Iterable[str]) -> None:
    """Write warnings to stderr, one a line."""
    for message in messages:
        say(f"warning: {printable(message)}")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on a terminal's stderr what takes a while; nothing elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    from simulator.io.terminal import words

    console = Console(stderr=True)
    line = words(what)
    line.truncate(console.width - 4, overflow="ellipsis")  # beside the spinner
    with console.status(line, spinner="dots" if _is_utf8(sys.stderr) else "line"):
        yield


def silence(stream: TextIO | None) -> None:
    """Send what is still to be written to a stream nowhere, so that it is no error at exit."""
    if stream is None:
        return
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
