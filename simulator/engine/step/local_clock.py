"""The clock of one stage with every transfer alone on its links: how long work takes that nobody else meets."""

from __future__ import annotations

from typing import NamedTuple

from simulator.engine.step.commands import Account, Compute, Start, Wait
from simulator.engine.step.contention import Taken, pace, together
from simulator.engine.step.pieces import Alone, Do, Phase, Piece, Program, Run
from simulator.units import Seconds, Share


class Timing(NamedTuple):
    """How long a step takes, and the account of the stage that ends last; `parts` sum to `seconds`."""

    seconds: Seconds
    stage: int
    parts: Account


class Flight(NamedTuple):
    """A transfer on its way, which ends at `end` and takes its share from compute from `begin` on."""

    begin: Seconds
    end: Seconds
    takes: Taken
    part: str


class LocalClock:
    """The clock of one stage."""

    def __init__(self) -> None:
        self.now: Seconds = 0.0
        self.parts: Account = {}
        self.free: dict[str, Seconds] = {}
        self.flights: list[Flight] = []

    def account(self, part: str, seconds: Seconds) -> None:
        if seconds:
            self.parts[part] = self.parts.get(part, 0.0) + seconds

    def play(self, program: Program) -> None:
        """Play a program that neither sends nor receives."""
        handle: Flight | None = None
        try:
            while True:
                command = program.send(handle)
                handle = None
                if isinstance(command, Compute):
                    self.compute(command)
                elif isinstance(command, Start):
                    handle = self.start(command)
                elif isinstance(command, Wait):
                    self.wait(command.handle)
                elif isinstance(command, Run):
                    self.run(command.piece, command.times)
                elif isinstance(command, Do):
                    self.do(command)
        except StopIteration:
            return

    def compute(self, command: Compute) -> None:
        self.account(command.part, command.seconds)
        if self.beside():
            self._slowed(command.seconds, command.memory)
        else:
            self.now += command.seconds

    def run(self, piece: Piece, times: int) -> None:
        """Run a piece, operation by operation while something is beside it."""
        while times and self.beside():
            self.play(piece.commands(merged=True))
            times -= 1
        if times:
            self._at_once(alone(piece), times)

    def do(self, command: Do) -> None:
        """Do a task, at once where nothing is beside it."""
        if command.phase is None or self.beside():
            self.play(command.body())
        else:
            self._at_once(alone(command.phase))

    def _at_once(self, work: Alone, times: int = 1) -> None:
        self.now += times * work.seconds
        for part, seconds in work.parts.items():
            self.account(part, times * seconds)

    def beside(self) -> list[Flight]:
        """Return the transfers that take something from compute now or later."""
        if self.flights:
            self.flights = [flight for flight in self.flights if flight.end > self.now]
        return self.flights

    def start(self, command: Start) -> Flight:
        begin = max(self.free.get(command.stream, 0.0), self.now, *(flight.end for flight in command.after))
        transfer = command.transfer
        flight = Flight(begin, begin + transfer.seconds, transfer.takes, transfer.part)
        self.free[command.stream] = flight.end
        if any(transfer.takes) and transfer.seconds:
            self.flights.append(flight)
        return flight

    def wait(self, flight: Flight) -> None:
        if flight.end > self.now:
            self.account(flight.part, flight.end - self.now)
            self.now = flight.end

    def _slowed(self, seconds: Seconds, memory: Share) -> None:
        """Compute for what takes `seconds` alone, slowed by the transfers beside it."""
        began, left, blamed = self.now, seconds, ""
        while flights := self.beside():
            now = [flight for flight in flights if flight.begin <= self.now]
            later = [flight.begin for flight in flights if flight.begin > self.now]
            blamed = blamed or (now[0].part if now else "")
            rate = pace(together(flight.takes for flight in now), memory)
            until = min([flight.end for flight in now] + later)
            if self.now + left / rate <= until:
                break
            left -= (until - self.now) * rate
            self.now = until
        else:
            rate = 1.0
        self.now += left / rate
        self.account(blamed or "other", self.now - began - seconds)


def alone(work: Piece | Phase) -> Alone:
    """Return how long a piece or a phase takes with nothing beside it; it is worked out once."""
    if work.alone is None:
        clock = LocalClock()
        clock.play(work.commands() if isinstance(work, Piece) else work.body())
        work.alone = Alone(clock.now, clock.parts)
    return work.alone
