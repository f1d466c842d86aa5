"""One scenario: does it fit, how long is a step, and what does the whole run do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from simulator import simulation
from simulator.api.questions import Changes, Question, read
from simulator.api.shown import Shown
from simulator.io.printable import Page
from simulator.measured import explained
from simulator.outcome.results import Advice, Result, Verdict
from simulator.report import checked, html, record, text
from simulator.report import explained as explained_text
from simulator.scenario import Scenario
from simulator.simulation import Prediction
from simulator.studies.advice import advise
from simulator.studies.executors import spread
from simulator.studies.transfers import network_answers
from simulator.workload.memory import MemoryEstimate


class Run(Shown, Result):
    """What a whole training run does; its parts are named as in the JSON, such as ``step.mfu``."""

    def text(self) -> Page:
        """Return the report of ``foretrain run``."""
        return text.write(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain run --json``, in which what is infinite or unknown is None."""
        told: dict[str, Any] = json.loads(record.write(self))
        return told

    def _repr_html_(self) -> str:
        shown = escape(html.write(self), quote=True)
        return f'<iframe srcdoc="{shown}" style="width: 100%; height: 48em; border: 0"></iframe>'


@dataclass(frozen=True)
class Check(Shown):
    """Whether a scenario fits; `memory` is None where its step was measured and there is nothing to compute it from."""

    scenario: Scenario
    memory: MemoryEstimate | None
    advice: tuple[Advice, ...]
    """Changes that save memory, cheapest first; looked for where it does not surely fit, or where asked for."""

    @property
    def verdict(self) -> Verdict | None:
        return self.memory.verdict if self.memory else None

    def text(self) -> Page:
        """Return what ``foretrain check`` says."""
        return Page("\n".join(checked.lines(self.scenario.name, self.scenario, self.memory, self.advice)))

    def to_dict(self) -> dict[str, Any]:
        """Return verdict, bytes of the fullest stage, their chance to fit and the advice as plain data."""
        held = self.memory
        told: dict[str, Any] = {"verdict": self.verdict, "warnings": list(self.scenario.warnings)}
        if held is not None:
            told |= {
                "peak_bytes": held.peak_bytes,
                "usable_bytes": held.usable_bytes,
                "p_fits": held.p_fits,
                "worst_stage": held.worst_stage,
                "stages": [dict(stage) for stage in held.stages],
            }
        return told | {"advice": [vars(one) for one in self.advice]}


def simulate(
    question: Question,
    changes: Changes | None = None,
    *,
    catalogs: Sequence[Path | str] = (),
    jobs: int | None = 1,
) -> Run:
    """Return what a training run does, as ``foretrain run`` tells it.

    Runs are spread over `jobs` processes, over all processors where it is None; they are started afresh, so that a
    script then keeps what it does under ``if __name__ == "__main__"``. A model that does not fit, or a run without
    progress, is an answer that says so. Raises ScenarioError where the scenario contradicts itself.

    >>> run = simulate("tutorial/1-one-host", {"runs": 1})
    >>> run.verdict, run.step.mfu is not None and 0.2 < run.step.mfu < 0.6
    ('fits', True)
    """
    asked = read(question, changes, catalogs=catalogs)
    result = network_answers(asked, simulation.simulate(asked, partial(spread, jobs=jobs)))
    if result.verdict in ("oom", "tight"):
        result = replace(result, advice=advise(asked, result.step.time_s))
    return Run(**{one.name: getattr(result, one.name) for one in fields(result)})


def predict(question: Question, changes: Changes | None = None, *, catalogs: Sequence[Path | str] = ()) -> Prediction:
    """Return step time, its 80% range and memory, without the run.

    >>> found = predict("tutorial/1-one-host")
    >>> found.time_low_s < found.step_time_s < found.time_high_s
    True
    """
    return simulation.predict(read(question, changes, catalogs=catalogs))


def check(
    question: Question,
    changes: Changes | None = None,
    *,
    catalogs: Sequence[Path | str] = (),
    advice: bool = False,
) -> Check:
    """Return whether a scenario fits, and what to change if it does not, without simulating it.

    With `advice` changes are looked for where it fits, too.

    >>> check("tutorial/1-one-host").verdict
    'fits'
    """
    scenario = read(question, changes, catalogs=catalogs)
    if scenario.model is None or scenario.parallelism is None:
        return Check(scenario, None, ())
    held = simulation.fits(scenario)
    return Check(scenario, held, advise(scenario) if advice or held.verdict != "fits" else ())


class Explanation(Shown, explained.Explanation):
    """Why a measured run takes longer than it should; ``causes`` come first those that take most seconds of a step."""

    def text(self) -> Page:
        """Return what ``foretrain explain`` prints."""
        return explained_text.write(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain explain --json``."""
        return self.as_dict()


def explain(log: str, question: Question | None = None, changes: Changes | None = None) -> Explanation:
    """Return why a run takes longer than predicted, from the text of its log; without a scenario, than its own level.

    Raises ScenarioError where the text is no log, or not one of the scenario.

    >>> log = "".join(f"completed step: {step}, seconds: 5.0\\n" for step in range(20))
    >>> explain(log).causes[0].cause
    'none'
    """
    found = explained.explain(log, "the log", read(question, changes) if question is not None else None)
    return Explanation(**{one.name: getattr(found, one.name) for one in fields(found)})
