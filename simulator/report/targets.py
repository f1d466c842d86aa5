"""The section on targets: how likely the run misses its deadline or its budget."""

from __future__ import annotations

from simulator.io.readable import chance, dollars, duration
from simulator.outcome.results import Result
from simulator.report.run import follows_the_step
from simulator.report.section import Fact, Section
from simulator.units import Share


def section(result: Result) -> Section | None:
    targets, facts = result.targets, []
    if (deadline := targets.get("deadline_s")) is not None:
        note = _note("missed", targets["p_late"], targets["p_late_by_failures"])
        facts.append(Fact(label="deadline", value=duration(deadline), note=note))
    if (budget := targets.get("budget_dollars")) is not None:
        note = _note("exceeded", targets["p_over_budget"], targets["p_over_budget_by_failures"])
        facts.append(Fact(label="budget", value=dollars(budget), note=note))
    if not facts:
        return None
    luck = "failures and the error of the step" if follows_the_step(result) else "failures"
    notes = (f"chances hold the luck of {luck}; rates of failures that a preset gives vary too, prices do not",)
    return Section(name="targets", title="Targets", facts=tuple(facts), notes=notes)


def _note(missed: str, whole: Share | None, by_failures: Share | None) -> str:
    """Return the chance, and what is left of it if the step is sure, where that is another one."""
    said, alone = chance(whole or 0.0), chance(by_failures or 0.0)
    sure = "" if said == alone else f"; {alone} by failures alone"
    return f"{missed} with a chance of {said}{sure}"
