"""Jobs and how they ended: ``sacct --parsable2``, or a table with Slurm's states such as Acme's and Helios'.

Every job watches its hosts for as long as it runs. NODE_FAIL and BOOT_FAIL are failures of one of them; FAILED and
OUT_OF_MEMORY of the job itself; whatever else a job came to (completed, cancelled, timed out, preempted, still running)
says that nothing failed until then. Steps of a job are part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from simulator.errors import ScenarioError
from simulator.reliability.logs.base import Cells, FailureLog, Logged, moment, number
from simulator.units import Seconds

OF_HOST = {"NODE_FAIL": "node fail", "BOOT_FAIL": "boot fail"}
OF_JOB = {"FAILED": "job failed", "OUT_OF_MEMORY": "out of memory"}
UNKNOWN = ("", "unknown", "none")
PART = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?")
"""Days, hours, minutes or seconds."""


class Slurm(FailureLog):
    kind: ClassVar[str] = "slurm"
    says: ClassVar[str] = "Slurm's job accounts"
    competing: ClassVar[bool] = True
    aged: ClassVar[bool] = False

    @classmethod
    def knows(cls, columns: frozenset[str]) -> bool:
        nodes, times = {"nnodes", "node_num", "allocnodes"}, {"elapsed", "elapsedraw", "duration"}
        return "state" in columns and bool(columns & nodes) and bool(columns & times)

    @classmethod
    def rows(cls, place: str, row: Cells) -> Iterator[Logged]:
        name = row.get("jobid") or row.get("job_id") or ""
        life = _life(row, place)
        if "." in name or not life:
            return
        nodes = number(row.get("nnodes") or row.get("allocnodes") or row.get("node_num") or "1", f"{place}: nnodes")
        state = row["state"].upper().partition(" ")[0]
        end = row.get("end") or row.get("end_time") or ""
        failed = state in OF_HOST or state in OF_JOB
        time = moment(_naive(end), f"{place}: end") if failed and end.lower() not in UNKNOWN else None
        host = row.get("nodelist", "") if nodes == 1 else ""
        for unit, causes, units in (("host", OF_HOST, max(int(nodes), 1)), ("job", OF_JOB, 1)):
            cause = causes.get(state, "")
            yield Logged(
                place=place,
                cause=cause,
                unit=unit,
                time=time if cause else None,
                host=host if unit == "host" else "",
                life=life,
                units=units,
                ended=bool(cause),
            )


def _life(row: Cells, place: str) -> Seconds:
    raw = row.get("elapsedraw") or row.get("duration")
    if raw:
        return number(raw, f"{place}: duration")
    return elapsed(row.get("elapsed", ""), f"{place}: elapsed")


def elapsed(text: str, place: str) -> Seconds:
    """Return Slurm's ``[days-]hours:minutes:seconds``.

    >>> elapsed("1-02:03:04", "log:2"), elapsed("02:03", "log:2")
    (93784.0, 123.0)
    """
    days, _, clock = text.rpartition("-")
    parts = [*([days] if days else []), *clock.split(":")]
    if not all(map(PART.fullmatch, parts)) or len(parts) > 4:
        raise ScenarioError(f"{place}: expected a time such as 1-02:03:04")
    seconds = 0.0
    for part, factor in zip(reversed(parts), (1.0, 60.0, 3600.0, 86400.0), strict=False):
        seconds += factor * float(part)
    return seconds


def _naive(text: str) -> str:
    """Return a date without its zone, which is the same for all rows."""
    return text[:19] if len(text) > 19 and text[10] in "T " else text
