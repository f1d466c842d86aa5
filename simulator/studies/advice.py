"""What to change so that it fits: the cheapest changes, each with its new peak and what it costs.

Of every kind of change the mildest one that fits is kept; its price is the simulated step, and what the GPUs
of a step cost in rent. If no single change suffices, changes are put together (`simulator.studies.together`).
"""

from __future__ import annotations

from simulator.errors import ForetrainError
from simulator.outcome.results import Advice
from simulator.scenario.prices import list_price
from simulator.scenario.scenario import Scenario
from simulator.simulation import fits, predict
from simulator.studies.changes import Change, possible
from simulator.studies.remedies import REMEDIES, Remedy
from simulator.studies.together import together
from simulator.units import Dollars, Seconds, Share
from simulator.workload.memory import MemoryEstimate

AT_LEAST: Share = 0.1
"""What a change must save of the peak where the scenario fits already."""


def advise(scenario: Scenario, step_time: Seconds | None = None) -> tuple[Advice, ...]:
    """Return the changes that make a scenario fit, cheapest first; where it fits, those that save a tenth or more.

    `step_time` is that of the scenario itself, where it has been simulated already.
    Empty where nothing makes it fit, and for a measured step, which has no memory.
    """
    if scenario.model is None or scenario.parallelism is None or scenario.training.step_time is not None:
        return ()
    now = fits(scenario)
    found = [change for remedy in REMEDIES if (change := _mildest(scenario, remedy, now))]
    if not found and now.verdict != "fits":
        found = together(scenario)
    base = _price(scenario, step_time or predict(scenario).step_time_s)
    told = [_told(change, base, scenario) for change in found]
    return tuple(sorted((one for one in told if one), key=lambda one: (one.cost, one.time, one.change)))


def _mildest(scenario: Scenario, remedy: Remedy, now: MemoryEstimate) -> Change | None:
    """Return the first change of its kind that is enough."""
    for change in remedy(scenario):
        if not possible(change.scenario):
            continue
        held = fits(change.scenario)
        if held.verdict == "fits" and (now.verdict != "fits" or held.peak_bytes <= (1 - AT_LEAST) * now.peak_bytes):
            return change
    return None


def _told(change: Change, base: tuple[Seconds, Dollars], scenario: Scenario) -> Advice | None:
    """Return what is said of a change; None where its step cannot be simulated."""
    try:
        predicted = predict(change.scenario)
    except ForetrainError:
        return None
    seconds, dollars = _price(change.scenario, predicted.step_time_s, scenario)
    held = predicted.memory
    return Advice(
        change=change.what,
        settings=change.settings,
        verdict=held.verdict,
        p_fits=held.p_fits,
        peak_bytes=held.peak_bytes,
        usable_bytes=held.usable_bytes,
        step_time_s=seconds,
        time=seconds / base[0] - 1,
        cost=dollars / base[1] - 1 if base[1] else seconds / base[0] - 1,
    )


def _price(scenario: Scenario, seconds: Seconds, original: Scenario | None = None) -> tuple[Seconds, Dollars]:
    """Return a step's time and rent; another GPU costs as many times more as it does on the list."""
    gpu_hour, prices = scenario.prices.gpu_hour, scenario.prices
    if original is not None and original.cluster.host.gpu != scenario.cluster.host.gpu:
        gpu_hour *= list_price(scenario.cluster.host.gpu, prices.terms) / list_price(
            original.cluster.host.gpu, prices.terms
        )
    return seconds, scenario.gpus * gpu_hour * seconds / 3600
