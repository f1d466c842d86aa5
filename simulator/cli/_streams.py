"""What goes where: the result to stdout and nothing else there, warnings and progress to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simulator.errors import ScenarioError

if TYPE_CHECKING:
    from rich.console import Console


def show(text: str) -> None:
    """Write a result to stdout; a reader who went away early, or who closed it, is no error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        silence_stdout()
        raise ScenarioError(f"standard output: cannot be written: {error.strerror}") from None


def terminal() -> Console:
    """Return what is known of stdout: its width and its colours, none where it is a pipe or NO_COLOR is set."""
    from rich.console import Console

    return Console()


def warn(messages: Iterable[str]) -> None:
    """Write warnings to stderr, one a line."""
    for message in messages if sys.stderr is not None else ():
        sys.stderr.write(f"warning: {message}\n")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on a terminal's stderr what takes a while; nothing elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def silence_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
