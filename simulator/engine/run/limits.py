"""What cannot be simulated: contradictions, and so many events, of one run or of all, that they would take hours.

What is expected over the useful work: episodes that slow the run down, planned stops, and failures that stop it. The
last count only where the run makes progress; where it makes none, it is given up long before.
"""

from __future__ import annotations

from simulator.engine.run.evaluations import MOST as MOST_EVALUATIONS
from simulator.engine.run.inputs import RunInput
from simulator.engine.run.outcome import Outcome
from simulator.errors import ScenarioError
from simulator.reliability.failures.calendar import Calendar
from simulator.reliability.recovery.elastic import Elastic
from simulator.reliability.spares import hosts_taken
from simulator.units import Count, Number

MOST = 300_000
"""Events of one run, some seconds of simulation; a million GPUs for a quarter of a year have a fifth of it (at
Llama 3's rates)."""
MOST_IN_ALL = 2_000_000
"""Events of all runs of one scenario, about a minute of a processor."""
START_OF_A_RUN = 4
"""Events that take as long as the beginning and the end of a run."""


def refuse(run: RunInput) -> None:
    """Raise ScenarioError where a run cannot be simulated, with what to change."""
    mistakes = []
    if run.recovery.fails >= 1:
        mistakes.append("recovery.fails: a restart that always fails never comes up; give less than 100%")
    if run.recovery.misdiagnosed >= 1:
        mistakes.append("recovery.misdiagnosed: give less than 100%, or a sick host is never found")
    if run.failures.repeat >= 1:
        mistakes.append("failures.repeat: give less than 100%, or every failure follows from another")
    if run.failures.evict_after is not None and run.failures.evict_after < 1:
        mistakes.append("failures.evict_after: a host is evicted after 1 failure or more")
    for cause in run.failures.causes:
        label = f"failures: cause {cause.label!r}"
        if cause.unit not in run.units and cause.unit != "job" and not isinstance(cause, Calendar):
            mistakes.append(f"{label}: the number of units {cause.unit} is not known")
        if cause.hosts is None and cause.unit in ("rack", "pod", "switch", "power") and cause.unit not in run.hosts_of:
            mistakes.append(f"{label}: give `hosts`, for the hosts behind one {cause.unit} are not known")
            continue
        if cause.is_episode and cause.lasts is None and not isinstance(cause, Calendar):
            mistakes.append(f"{label}: an episode of effect {cause.effect} needs `lasts`")
        takes = cause.interrupts and cause.does.needs_repair and cause.drains > 0
        if (
            run.spares is not None
            and takes
            and hosts_taken(cause, run.hosts_of, run.recovery.repair) > 0
            and cause.repair is None
            and run.recovery.repair is None
        ):
            mistakes.append(
                f"{label} takes hosts away, and spares are given: give recovery.repair, how long they are gone"
            )
    if isinstance(run.recovery, Elastic) and not 1 <= run.recovery.minimum < run.recovery.replicas:
        mistakes.append(
            f"recovery: elastic needs 1 <= minimum < replicas, not {run.recovery.minimum}, {run.recovery.replicas}"
        )
    if (too_many := _too_many_episodes(run)) is not None:
        mistakes.append(too_many)
    if mistakes:
        raise ScenarioError("\n".join(mistakes))


def refuse_more(run: RunInput, first: Outcome, runs: Count) -> None:
    """Raise ScenarioError where so many runs like the first one would take much longer than a minute."""
    each = events(run, first)
    most = int(MOST_IN_ALL / each)
    if runs > most:
        raise ScenarioError(
            f"runs: {runs:,} runs with about {each - START_OF_A_RUN:,.0f} failures, stops and evaluations each are too "
            f"much to simulate; write at most {_rounded_down(most):,}"
        )


def events(run: RunInput, first: Outcome) -> Number:
    """Return how many events a run like the first one has: failures, episodes, stops, evaluations, and its ends."""
    evaluations = min(min(run.work, run.until) / run.evaluate_every, MOST_EVALUATIONS)
    return first.unexpected + first.episodes + first.planned + evaluations + START_OF_A_RUN


def _rounded_down(count: int) -> int:
    """Return the two leading digits of a count, at least 1.

    >>> _rounded_down(11_764), _rounded_down(6)
    (11000, 6)
    """
    unit: int = 10 ** max(len(str(count)) - 2, 0)
    return max(count // unit * unit, 1)


def too_many_interruptions(run: RunInput) -> str | None:
    """Return that a run which makes progress is interrupted too often, or None."""
    return _too_many("interruptions", run.failures.rate(run.all_units) * min(run.work, run.until))


def _too_many_episodes(run: RunInput) -> str | None:
    """Return what happens too often without stopping the run, or None."""
    failures, units, span = run.failures, run.all_units, min(run.work, run.until)
    expected = {
        cause.label: failures.factor(cause.unit, units["gpu"]) * cause.rate(units.get(cause.unit, 0)) * span
        for cause in failures.causes
        if cause.is_episode
    }
    if every := getattr(failures.planned, "every", 0.0):
        expected["planned stops"] = span / every
    most = max(expected, key=lambda name: expected[name], default="")
    return _too_many(most, expected[most]) if most else None


def _too_many(what: str, count: Number) -> str | None:
    if count <= MOST:
        return None
    return f"failures: about {count:.2g} {what} in one run; {MOST:,} is the most that can be simulated"
