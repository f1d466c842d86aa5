"""The fast clock: the longest path through a step, with every transfer alone on its links.

Equal to the simpy step where no two axes share a link at once. A schedule repeats itself after it has filled, so
that a long step is a short one plus a number of equal periods.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from simulator.engine.order import positions, reductions, sequence
from simulator.engine.work import ChunkWork, StepWork
from simulator.sums import added
from simulator.units import Seconds


@dataclass(frozen=True)
class Timing:
    """How long a step takes, and the account of the stage that ends last; `parts` sum to `seconds`."""

    seconds: Seconds
    stage: int
    parts: dict[str, Seconds]


FILLED = 3
"""Periods after which the stages are usually in their rhythm."""


def time(work: StepWork, without: Collection[str] = ()) -> Timing:
    """Return the time of a step; once two periods in a row take the same time, the rest do too.

    As long as they take less than the busiest stage needs for one, that stage still works off its start.

    `without` a bubble it is the work of the busiest stage alone.
    """
    if "bubble" in without:
        timing = time(work)
        idle = timing.parts.get("bubble", 0.0)
        return replace(timing, seconds=timing.seconds - idle, parts={**timing.parts, "bubble": 0.0})
    period = work.schedule.period(work.stages, work.microbatches)
    groups = work.microbatches // period - FILLED - 1 if period else 0
    if period is None or groups < 2:
        return play(work)
    short = work.microbatches - groups * period
    first, second, third = (play(replace(work, microbatches=short + more * period)) for more in (-1, 0, 1))
    rise = third.seconds - second.seconds
    uneven = second.stage != third.stage or abs(second.seconds - first.seconds - rise) > 1e-9 * rise
    if uneven or rise < (1 - 1e-9) * period * _busiest(work):
        return play(work)
    parts = {name: part + groups * (third.parts.get(name, 0.0) - part) for name, part in second.parts.items()}
    return Timing(second.seconds + groups * rise, third.stage, parts)


def _busiest(work: StepWork) -> Seconds:
    """Return the work of one microbatch on the stage that has most of it."""
    busy = [0.0] * work.stages
    for (stage, _), chunk in zip(work.schedule.route(work.stages), work.chunks, strict=True):
        back = chunk.input_gradient + chunk.weight_gradient if work.schedule.splits else chunk.backward
        busy[stage] += chunk.forward.seconds + back.seconds
    return max(busy)


def spread(transfer: float, compute: float, layers: int) -> float:
    """Return how much of a transfer can run before a chunk ends (or after it starts), layer by layer."""
    return (1 - 1 / max(layers, 1)) * min(transfer, compute)


def play(work: StepWork) -> Timing:
    """Return the time of a step, task by task."""
    shape = work.schedule, work.stages, work.microbatches
    reduced = reductions(*shape, work.overlap_reduce, work.reduce_each_round)
    stages = [_Stage(work, *one) for one in zip(range(work.stages), positions(*shape), reduced, strict=True)]
    send, ends = work.send.seconds, list[Seconds]()
    for number, phase, microbatch, position, needs, receives, sends in sequence(*shape):
        stage = stages[number]
        hop = send if receives else 0.0
        arrival = ends[needs] + hop if needs >= 0 else 0.0
        ends.append(stage.do(phase, microbatch, position, arrival, hop))
        if sends and work.blocking_send:
            stage.block(send)
    return finish(work, stages)


class _Stage:
    """One stage on the fast clock: when it is free, and what it has done with its time."""

    def __init__(self, work: StepWork, number: int, held: tuple[int, ...], reduced: frozenset[tuple[int, int]]) -> None:
        self.work = work
        self.number = number
        self.positions = held
        self.reductions = reduced
        self.now = 0.0
        self.parts: dict[str, float] = {}
        self.data = 0.0
        """When the data stream is free."""
        self.ready: dict[int, float] = {}
        for position in self.positions:
            self.data += work.chunks[position].gather.seconds if work.overlap_gather else 0.0
            self.ready[position] = self.data

    def account(self, part: str, seconds: float) -> None:
        if seconds:
            self.parts[part] = self.parts.get(part, 0.0) + seconds

    def do(self, phase: str, microbatch: int, position: int, arrival: float, hop: float) -> float:
        """Run a task as soon as the stage is free, its input there and its weights gathered; return its end."""
        chunk = self.work.chunks[position]
        piece = chunk.phase(phase)
        if arrival > self.now:
            exposed = min(hop, arrival - self.now)
            self.account("pipeline", exposed)
            self.account("bubble", arrival - self.now - exposed)
            self.now = arrival
        beside = 0.0
        if phase == "F" and position in self.ready:
            gathered = self.ready.pop(position)
            hidden = spread(chunk.gather.seconds, piece.seconds, chunk.layers)
            beside = hidden if self.work.overlap_gather else 0.0
            start = gathered - hidden
            if start > self.now:
                self.account("data", start - self.now)
                self.now = start
        reducing = phase in "BW" and chunk.reduce.seconds > 0 and (microbatch, position) in self.reductions
        if reducing and self.work.overlap_reduce:
            beside = spread(chunk.reduce.seconds, piece.seconds, chunk.layers)
        parts = self.parts
        for part, seconds in piece.parts.items():
            parts[part] = parts.get(part, 0.0) + seconds
        slowed = self.work.communication_sms * beside
        if slowed:
            self.account("data", slowed)
        self.now += piece.seconds + slowed
        end = self.now
        if reducing and self.work.overlap_reduce:
            self.reduce(chunk, piece.seconds)
        elif reducing:
            self.account("data", chunk.reduce.seconds)
            self.now += chunk.reduce.seconds
        return end

    def reduce(self, chunk: ChunkWork, beside: float) -> None:
        """Queue the reduction of a chunk on the data stream; its first layers' gradients are ready before its last."""
        start = self.now - spread(chunk.reduce.seconds, beside, chunk.layers)
        end = max(self.data, start) + chunk.reduce.seconds
        self.data = max(end, self.now + chunk.reduce.seconds / max(chunk.layers, 1))

    def block(self, seconds: float) -> None:
        self.account("pipeline", seconds)
        self.now += seconds


def finish(work: StepWork, stages: list[_Stage]) -> Timing:
    """Close the step: outstanding reductions, a barrier for the gradient norm, optimizer, gather, the rest."""
    for stage in stages:
        if not (work.overlap_reduce or work.reduce_each_round):
            reduce = added(work.chunks[position].reduce.seconds for position in stage.positions)
            stage.account("data", reduce)
            stage.now += reduce
        if stage.data > stage.now:
            stage.account("data", stage.data - stage.now)
            stage.now = stage.data
    barrier = max(stage.now for stage in stages)
    for stage in stages:
        if barrier > stage.now:
            stage.account("bubble", barrier - stage.now)
            stage.now = barrier
        if work.optimizer:
            for part, seconds in work.optimizer[stage.number].parts.items():
                stage.account(part, seconds)
            stage.now += work.optimizer[stage.number].seconds
        if not work.overlap_gather:
            gather = added(work.chunks[position].gather.seconds for position in stage.positions)
            stage.account("data", gather)
            stage.now += gather
        if work.end:
            for part, seconds in work.end[stage.number].parts.items():
                stage.account(part, seconds)
            stage.now += work.end[stage.number].seconds
    slowest = max(stages, key=lambda stage: stage.now)
    return Timing(slowest.now, slowest.number, slowest.parts)
