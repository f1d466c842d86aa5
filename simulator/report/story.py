"""The order of a report: the step, its memory, the whole run, its cost, and what all of it rests on."""

from __future__ import annotations

from simulator.outcome.results import Result
from simulator.report import cost, memory, narrowing, network, run, step, targets
from simulator.report.section import Fact, Section

PLAIN = "default"
"""Source of a value that is just the usual one; such values are listed in one breath."""


def sections(result: Result) -> tuple[Section, ...]:
    """Return the sections that have something to say."""
    told = (
        step.section(result),
        network.section(result),
        memory.section(result),
        run.section(result),
        run.interruptions(result),
        cost.section(result),
        targets.section(result),
        narrowing.section(result),
        _expected(result),
        _assumptions(result),
        _limits(result),
    )
    return tuple(section for section in told if section is not None)


def _expected(result: Result) -> Section | None:
    """What the scenario says was published, beside what was found."""
    if not result.expected:
        return None
    facts = tuple(
        Fact(
            label=one["key"],
            value="unknown" if one["found"] is None else f"{one['found']:.4g}",
            note=f"{'as expected' if one['met'] else 'NOT as expected'}: {_wanted(one['wanted'])}",
        )
        for one in result.expected
    )
    met = sum(one["met"] for one in result.expected)
    return Section(name="expected", title="Expected", answer=f"{met} of {len(facts)} met", facts=facts)


def _wanted(limits: dict[str, float]) -> str:
    said = [f"{limits['value']:g} within {limits['within']:.0%}"] if "value" in limits else []
    said += [f"at least {limits['at_least']:g}"] if "at_least" in limits else []
    said += [f"at most {limits['at_most']:g}"] if "at_most" in limits else []
    return ", ".join(said)


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
