"""Read a table of measurements; its columns say what kind it is, and every mistake in it is reported with its line."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.errors import ScenarioError
from simulator.io import files
from simulator.kinds import kinds
from simulator.validation.lines import Line
from simulator.validation.predict import Predictor
from simulator.validation.row import Row
from simulator.validation.suites.base import Suite

LARGEST_FILE = 200_000_000
MOST_MISTAKES = 20
MOST_NAMES = 12
"""Families that a mistake lists."""
SHIPPED = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows of one file and the suite that knows how to predict them."""

    path: Path
    suite: Suite
    rows: tuple[Row, ...]


def shipped() -> tuple[Path, ...]:
    """Return the tables that come with the program, runs first."""
    return tuple(sorted(SHIPPED.glob("*.csv"), key=lambda path: (path.stem != "runs", path.stem)))


def suites() -> dict[str, Suite]:
    """Return one object for each kind of table."""
    return {name: cls() for name, cls in kinds("simulator.validation.suites", Suite).items()}


def read(path: Path) -> Table:
    """Return the table in a file, plain or gzip; raise ScenarioError with all mistakes, each with line and column."""
    mistakes: list[str] = []
    content = io.BytesIO(files.unpacked(files.read(path, largest=LARGEST_FILE, pipe=True), path, LARGEST_FILE))
    lines = csv.reader(io.TextIOWrapper(content, encoding="utf-8-sig", newline=""), strict=True)
    try:
        header = next(lines, [])
        suite = suite_of(header, path)
        rows = tuple(_rows(path, header, lines, suite, mistakes))
    except csv.Error as error:
        raise ScenarioError(f"{path}:{lines.line_num}: not a CSV table: {error}") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: not a text file in UTF-8") from None
    if mistakes:
        more = [f"{path}: {len(mistakes) - MOST_MISTAKES} more mistakes"] if len(mistakes) > MOST_MISTAKES else []
        raise ScenarioError("\n".join(mistakes[:MOST_MISTAKES] + more))
    if not rows:
        raise ScenarioError(f"{path}: has a header and no rows")
    return Table(path=path, suite=suite, rows=rows)


def suite_of(header: list[str], path: Path) -> Suite:
    """Return the suite whose columns are all there; the one with the most columns where several fit."""
    if not any(header):
        raise ScenarioError(f"{path}:1: empty; expected a CSV table with a header")
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise ScenarioError(f"{path}:1: column {twice[0]!r} appears twice")
    known = suites()
    fitting = [suite for suite in known.values() if suite.columns <= set(header)]
    if fitting:
        return max(fitting, key=lambda suite: len(suite.columns))
    nearest = max(known.values(), key=lambda suite: len(suite.columns & set(header)) / len(suite.columns))
    missing = ", ".join(sorted(nearest.columns - set(header)))
    raise ScenarioError(
        f"{path}:1: these columns belong to no kind of table known ({', '.join(known)}); "
        f"the nearest is {nearest.kind}, which also needs: {missing}"
    )


def lines(
    tables: Sequence[Table], predictor: Predictor, families: Sequence[str] = (), *, workers: int = 1
) -> tuple[Line, ...]:
    """Return the lines of all rows, or of the rows of some families; `predictor` is pickled for several workers."""
    found: list[Line] = []
    for table in tables:
        kept = [row for row in table.rows if not families or table.suite.family(row) in families]
        found += table.suite.lines(kept, predictor, workers)
    if not found:
        known = sorted({table.suite.family(row) for table in tables for row in table.rows})
        raise ScenarioError(f"no row of family {', '.join(families)}; {_meant(families, known)}")
    return tuple(found)


def _meant(asked: Sequence[str], known: Sequence[str]) -> str:
    """Return the families that were probably meant, whatever their case, or else the first of those there are."""
    folded = {name.lower(): name for name in known}
    near = [folded[close] for name in asked for close in difflib.get_close_matches(name.lower(), folded, n=3)]
    near = [folded[name.lower()] for name in asked if name.lower() in folded] or near
    if near:
        return f"did you mean {' or '.join(dict.fromkeys(near))}?"
    more = f" and {len(known) - MOST_NAMES} more, which --json lists" if len(known) > MOST_NAMES else ""
    return f"there are {', '.join(known[:MOST_NAMES])}{more}"


def _rows(
    path: Path, header: list[str], lines: Iterator[list[str]], suite: Suite, mistakes: list[str]
) -> Iterator[Row]:
    for cells in lines:
        line = lines.line_num  # type: ignore[attr-defined]
        if not any(cells):
            continue
        if len(cells) != len(header):
            mistakes.append(f"{path}:{line}: {len(cells)} cells, but the header has {len(header)} columns")
            continue
        texts = dict(zip(header, map(str.strip, cells), strict=True))
        numbers = dict(_numbers(f"{path}:{line}", texts, suite, mistakes))
        yield Row(line=line, texts=texts, numbers=numbers)


def _numbers(place: str, texts: Mapping[str, str], suite: Suite, mistakes: list[str]) -> Iterator[tuple[str, float]]:
    for name in suite.numbers & texts.keys():
        text = texts[name]
        if not text or text in suite.words:
            continue
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        zero = name in suite.may_be_zero
        if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
            bound = "from 0 on" if zero else "above 0"
            mistakes.append(f"{place}: {name}: expected a number {bound}, found {text[:40]!r}")
        else:
            yield name, value
