"""How fast links would have to be for more to be no use: the question behind every faster network."""

from __future__ import annotations

from dataclasses import replace

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.collisions import collisions
from simulator.engine.prices.hiding import hiding
from simulator.outcome.results import Result, TransferResult
from simulator.scenario.scenario import Scenario


def transfers(scenario: Scenario, result: Result) -> tuple[TransferResult, ...]:
    """Return what each axis sends, and from what bandwidth on more is no use; nothing for a measured step."""
    if scenario.training.step_time is not None or scenario.model is None:
        return ()
    return tuple(
        TransferResult(
            part=one.part,
            links=one.links,
            bytes=one.nbytes,
            exposed_s=result.step.parts_s[one.part],
            bandwidth_bytes_per_s=one.bandwidth,
            hidden_at_bytes_per_s=one.hidden_at,
        )
        for one in hiding(assembly(scenario))
    )


def hashed(scenario: Scenario, result: Result) -> dict[str, float]:
    """Return the step at P10, P50 and P90 of how flows collide; nothing where routing is adaptive."""
    if scenario.training.step_time is not None or scenario.model is None:
        return {}
    if scenario.cluster.topology.routing == "adaptive":
        return {}
    built = assembly(scenario)
    return {
        name: result.step.time_s * collisions(scenario, built, luck)
        for name, luck in (("p10_s", 0.9), ("p50_s", 0.5), ("p90_s", 0.1))
    }


def network_answers(scenario: Scenario, result: Result) -> Result:
    """Return the result with what is asked of its network."""
    step = replace(result.step, transfers=transfers(scenario, result), hashed=hashed(scenario, result))
    return replace(result, step=step)
