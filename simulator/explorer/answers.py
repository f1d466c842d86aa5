"""The questions that take a while, as functions that another process can answer."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from simulator.explorer.levers import Lever, levers
from simulator.outcome.results import Advice, Result, StepResult
from simulator.studies.point import Base


@lru_cache(maxsize=16)
def whole(base: Base) -> Result:
    """Return what ``foretrain run`` finds, but for its advice."""
    from simulator.simulation import simulate

    return simulate(base.read())


def better(base: Base) -> tuple[tuple[Lever, ...], tuple[Advice, ...]]:
    """Return what makes the step shorter, and what makes the scenario fit where it does not."""
    from simulator.simulation import fits
    from simulator.studies.advice import advise

    scenario = base.read()
    if scenario.model is None or scenario.parallelism is None or scenario.training.step_time is not None:
        return (), ()
    return levers(base), () if fits(scenario).verdict == "fits" else advise(scenario)


def told(base: Base) -> Result:
    """Return all that ``foretrain run`` says."""
    return replace(whole(base), step=step(base), advice=better(base)[1])


@lru_cache(maxsize=16)
def step(base: Base) -> StepResult:
    """Return the step with what is asked of its network."""
    from simulator.studies.transfers import network_answers

    return network_answers(base.read(), whole(base)).step


def picture(name: str, base: Base, *, result: Result | None = None) -> str:
    """Return a picture of the result of `base`, as the report has it."""
    from simulator.plots import gallery

    return gallery.svg(name, result or whole(base))


def report(base: Base, *, result: Result | None = None) -> str:
    """Return the report as a page."""
    from simulator.report import html

    return html.write(result or told(base))


def warm() -> None:
    """Import what the first question would wait for."""
    import simulator.plots.gallery
    import simulator.simulation
    import simulator.studies.advice  # noqa: F401
