"""A whole step on the clock without sharing: a clock for each stage, which runs until an input is missing.

Equal to simpy's wherever no two transfers share a link, compute that is slowed beside a stage's own transfers
included. There are no events and no heap.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.engine.step import rhythm
from simulator.engine.step.commands import Barrier, Compute, Key, Put, Receive, Send, Start, Wait
from simulator.engine.step.local_clock import Flight, LocalClock, Timing
from simulator.engine.step.pieces import Do, Program, Run
from simulator.engine.step.program import programs
from simulator.engine.step.work import StepWork
from simulator.units import Seconds


class StuckError(Exception):
    """A stage waits for an input that nobody will send."""


class _Arrival(NamedTuple):
    time: Seconds
    hop: Seconds
    """How long it was on its way."""


class _Inbox:
    """What has arrived, and who waits for what has not."""

    def __init__(self) -> None:
        self.arrivals: dict[Key, _Arrival] = {}
        self.waiting: dict[Key, StageClock] = {}
        self.ready: list[StageClock] = []

    def put(self, key: Key, time: Seconds, hop: Seconds = 0.0) -> None:
        self.arrivals[key] = _Arrival(time, hop)
        if key in self.waiting:
            self.ready.append(self.waiting.pop(key))


class StageClock(LocalClock):
    """The clock of a stage among others."""

    def __init__(self, number: int, program: Program, inbox: _Inbox) -> None:
        super().__init__()
        self.number = number
        self.program = program
        self.inbox = inbox
        self.handle: Flight | None = None
        self.missing: Key | None = None

    def go_on(self) -> None:
        """Play until an input is missing, a barrier is met, or the end."""
        if self.missing is not None:
            self._receive(self.missing)
        try:
            while True:
                command = self.program.send(self.handle)
                self.handle = None
                if isinstance(command, Do):
                    self.do(command)
                elif isinstance(command, Receive):
                    if command.key not in self.inbox.arrivals:
                        self.missing = command.key
                        self.inbox.waiting[command.key] = self
                        return
                    self._receive(command.key)
                elif isinstance(command, Send):
                    self.handle = self.start(Start(command.transfer, f"to {command.target}"))
                    self.inbox.put(command.key, self.handle.end, self.handle.end - self.now)
                elif isinstance(command, Put):
                    self.inbox.put(command.key, self.now)
                elif isinstance(command, Start):
                    self.handle = self.start(command)
                elif isinstance(command, Wait):
                    self.wait(command.handle)
                elif isinstance(command, Barrier):
                    return
                elif isinstance(command, Compute):
                    self.compute(command)
                elif isinstance(command, Run):
                    self.run(command.piece, command.times)
        except StopIteration:
            return

    def _receive(self, key: Key) -> None:
        arrival = self.inbox.arrivals.pop(key)
        self.missing = None
        if (waited := arrival.time - self.now) > 0:
            exposed = min(waited, arrival.hop)
            self.account("pipeline", exposed)
            self.account("bubble", waited - exposed)
            self.now = arrival.time


def time(work: StepWork) -> Timing:
    """Return the time of a step; a long one from shorter ones, where it goes on in its rhythm."""
    return rhythm.time(work, play)


def play(work: StepWork) -> Timing:
    """Return the time of a step, task by task; raises StuckError where its stages wait for each other."""
    inbox = _Inbox()
    stages = [StageClock(number, program, inbox) for number, program in enumerate(programs(work))]
    inbox.ready = list(reversed(stages))
    while inbox.ready:
        inbox.ready.pop().go_on()
    if inbox.waiting:
        raise StuckError
    together = max(stage.now for stage in stages)
    for stage in stages:
        stage.account("bubble", together - stage.now)
        stage.now = together
        stage.go_on()
    slowest = max(stages, key=lambda stage: stage.now)
    return Timing(slowest.now, slowest.number, slowest.parts)
