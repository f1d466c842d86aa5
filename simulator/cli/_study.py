"""What the verbs that work out many points have in common: options, where results go, what Ctrl-C leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simulator import shipped
from simulator.cli._progress import progress

if TYPE_CHECKING:
    from simulator.studies.point import Base
    from simulator.studies.store import Row, Store

Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="KEY=VALUES", help="[a, b, c] or {from: 1, to: 8, steps: 4}; may be repeated."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes; all processors by default.")]
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
    """Return the start of a study; a scenario on stdin is read here, since it can be read only once."""

    from simulator.scenario.source import load
    from simulator.studies.point import Base

    if name == "-":
        source, title = load("-").text + "\n", "stdin"
    else:
        path = shipped.find(name)
        source, title = str(path), path.stem
    changes = (*(overrides or ()), *extra)
    return Base(title, source, changes, tuple(str(folder) for folder in catalogs or ()))


@contextmanager
def worked_out(
    evaluate: Any, points: Sequence[Any], *, what: str, out: Path | None, jobs: int | None, dask: str | None
) -> Iterator[list[Row]]:
    """Yield the rows of all points; after Ctrl-C those that are done, and exit with 130 when the block is left."""
    with session(out=out, jobs=jobs, dask=dask, most=len(points)) as work:
        yield work.rows(evaluate, points, what)


@contextmanager
def session(*, out: Path | None, jobs: int | None, dask: str | None, most: int) -> Iterator[Session]:
    """Yield where points are worked out, in one round or several; exit with 130 after an interruption."""
    from contextlib import ExitStack, closing

    from simulator.studies.executors import opened
    from simulator.studies.store import Store

    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(out / ROWS if out else None)))
        work = Session(store, lambda missing: stack.enter_context(opened(_enough(jobs, min(missing, most)), dask)))
        yield work
    if work.interrupted:
        hint = f"; the same command goes on from {out}" if out else "; --out DIR keeps what is done"
        typer.echo(f"Interrupted{hint}", err=True)
        raise typer.Exit(130)


class Session:
    """The store and the processes of one command; processes start when there is something to do."""

    def __init__(self, store: Store, start: Any) -> None:
        self.store = store
        self.interrupted = False
        self._start = start
        self._started: Any = None

    def rows(self, evaluate: Any, points: Sequence[Any], what: str) -> list[Row]:
        """Return the rows of all points, or of those that were done when Ctrl-C came."""
        from simulator.studies.study import rows

        found: list[Row] = []
        try:
            missing = sum(point.key not in self.store for point in points)
            if missing and self._started is None:
                self._started = self._start(missing)
            executor, workers = self._started or (None, 1)
            with progress(what, len(points)) as done:
                for row in rows(evaluate, points, store=self.store, executor=executor, workers=workers, done=done):
                    found.append(row)
        except KeyboardInterrupt:
            self.interrupted = True
        return found


def _enough(jobs: int | None, points: int) -> int:
    """Return how many processes are worth starting."""
    from simulator.studies.executors import processors

    return min(jobs, points) if jobs else max(min(processors(), points // 2), 1)
