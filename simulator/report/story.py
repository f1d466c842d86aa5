"""The order of a report: the step, its memory, the whole run, its cost, and what all of it rests on."""

from __future__ import annotations

from simulator.report import cost, memory, run, step
from simulator.report.section import Fact, Section
from simulator.results import Result

PLAIN = "default"
"""Source of a value that is just the usual one; such values are listed in one breath."""


def sections(result: Result) -> tuple[Section, ...]:
    """Return the sections that have something to say."""
    told = (
        step.section(result),
        memory.section(result),
        run.section(result),
        run.interruptions(result),
        cost.section(result),
        _assumptions(result),
        _limits(result),
    )
    return tuple(section for section in told if section is not None)


def _assumptions(result: Result) -> Section | None:
    if not result.assumptions:
        return None
    sourced = [given for given in result.assumptions if given.source != PLAIN]
    plain = [f"{given.key} {given.value}" for given in result.assumptions if given.source == PLAIN]
    return Section(
        name="assumptions",
        title="Assumptions",
        answer="what the scenario left open",
        facts=tuple(Fact(label=given.key, value=given.value, note=given.source) for given in sourced),
        notes=(f"defaults: {', '.join(plain)}",) if plain else (),
    )


def _limits(result: Result) -> Section | None:
    if not result.not_modelled:
        return None
    return Section(name="limits", title="Not modelled", notes=result.not_modelled)
