"""The streams of a stage in simpy: one that computes, and one for each kind of transfer."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import simpy

from simulator.engine.step.commands import Key
from simulator.engine.step.contention import pace, together
from simulator.engine.step.transfers import Transfer
from simulator.units import Seconds, Share

Process = Generator[simpy.Event, Any, Any]
Loads = dict[Any, Share]


class Sent(simpy.Event):
    """The end of a transfer, and the account of whoever waits for it."""

    def __init__(self, env: simpy.Environment, part: str) -> None:
        super().__init__(env)
        self.part = part
        self.began = math.inf
        """When it was handed to its stream; never where it stays on its stage."""


@dataclass(eq=False)
class Transmission:
    """A transfer that waits for its turn, or is under way."""

    transfer: Transfer
    loads: Loads
    """Share of each link that it fills alone."""
    after: tuple[simpy.Event, ...]
    """What must be done before."""
    done: Sent
    name: str = ""
    key: Key | None = None
    """The input of another stage that it is."""


@dataclass
class _Running:
    """What the compute stream is at."""

    left: Seconds
    """What is left of it, as long as it would take alone."""
    done: simpy.Event
    since: Seconds
    memory: Share
    """Of its time, that is bound by memory."""
    rate: Share = 1.0
    """What transfers beside it leave of compute."""
    blamed: str = ""
    """The account of the first of those transfers."""
    version: int = 0


class ComputeStream:
    """What computes on a stage: one operation at a time, slower for as long as transfers take something from it."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env
        self.takers = 0
        """Transfers, queued or under way, that slow compute while they run."""
        self._taking: dict[Transmission, None] = {}
        self._running: _Running | None = None

    def compute(self, seconds: Seconds, memory: Share = 0.0) -> Generator[simpy.Event, Any, tuple[str, Seconds] | None]:
        """Compute what takes `seconds` alone, a share of them bound by memory; return what it took longer, and the
        account of that."""
        if not self.takers:
            yield self.env.timeout(seconds)
            return None
        began = self.env.now
        running = self._running = _Running(seconds, self.env.event(), began, memory)
        self._schedule(running)
        yield running.done
        self._running = None
        longer = self.env.now - began - seconds
        return (running.blamed or "other", longer) if longer > 1e-15 * self.env.now else None

    def take(self, one: Transmission) -> None:
        """Note that a transfer begins to take its share."""
        self._taking[one] = None
        self._changed()

    def give_back(self, one: Transmission) -> None:
        """Note that a transfer is done."""
        del self._taking[one]
        self.takers -= 1
        self._changed()

    def _changed(self) -> None:
        if (running := self._running) is not None and not running.done.triggered:
            running.left -= (self.env.now - running.since) * running.rate
            self._schedule(running)

    def _schedule(self, running: _Running) -> None:
        """Go on with what is running under what is taken from it now."""
        running.since = self.env.now
        running.rate = pace(together(one.transfer.takes for one in self._taking), running.memory)
        running.blamed = running.blamed or next((one.transfer.part for one in self._taking), "")
        running.version += 1
        version = running.version

        def end(_: simpy.Event) -> None:
            if running.version == version:
                running.done.succeed()

        self.env.timeout(max(running.left / running.rate, 0.0)).callbacks.append(end)


class CommunicationStream:
    """A stream of transfers, one after the other in the order in which they were added."""

    def __init__(
        self,
        env: simpy.Environment,
        send: Callable[[Seconds, Loads], simpy.Event],
        beside: ComputeStream,
        sent: Callable[[Transmission, Seconds], None],
    ) -> None:
        """Begin a stream that sends by `send`, slows what is `beside` it, and tells `sent` of ends and their starts."""
        self.env = env
        self._send = send
        self._beside = beside
        self._sent = sent
        self._queue: deque[Transmission] = deque()
        self._wake: simpy.Event | None = None
        env.process(self._work())

    def add(self, one: Transmission) -> None:
        one.done.began = self.env.now
        self._beside.takers += any(one.transfer.takes)
        self._queue.append(one)
        if self._wake is not None:
            self._wake.succeed()
            self._wake = None

    def _work(self) -> Process:
        while True:
            while self._queue:
                one = self._queue.popleft()
                for event in one.after:
                    if not event.processed:
                        yield event
                began = self.env.now
                if any(one.transfer.takes):
                    self._beside.take(one)
                yield self._send(one.transfer.seconds, one.loads)
                if any(one.transfer.takes):
                    self._beside.give_back(one)
                self._sent(one, began)
                one.done.succeed()
            self._wake = self.env.event()
            yield self._wake
