"""One step in simpy: every stage and every stream of it is a process, and transfers share links.

Replicas are alike, so that one is simulated; the GPUs of a stage send at the same time what they send. Work that
nothing outside of it can slow is played operation by operation the first time it is met, and takes as long
the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import simpy

from simulator.engine.step import rhythm
from simulator.engine.step.commands import Account, Compute, Key, Put, Receive, Send, Start, Wait
from simulator.engine.step.links import Links
from simulator.engine.step.local_clock import Timing, alone
from simulator.engine.step.pieces import Do, Phase, Piece, Program, Run
from simulator.engine.step.program import stage
from simulator.engine.step.streams import CommunicationStream, ComputeStream, Process, Sent, Transmission
from simulator.engine.step.transfers import Transfer, Volume, add, is_in
from simulator.engine.step.work import DATA, RECEIVED, SEND, StepWork
from simulator.errors import ConservationError
from simulator.sums import added
from simulator.units import Seconds, Share


@dataclass(frozen=True)
class Span:
    """Something that occupied a track of the step from `start` for `duration`."""

    track: str
    name: str
    start: Seconds
    duration: Seconds
    kind: str


@dataclass(frozen=True)
class Step:
    timing: Timing
    spans: tuple[Span, ...]
    """Tasks, and transfers between stages and replicas."""
    operations: tuple[Span, ...]
    """Of each kind of work, the operations and exchanges of the first one, on the track of their stream."""
    meetings: int
    """How often the shares of links were solved because transfers met."""


def simulate(work: StepWork, *, fold: bool = True) -> Step:
    """Return how one step unfolds; without `fold` every operation is an event."""
    world = _World(work, fold)
    stages = [_Stage(world, number) for number in range(work.stages)]
    world.env.run(until=simpy.AllOf(world.env, [stage.process for stage in stages]))
    slowest = max(stages, key=lambda stage: stage.finished)
    _conserved(work, stages)
    timing = Timing(slowest.finished, slowest.number, slowest.parts)
    return Step(timing, tuple(world.spans), tuple(world.operations), world.links.solved)


def _conserved(work: StepWork, stages: Sequence[_Stage]) -> None:
    """Raise ConservationError where stages have not sent what the layout implies, or time was lost."""
    sent: Volume = {}
    for one in stages:
        add(sent, one.sent.items())
        passed = added(one.parts.values())
        if abs(passed - one.finished) > 1e-6 * one.finished:
            raise ConservationError(f"{one.track} accounts for {passed} s of {one.finished} s")
    for way in sent.keys() | work.sent.keys():
        played, implied = sent.get(way, 0.0), work.sent.get(way, 0.0)
        if abs(played - implied) > 1e-6 * implied:
            raise ConservationError(f"{way.axis}: {played:.9g} B over {way.links} links, not {implied:.9g} B")


class _World:
    """What the stages share: the clock, the links, and what has arrived where."""

    def __init__(self, work: StepWork, fold: bool) -> None:
        self.env = simpy.Environment()
        self.work = work
        self.fold = fold
        self.links = Links(self.env)
        self.spans: list[Span] = []
        self.operations: list[Span] = []
        self.arrivals: dict[Key, Sent] = {}
        self.met: set[Piece] = set()
        """What was played operation by operation."""
        self.known: dict[Phase, tuple[Seconds, Account, Volume]] = {}
        """What phases took and sent that nothing outside of them met."""
        self.here = 0
        self.all_here = self.env.event()

    def arrival(self, key: Key) -> Sent:
        """Return the event that an input is there."""
        if key not in self.arrivals:
            self.arrivals[key] = Sent(self.env, "pipeline")
        return self.arrivals[key]


class _Stage:
    """One stage: its compute stream, its communication streams, and the account of its time."""

    def __init__(self, world: _World, number: int) -> None:
        self.world = world
        self.env = world.env
        self.number = number
        self.track = f"stage {number}"
        self.parts: Account = {}
        self.sent: Volume = {}
        self.stream = ComputeStream(self.env)
        self.streams: dict[str, CommunicationStream] = {}
        self.pending: dict[str, int] = {}
        """Transfers of each stream that are queued or under way."""
        self.finished = 0.0
        self.process = self.env.process(self.work())

    def work(self) -> Process:
        yield from self.play(stage(self.world.work, self.number))
        self.finished = self.env.now

    def play(self, program: Program) -> Process:
        answer: simpy.Event | None = None
        while True:
            try:
                command = program.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(command, Do):
                yield from self.do(command)
            elif isinstance(command, Receive):
                yield from self.receive(command.key)
            elif isinstance(command, Send):
                answer = self.queue(f"to {command.target}", command.transfer, "", (), command.target, command.key)
            elif isinstance(command, Start):
                answer = self.queue(command.stream, command.transfer, command.name, command.after)
            elif isinstance(command, Wait):
                yield from self.wait(command.handle)
            elif isinstance(command, Compute):
                yield from self.compute(command)
            elif isinstance(command, Run):
                yield from self.run(command)
            elif isinstance(command, Put):
                self.world.arrival(command.key).succeed()
            else:
                yield from self.meet()

    def account(self, part: str, seconds: Seconds) -> None:
        if seconds:
            self.parts[part] = self.parts.get(part, 0.0) + seconds

    # The compute stream.

    def do(self, command: Do) -> Process:
        """Do a task: at once where it was played before and nothing outside of it can slow it, else step by step."""
        began, phase, known = self.env.now, command.phase, self.world.known
        alike = phase is not None and self.world.fold and self._nothing_meets(phase)
        if alike and phase in known:
            seconds, parts, sent = known[phase]
            add(self.sent, sent.items())
            for part, time in parts.items():
                self.account(part, time)
            if seconds:
                yield self.env.timeout(seconds)
        else:
            before, sent_before = dict(self.parts), dict(self.sent)
            yield from self.play(command.body())
            if alike and phase is not None:
                more = {part: time - before.get(part, 0.0) for part, time in self.parts.items()}
                sent = {way: nbytes - sent_before.get(way, 0.0) for way, nbytes in self.sent.items()}
                known[phase] = self.env.now - began, {part: time for part, time in more.items() if time}, sent
        if command.name and self.env.now > began:
            self.world.spans.append(Span(self.track, command.name, began, self.env.now - began, command.kind))

    def _nothing_meets(self, phase: Phase) -> bool:
        """Return whether nothing can slow the phase but itself, so that it takes as long each time.

        Its own stage starts nothing else meanwhile; other stages may send to it at any time.
        """
        if self.stream.takers:
            return False
        conflicts = self.world.work.conflicts
        others = (conflicts[stream] for stream in phase.streams if stream in conflicts)
        return not any(other == RECEIVED or self.pending.get(other) for those in others for other in those)

    def _meets(self, piece: Piece) -> frozenset[str]:
        """Return the streams of a piece whose exchanges others may meet now: what other stages send at any time, what
        this stage has under way, or exchanges of the piece itself that run beside each other."""
        conflicts = self.world.work.conflicts
        found = []
        for stream in piece.streams & conflicts.keys():
            others = conflicts[stream]
            inside = not piece.one_by_one and bool(others & piece.streams)
            if inside or RECEIVED in others or any(self.pending.get(other) for other in others):
                found.append(stream)
        return frozenset(found)

    def run(self, command: Run) -> Process:
        """Run a piece: the first of its kind operation by operation, the others in one go."""
        piece, count, world = command.piece, command.times, self.world
        if not world.fold:
            for _ in range(count):
                yield from self.play(piece.commands())
            return
        if piece not in world.met:
            world.met.add(piece)
            yield from self.play(piece.commands())
            count -= 1
        while count and (self.stream.takers or (shared := self._meets(piece))):
            yield from self.play(piece.commands(merged=True) if self.stream.takers else piece.cut(shared))
            count -= 1
        if count:
            line = alone(piece)
            add(self.sent, piece.sent.items(), count)
            for part, seconds in line.parts.items():
                self.account(part, count * seconds)
            yield self.env.timeout(count * line.seconds)

    def compute(self, command: Compute) -> Process:
        began, seconds = self.env.now, command.seconds
        self.account(command.part, seconds)
        add(self.sent, command.payload)
        if slowed := (yield from self.stream.compute(seconds, command.memory)):
            self.account(*slowed)
        if command.name:
            self.world.operations.append(Span(self.track, command.name, began, self.env.now - began, command.part))

    # Communication.

    def queue(
        self,
        stream: str,
        transfer: Transfer,
        name: str,
        after: tuple[simpy.Event, ...],
        target: int | None = None,
        key: Key | None = None,
    ) -> Sent:
        """Queue a transfer on a stream, and return the event of its end."""
        if stream not in self.streams:
            send = self.world.links.send
            self.streams[stream] = CommunicationStream(self.env, send, self.stream, partial(self.done, stream))
        add(self.sent, transfer.payload)
        done = Sent(self.env, transfer.part) if key is None else self.world.arrival(key)
        kind = stream if key is None else SEND
        self.pending[kind] = self.pending.get(kind, 0) + 1
        self.streams[stream].add(Transmission(transfer, self.loads(transfer, target), after, done, name, key))
        return done

    def loads(self, transfer: Transfer, target: int | None) -> dict[Any, Share]:
        """Return the links that a transfer fills: those of this stage, and the way in of the stage that it goes to."""
        into = self.number if target is None else target
        return {(link, into if is_in(link) else self.number): load for link, load in transfer.loads}

    def done(self, stream: str, one: Transmission, began: Seconds) -> None:
        """Note that a transfer is done."""
        self.pending[stream if one.key is None else SEND] -= 1
        duration = self.env.now - began
        if not duration:
            return
        if one.key is not None:
            forward, microbatch, _ = one.key
            track = f"{self.track} {'send' if forward else 'send back'}"
            self.world.spans.append(Span(track, f"{microbatch}", began, duration, "pipeline"))
            return
        log = self.world.spans if stream == DATA else self.world.operations
        log.append(Span(f"{self.track} {stream}", one.name, began, duration, one.transfer.part))

    def wait(self, done: Sent) -> Process:
        if not done.processed:
            began = self.env.now
            yield done
            self.account(done.part, self.env.now - began)

    def receive(self, key: Key) -> Process:
        arrival = self.world.arrival(key)
        if not arrival.processed:
            began = self.env.now
            yield arrival
            waited = self.env.now - began
            exposed = max(0.0, min(waited, self.env.now - arrival.began))
            self.account("pipeline", exposed)
            self.account("bubble", waited - exposed)

    def meet(self) -> Process:
        """Wait for every stage."""
        began = self.env.now
        self.world.here += 1
        if self.world.here == self.world.work.stages:
            self.world.all_here.succeed()
        yield self.world.all_here
        self.account("bubble", self.env.now - began)


def time(work: StepWork) -> Timing:
    """Return the time of one step; a long one from shorter ones, where it goes on in its rhythm."""
    return rhythm.time(work, lambda one: simulate(one).timing)
