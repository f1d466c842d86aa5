"""A bar on stderr for long work: how far it is, how fast it goes, how long it will take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Done = Callable[[bool], None]
"""Told of each point that is done, and whether it had to be computed."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Done]:
    """Yield what to call for each point; draws on a terminal only, and what was there before counts as no speed."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda computed: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, rate="")
        computed_so_far = 0

        def done(computed: bool) -> None:
            nonlocal computed_so_far
            computed_so_far += computed
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{computed_so_far / elapsed:.3g}/s" if elapsed and computed_so_far else ""
            bar.update(task, advance=1, rate=rate)

        yield done
