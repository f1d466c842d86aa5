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
    from simulator.studies.store import Row

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
    import sys

    from simulator.scenario.source import load
    from simulator.studies.point import Base

    if name == "-":
        source, title = load("-").text + "\n", "stdin"
    else:
        path = shipped.find(name)
        source, title = str(path), path.stem
    sys.stdout.flush()
    changes = (*(overrides or ()), *extra)
    return Base(title, source, changes, tuple(str(folder) for folder in catalogs or ()))


@contextmanager
def worked_out(
    evaluate: Any, points: Sequence[Any], *, what: str, out: Path | None, jobs: int | None, dask: str | None
) -> Iterator[list[Row]]:
    """Yield the rows of all points; after Ctrl-C those that are done, and exit with 130 when the block is left."""
    rows, interrupted = collect(evaluate, points, what=what, out=out, jobs=jobs, dask=dask)
    yield rows
    if interrupted:
        hint = f"; the same command goes on from {out}" if out else "; --out DIR keeps what is done"
        typer.echo(f"Interrupted after {len(rows):,} of {len(points):,} points{hint}", err=True)
        raise typer.Exit(130)


def collect(
    evaluate: Any, points: Sequence[Any], *, what: str, out: Path | None, jobs: int | None, dask: str | None
) -> tuple[list[Row], bool]:
    """Return the rows of all points, and whether Ctrl-C ended it before they were done."""
    from contextlib import closing

    from simulator.studies.executors import opened
    from simulator.studies.store import Store
    from simulator.studies.study import rows as of_points

    rows: list[Row] = []
    with closing(Store(out / ROWS if out else None)) as store, progress(what, len(points)) as done:
        missing = sum(point.key not in store for point in points)
        try:
            with opened(min(jobs, missing) or 1 if jobs else _enough(missing), dask) as (executor, workers):
                for row in of_points(evaluate, points, store=store, executor=executor, workers=workers, done=done):
                    rows.append(row)
        except KeyboardInterrupt:
            return rows, True
    return rows, False


def _enough(points: int) -> int:
    """Return how many processes are worth starting."""
    from simulator.studies.executors import processors

    return max(min(processors(), points // 2), 1)


def write(path: Path, text: str) -> None:
    """Write a file of a study's folder."""
    from simulator.errors import ScenarioError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror}") from None
