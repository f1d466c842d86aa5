"""Steps made of plain numbers, for tests of the clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from simulator.engine.step.commands import Compute
from simulator.engine.step.contention import Taken
from simulator.engine.step.pieces import COMPUTE, Item, Piece
from simulator.engine.step.transfers import Transfer
from simulator.engine.step.work import Chunk, StepWork, Unit
from simulator.kinds import kinds
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward

SCHEDULES = [kind() for kind in kinds("simulator.workload.schedules", Schedule).values()]
NO_TRANSFER = Transfer()


def piece(*seconds: float) -> Piece:
    return Piece(tuple(Item(COMPUTE, one, memory=0.3) for one in seconds))


def unit(forward: float = 1.0, backward: float = 2.0, **more: Any) -> Unit:
    half = piece(backward / 2)
    pieces = {"F": (piece(forward),), "B": (piece(backward),), "I": (half,), "W": (half,)}
    return Unit(pieces=pieces, **more)


def chunk(forward: float = 1.0, backward: float = 2.0, **more: Any) -> Chunk:
    """Return a chunk of equal layers; `reduce` and `gather` are shared out among them."""
    layers = more.pop("layers", 2)
    transfers = {name: _shared_out(more.pop(name, NO_TRANSFER), layers) for name in ("reduce", "gather")}
    return Chunk(units=(unit(forward / layers, backward / layers, count=layers),), **transfers, **more)


def _shared_out(whole: Transfer, layers: int) -> tuple[Transfer, ...]:
    return (whole.part_of(1 / layers),) * layers if whole.seconds else ()


def equal(schedule: Schedule, stages: int, microbatches: int, forward=1.0, backward=2.0, **more: Any) -> StepWork:
    parts = len(schedule.route(stages))
    chunks = tuple(chunk(forward, backward) for _ in range(parts))
    return StepWork(schedule=schedule, stages=stages, microbatches=microbatches, chunks=chunks, **more)


times = st.floats(0.05, 3.0)


@st.composite
def works(draw: Any, stages: tuple[int, ...] = (2, 4), load: float = 0.0, takes: float = 0.1) -> StepWork:
    """Steps of any schedule; their transfers fill `load` of the links of a GPU and take up to `takes` of compute."""
    schedule, count = draw(st.sampled_from(SCHEDULES)), draw(st.sampled_from(stages))
    microbatches = count * draw(st.integers(2, 4))
    if schedule.check(count, microbatches):
        schedule = OneForwardOneBackward()
    loads = (("nic out", load), ("nic in", load)) if load else ()
    taken = Taken(*draw(st.sampled_from([(0.0, 0.0), (takes, takes / 2), (0.0, takes)])))
    chunks = tuple(
        chunk(
            draw(times),
            draw(times),
            layers=draw(st.integers(1, 4)),
            launch=draw(st.sampled_from([0.0, 0.1])),
            reduce=Transfer("data", draw(st.sampled_from([0.0, 0.3, 5.0])), loads=loads, takes=taken),
            gather=Transfer("data", draw(st.sampled_from([0.0, 0.3, 5.0])), loads=loads, takes=taken),
        )
        for _ in schedule.route(count)
    )
    return StepWork(
        schedule=schedule,
        stages=count,
        microbatches=microbatches,
        chunks=chunks,
        send=Transfer("pipeline", draw(st.sampled_from([0.0, 0.2, 2.0])), loads=loads),
        blocking_send=draw(st.booleans()),
        overlap_reduce=draw(st.booleans()),
        reduce_each_round=draw(st.booleans()),
        overlap_gather=draw(st.booleans()),
        optimizer=tuple((Compute(draw(times), "optimizer"),) for _ in range(count)),
    )


def sharded(work: StepWork, gather: Transfer, reduce: Transfer, prefetch: int) -> StepWork:
    """Return the step with weights gathered unit by unit in every microbatch."""
    chunks = tuple(
        replace(
            one,
            units=tuple(replace(u, gather=gather, gather_again=gather, reduce=reduce) for u in one.units),
            prefetch=prefetch,
            reduce=(),
            gather=(),
        )
        for one in work.chunks
    )
    return replace(work, chunks=chunks)
