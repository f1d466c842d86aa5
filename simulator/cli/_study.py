"""What the verbs that work out many points have in common: options, where results go, what Ctrl-C leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator import shipped
from simulator.cli._progress import progress
from simulator.cli._streams import say

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from simulator.studies.point import Base
    from simulator.studies.store import Row, Store

Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="KEY=VALUES", help="[a, b, c] or {from: 1, to: 8, steps: 4}; may be repeated."),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, max=1024, help="Processes; all processors by default.")
]
Dask = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Work on a Dask cluster, such as tcp://host:8786.")
]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV instead of text, SI units.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it, as PNG, SVG or PDF.")]
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write rows and plots here; a later start skips what is there."),
]
ROWS = "rows.jsonl"


def base(
    name: str, overrides: Sequence[str] | None, catalogs: Sequence[Path] | None, extra: Sequence[str] = ()
) -> Base:
    """Return the start of a study: the text of the scenario, read once.

    Raises ScenarioError where it is no scenario at all; whether its values are right is left to each point.
    """
    from simulator.scenario.mistakes import Mistakes
    from simulator.scenario.reader import document
    from simulator.scenario.source import load
    from simulator.studies.point import Base

    path = Path("-") if name == "-" else shipped.find(name)
    text = load(path)
    document(text, Mistakes())
    title = "stdin" if name == "-" else path.stem.encode("utf-8", "replace").decode()
    changes = (*(overrides or ()), *extra)
    return Base(title, str(path), changes, tuple(str(folder) for folder in catalogs or ()), text=text)


@contextmanager
def session(*, out: Path | None, jobs: int | None, dask: str | None) -> Iterator[Session]:
    """Yield where points are worked out, in one round or several.

    After Ctrl-C, whenever it comes, this ends in a KeyboardInterrupt that says how to go on.
    """
    hint = f"; the same command goes on from {out}" if out else "; --out DIR keeps what is done"
    try:
        with ExitStack() as stack:
            work = Session(out, jobs, dask, stack)
            yield work
    except KeyboardInterrupt:
        raise KeyboardInterrupt(hint) from None
    if work.interrupted:
        raise KeyboardInterrupt(hint)


class Session:
    """The store and the processes of one command; they are opened when there is something to do."""

    def __init__(self, out: Path | None, jobs: int | None, dask: str | None, stack: ExitStack) -> None:
        self.interrupted = False
        self._out, self._jobs, self._dask, self._stack = out, jobs, dask, stack
        self._started: tuple[Executor, int] | None = None
        self._any = False

    def rows(self, evaluate: Any, points: Sequence[Any], what: str) -> list[Row]:
        """Return the rows of all points, or of those that were done when Ctrl-C came.

        Raises KeyboardInterrupt where it came before any point of any round was done, since there is nothing to tell.
        """
        from simulator.studies.study import rows

        found: list[Row] = []
        try:
            store = self._store
            missing = sum(point not in store for point in points)
            if missing and self._started is None:
                from simulator.studies.executors import opened

                self._started = self._stack.enter_context(opened(_enough(self._jobs, missing), self._dask, say))
            executor, workers = self._started or (None, 1)
            with progress(what, len(points)) as done:
                for row in rows(evaluate, points, store=store, executor=executor, workers=workers, done=done):
                    found.append(row)
        except KeyboardInterrupt:
            self.interrupted = True
            if not found and not self._any:
                raise
        self._any = self._any or bool(found)
        return found

    @property
    def folder(self) -> Path | None:
        """Where the files of the answer go; nowhere after Ctrl-C, since half an answer would look like a whole one."""
        return None if self.interrupted else self._out

    @cached_property
    def _store(self) -> Store:
        from simulator.cli._streams import warn
        from simulator.io.writing import sweep_up
        from simulator.studies.store import Store

        store = self._stack.enter_context(closing(Store(self._out / ROWS if self._out else None)))
        if self._out:
            sweep_up(self._out)
        if store.damaged:
            many = (
                "1 row is damaged; what it" if store.damaged == 1 else f"{store.damaged:,} rows are damaged; what they"
            )
            warn([f"{self._out}/{ROWS}: {many} should say is worked out again"])
        return store


def _enough(jobs: int | None, points: int) -> int:
    """Return how many processes are worth starting."""
    from simulator.studies.executors import processors

    return min(jobs, points) if jobs else max(min(processors(), points // 2), 1)
