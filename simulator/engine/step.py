"""One optimizer step in simpy: stages work in the order of their schedule, transfers share links.

Where no two transfers share a link at once this is `pipeline`, to rounding; elsewhere this is the answer.
Replicas are alike, so one is simulated; what a stage's GPUs send, they send at the same time.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import simpy

from simulator.engine.order import orders, positions, reductions, stage_of
from simulator.engine.pipeline import Timing, spread
from simulator.engine.wires import Wires
from simulator.engine.work import ChunkWork, Span, StepWork, Transfer
from simulator.sums import added
from simulator.units import Seconds, Share

Process = Generator[simpy.Event, object, None]


@dataclass(frozen=True)
class Step:
    timing: Timing
    spans: tuple[Span, ...]
    busy: dict[str, Share]
    """Mean and peak load of the scale-out links of a GPU over the step."""


def simulate(work: StepWork) -> Step:
    """Return how one step unfolds."""
    env = simpy.Environment()
    world = _World(env, work)
    stages = [_Stage(world, number) for number in range(work.stages)]
    for stage in stages:
        env.process(stage.work())
    env.run()
    if len(world.finished) < work.stages:
        raise AssertionError(f"{work.schedule} waits forever with {work.stages} stages")
    slowest = max(stages, key=lambda stage: world.finished[stage.number])
    seconds = world.finished[slowest.number]
    loads = [carried / seconds for carried in world.wires.carried.values()] if seconds else []
    busy = {"mean": added(loads) / len(loads), "peak": max(loads)} if loads else {}
    return Step(Timing(seconds, slowest.number, slowest.parts), tuple(world.spans), busy)


class _World:
    """What the stages share: the clock, the wires, and what has arrived where."""

    def __init__(self, env: simpy.Environment, work: StepWork) -> None:
        self.env = env
        self.model = work
        self.wires = Wires(env)
        self.where = stage_of(work.schedule, work.stages, work.microbatches)
        self.orders = orders(work.schedule, work.stages, work.microbatches)
        self.spans: list[Span] = []
        self.arrivals: dict[tuple[bool, int, int], simpy.Event] = {}
        self.hops: dict[tuple[bool, int, int], Seconds] = {}
        self.reduced = 0
        self.all_reduced = env.event()
        self.finished: dict[int, Seconds] = {}

    def arrival(self, key: tuple[bool, int, int]) -> simpy.Event:
        """Return the event that the input of (is forward, microbatch, position) is there."""
        if key not in self.arrivals:
            self.arrivals[key] = self.env.event()
        return self.arrivals[key]

    def deliver(self, key: tuple[bool, int, int], source: int, target: int) -> Process:
        began = self.env.now
        yield self.wires.send(self.model.send, (("out", source), ("in", target)))
        self.hops[key] = self.env.now - began
        direction = "send" if key[0] else "send back"
        self.spans.append(Span(f"stage {source} {direction}", f"{key[1]}", began, self.env.now - began, "pipeline"))
        self.arrival(key).succeed()


class _Stage:
    """One stage: its compute stream, its data stream, and the account of its time."""

    def __init__(self, world: _World, number: int) -> None:
        self.world = world
        self.env = world.env
        self.model = world.model
        self.number = number
        self.parts: dict[str, Seconds] = {}
        shape = self.model.schedule, self.model.stages, self.model.microbatches
        self.reductions = reductions(*shape, self.model.overlap_reduce, self.model.reduce_each_round)[number]
        self.held = positions(*shape)[number]
        self.data = simpy.Resource(world.env)
        self.pending: list[simpy.Event] = []
        self.ready: dict[int, simpy.Event] = {}
        self.links = (("out", number), ("in", number))

    def account(self, part: str, seconds: Seconds) -> None:
        if seconds:
            self.parts[part] = self.parts.get(part, 0.0) + seconds

    def span(self, name: str, start: Seconds, kind: str, track: str = "") -> None:
        if self.env.now > start:
            label = f"stage {self.number}" + (f" {track}" if track else "")
            self.world.spans.append(Span(label, name, start, self.env.now - start, kind))

    def work(self) -> Process:
        model = self.model
        if model.overlap_gather:
            self.ready = {position: self.env.event() for position in self.held}
            self.env.process(self._gather_all(dict(self.ready)))
        for phase, microbatch, position in self.world.orders[self.number]:
            yield from self._wait(phase, microbatch, position)
            yield from self._do(phase, microbatch, position)
        if not (model.overlap_reduce or model.reduce_each_round):
            for position in self.held:
                yield from self._exposed(model.chunks[position].reduce, "reduce")
        began = self.env.now
        if self.pending:
            yield self.env.all_of(self.pending)
        self.account("data", self.env.now - began)
        yield from self._barrier()
        yield from self._finish()

    def _gather_all(self, ready: dict[int, simpy.Event]) -> Process:
        """Gather the weights of the chunks in their order; a chunk may start when enough of it is there."""
        with self.data.request() as turn:
            yield turn
            for position in self.held:
                chunk = self.model.chunks[position]
                began = self.env.now
                hidden = spread(chunk.gather.seconds, chunk.forward.seconds, chunk.layers)
                first = 1 - hidden / chunk.gather.seconds if chunk.gather.seconds else 1.0
                yield self.world.wires.send(chunk.gather * first, self.links)
                ready[position].succeed()
                if first < 1:
                    yield self.world.wires.send(chunk.gather * (1 - first), self.links)
                self.span("gather", began, "data", "data")

    def _wait(self, phase: str, microbatch: int, position: int) -> Process:
        """Wait for the input of a task and, before its first forward, for the weights of the chunk."""
        self.gathering = False
        last = len(self.model.chunks) - 1
        key = (phase == "F", microbatch, position)
        awaited = position > 0 if phase == "F" else phase != "W" and position < last
        if awaited:
            began = self.env.now
            arrival = self.world.arrival(key)
            if not arrival.processed:
                yield arrival
            waited = self.env.now - began
            exposed = min(waited, self.world.hops.get(key, 0.0))
            if waited > 0:
                self.account("pipeline", exposed)
                self.account("bubble", waited - exposed)
        if phase == "F" and position in self.ready:
            began = self.env.now
            gathered = self.ready.pop(position)
            if not gathered.processed:
                yield gathered
            self.account("data", self.env.now - began)
            self.gathering = True

    def _do(self, phase: str, microbatch: int, position: int) -> Process:
        model, chunk = self.model, self.model.chunks[position]
        piece, began = chunk.phase(phase), self.env.now
        reducing = phase in "BW" and chunk.reduce.seconds > 0 and (microbatch, position) in self.reductions
        beside = 0.0
        if self.gathering:
            beside = spread(chunk.gather.seconds, piece.seconds, chunk.layers)
        if reducing and model.overlap_reduce:
            beside = spread(chunk.reduce.seconds, piece.seconds, chunk.layers)
        slowed = model.communication_sms * beside
        for part, seconds in piece.parts.items():
            self.account(part, seconds)
        if slowed:
            self.account("data", slowed)
        end = began + piece.seconds + slowed
        if reducing and model.overlap_reduce:
            self.pending.append(self.env.process(self._reduce(chunk, end, piece.seconds)))
        yield self.env.timeout(piece.seconds + slowed)
        self.span(f"{phase}{microbatch}", began, phase)
        if phase != "W":
            yield from self._hand_on(phase, microbatch, position)
        if reducing and not model.overlap_reduce:
            yield from self._exposed(chunk.reduce, "reduce")

    def _hand_on(self, phase: str, microbatch: int, position: int) -> Process:
        """Give the output of a task to the stage that needs it next."""
        after = position + 1 if phase == "F" else position - 1
        if not 0 <= after < len(self.model.chunks):
            return
        key, target = (phase == "F", microbatch, after), self.world.where[microbatch][after]
        if target == self.number:
            self.world.arrival(key).succeed()
            return
        delivery = self.env.process(self.world.deliver(key, self.number, target))
        if self.model.blocking_send:
            began = self.env.now
            yield delivery
            self.account("pipeline", self.env.now - began)

    def _reduce(self, chunk: ChunkWork, end: Seconds, compute: Seconds) -> Process:
        """Reduce a chunk's gradients beside its backward, which ends at `end`, from the first layers done on."""
        start = end - spread(chunk.reduce.seconds, compute, chunk.layers)
        if start > self.env.now:
            yield self.env.timeout(start - self.env.now)
        with self.data.request() as turn:
            yield turn
            began = self.env.now
            yield self.world.wires.send(chunk.reduce, self.links)
            earliest = end + chunk.reduce.seconds / max(chunk.layers, 1)
            if earliest > self.env.now:
                yield self.env.timeout(earliest - self.env.now)
            self.span("reduce", began, "data", "data")

    def _exposed(self, transfer: Transfer, name: str) -> Process:
        began = self.env.now
        yield self.world.wires.send(transfer, self.links)
        self.account("data", self.env.now - began)
        self.span(name, began, "data")

    def _barrier(self) -> Process:
        """Wait for every stage: the norm of the gradients needs all of them."""
        began = self.env.now
        self.world.reduced += 1
        if self.world.reduced == self.model.stages:
            self.world.all_reduced.succeed()
        yield self.world.all_reduced
        self.account("bubble", self.env.now - began)

    def _finish(self) -> Process:
        model = self.model
        if model.optimizer:
            began = self.env.now
            yield self.env.timeout(model.optimizer[self.number].seconds)
            for part, seconds in model.optimizer[self.number].parts.items():
                self.account(part, seconds)
            self.span("optimizer", began, "optimizer")
        if not model.overlap_gather:
            for position in self.held:
                yield from self._exposed(model.chunks[position].gather, "gather")
        if model.end:
            began = self.env.now
            yield self.env.timeout(model.end[self.number].seconds)
            for part, seconds in model.end[self.number].parts.items():
                self.account(part, seconds)
            self.span("end", began, "other")
        self.world.finished[self.number] = self.env.now
