"""What links would have to be for transfers to hide: the question behind every faster network."""

from __future__ import annotations

from simulator.engine.assembly import assembly
from simulator.engine.hiding import hiding
from simulator.results import Result, TransferResult
from simulator.scenario.scenario import Scenario


def transfers(scenario: Scenario, result: Result) -> tuple[TransferResult, ...]:
    """Return what each axis sends, and the bandwidth that would hide it; nothing for a measured step."""
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
