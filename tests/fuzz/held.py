"""Tries every attack of the tables again, and says which did not hold.

    python tests/fuzz/held.py                    all tables; a line a table, and one for each that did not hold
    python tests/fuzz/held.py catalogs names     these tables
    python tests/fuzz/held.py --only SIGINT      attacks with this word in what they are called
    python tests/fuzz/held.py --jobs 4 --list

A table is a file of `tests/fuzz/tables` with a function ``attacks`` and a docstring; a new attack is a line in one.
An attack holds if its exit code fits, nothing is a traceback, it takes at most 10 s of a processor and 1 GB, it writes
only to the folder that was given, and it opens only what was named, the program, Python and its libraries.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import pkgutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import tables
from attack import Attack, Story
from process import warm


class Outcome(NamedTuple):
    what: str
    command: str
    complaint: str | None
    skipped: str | None
    seconds: float


def names() -> list[str]:
    """Return the name of each table."""
    return sorted(module.name for module in pkgutil.iter_modules(tables.__path__))


@cache
def attacks(table: str) -> Sequence[Attack | Story]:
    """Return what is tried."""
    return tuple(importlib.import_module(f"tables.{table}").attacks())


def tried(table: str, number: int) -> Outcome:
    """Try one attack in this process, which is copied for it."""
    one = attacks(table)[number]
    start = time.monotonic()
    skipped = one.needs() if isinstance(one, Story) else None
    complaint = None if skipped else one.complaint()
    return Outcome(one.what, one.command, complaint, skipped, time.monotonic() - start)


def pool(jobs: int) -> ProcessPoolExecutor:
    """Return processes that have imported the program and wait to be copied."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=warm)


def outcomes(asked: Sequence[str], workers: ProcessPoolExecutor, word: str = "") -> Iterator[tuple[str, list[Outcome]]]:
    """Yield each table with what became of its attacks."""
    waiting: dict[str, list[Future[Outcome]]] = {
        table: [workers.submit(tried, table, n) for n, one in enumerate(attacks(table)) if word in one.what]
        for table in asked
    }
    for table, futures in waiting.items():
        yield table, [future.result() for future in futures]


def shown(text: str) -> str:
    """Return `text` with what is no letter as an escape, and the middle of a long one left out."""
    short = text if len(text) <= 500 else f"{text[:240]} ... {text[-240:]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="*", choices=[*names(), []], metavar="TABLE", help=", ".join(names()))
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    if asked.list:
        for table in asked.table or names():
            for one in attacks(table):
                print(shown(f"{table}: {one.what}: {one.command}"))  # noqa: T201
        return 0
    held = total = 0
    start = time.monotonic()
    with pool(asked.jobs) as workers:
        for table, found in outcomes(asked.table or names(), workers, asked.only):
            broken = [one for one in found if one.complaint]
            skipped = [one for one in found if one.skipped]
            tried_here = len(found) - len(skipped)
            held, total = held + tried_here - len(broken), total + tried_here
            slowest = max(found, key=lambda one: one.seconds, default=None)
            print(  # noqa: T201
                f"{table.replace('_', ' '):<22} {tried_here - len(broken):>5} held of {tried_here:>5}"
                + (f"; slowest {slowest.seconds:.1f} s ({slowest.what})" if slowest else "")
                + (f"; {len(skipped)} skipped: {skipped[0].skipped}" if skipped else ""),
                flush=True,
            )
            for one in broken:
                print(f"    {shown(one.what)}: {shown(one.complaint or '')}\n        {shown(one.command)}")  # noqa: T201
    print(f"{held:,} held of {total:,}; {time.monotonic() - start:.0f} s, {asked.jobs} processes")  # noqa: T201
    return 0 if held == total else 1


if __name__ == "__main__":
    sys.exit(main())
