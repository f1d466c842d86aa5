"""Ctrl-C, which libraries may lose or turn into an error of their own."""

from __future__ import annotations

import signal
import sys
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType

SOON = 0.02
"""Seconds after which an interrupt that was lost is sent again."""
_came = False


def came() -> bool:
    """Tell whether Ctrl-C came, so that an error is what a library made of it."""
    return _came


@contextmanager
def watched() -> Iterator[None]:
    """Raise KeyboardInterrupt in this block when Ctrl-C comes, again where it was lost; not where it is ignored."""
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, _note)
    sys.unraisablehook = _again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)


def _note(_: int, frame: FrameType | None) -> None:
    global _came
    _came = True
    while frame is not None:
        if frame.f_code is _again.__code__:  # still on the way out of a callback, where it would be lost once more
            return _later()
        frame = frame.f_back
    raise KeyboardInterrupt


def _again(lost: sys.UnraisableHookArgs) -> None:
    """Send an interrupt again that came in a callback, from which no exception gets out."""
    if lost.exc_type is KeyboardInterrupt:
        _later()
    else:
        sys.__unraisablehook__(lost)


def _later() -> None:
    again = Timer(SOON, interrupt_main)
    again.daemon = True
    again.start()
