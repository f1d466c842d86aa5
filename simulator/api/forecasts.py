"""When a run that is under way will end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from simulator import units
from simulator.api.questions import Changes, Question, read
from simulator.api.shown import Shown
from simulator.io.printable import Page, json_text
from simulator.report import forecast as report
from simulator.studies.executors import spread
from simulator.studies.forecast import forecast as study
from simulator.studies.forecast import record
from simulator.studies.forecast.evidence import Told
from simulator.units import Seconds


class Forecast(Shown, study.Forecast):
    """What a run under way will still do; ``wall_clock_s``, ``left_s`` and ``dollars`` have P10, P50 and P90."""

    def text(self) -> Page:
        """Return what ``foretrain forecast`` prints."""
        return report.write(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain forecast --json``."""
        told: dict[str, Any] = json.loads(json_text(record.told(self)))
        return told


def forecast(
    log: str,
    question: Question,
    changes: Changes | None = None,
    *,
    failures: int | None = None,
    elapsed: Seconds | str | None = None,
    catalogs: Sequence[Path | str] = (),
    jobs: int | None = 1,
) -> Forecast:
    """Return when a run under way will end and what it will cost, from the text of its log so far.

    `failures` are those that stopped it so far, where the log does not show them; `elapsed` is the time since it began.
    Raises ScenarioError where the text is no log, not one of the scenario, or one of a run that is done.

    >>> log = "".join(f"completed step: {step}, seconds: 5.0\\n" for step in range(1, 100))
    >>> found = forecast(log, "tutorial/1-one-host", {"runs": 5})
    >>> found.wall_clock_s.p10 < found.wall_clock_s.p90
    True
    """
    passed = units.parse(elapsed, "s") if isinstance(elapsed, str) else elapsed
    asked = read(question, changes, catalogs=catalogs)
    said = Told(failures=failures, elapsed=passed)
    found = study.forecast(log, "the log", asked, said, partial(spread, jobs=jobs))
    return Forecast(**{one.name: getattr(found, one.name) for one in fields(found)})
