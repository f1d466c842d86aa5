"""The training job as a simpy process: it trains to its goal, is interrupted, deals with what happened, and trains on.

What happens beside it are processes of their own: hazards, repairs, episodes, planned stops, replicas that come back.
They reach the job in two ways. A failure *strikes*: it interrupts whatever can be interrupted. Everything else *asks*
for the job: it interrupts training, and otherwise waits until the job trains again. No event is spent on a step or a
save: `Progress` tells where the work stands after any time.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import simpy

from simulator.engine.run.evaluations import Evaluations
from simulator.engine.run.patience import MOST_WAITING, NoProgressError
from simulator.engine.run.progress import Progress, Saved
from simulator.engine.run.states import BUSY, DOWN, RESTARTING, SAVING, STRUCK, TRAINING, Clocks, State
from simulator.engine.run.time_account import TimeAccount
from simulator.reliability.incident import Incident
from simulator.units import Number, Seconds

Waiting = Generator[simpy.Event, Any, Any]
"""A part of the job's process: yields what it waits for."""
Place = tuple[int, Saved] | None
"""A save and its tier, or the very start."""


class Job:
    def __init__(
        self,
        environment: simpy.Environment,
        progress: Progress,
        account: TimeAccount,
        clocks: Clocks,
        evaluations: Evaluations,
        work: Seconds,
    ) -> None:
        self.environment = environment
        self.progress = progress
        self.account = account
        self.clocks = clocks
        self.meet: Callable[[Incident], Waiting]
        """What it does about a failure while it runs; returns whether that stopped it."""
        self.meet_down: Callable[[Incident], bool]
        """What it does about one while it is down; returns whether that undoes a restart."""
        self.pace: Callable[[], Number] = lambda: 1.0
        """Time that a second of useful work takes now."""
        self.went_back: list[Callable[[], None]] = []
        """Told when training has gone back to a save."""
        self._work = work
        self._evaluations = evaluations
        self._struck: deque[Incident] = deque()
        self._asked: deque[Callable[[], Waiting]] = deque()
        self.state = STRUCK
        self._interruptible = False
        self._stalled_until = -math.inf
        self.process: simpy.Process = environment.process(self._live())

    # What others do to it.

    def strike(self, incident: Incident) -> None:
        """Strike with a failure. Raises NoProgressError where too many wait for the end of a save or a stop."""
        if self.state in (DOWN, RESTARTING):
            if self.meet_down(incident):
                self._interrupt()
        else:
            self._struck.append(incident)
            if len(self._struck) > MOST_WAITING:
                raise NoProgressError
            self._interrupt()

    def ask(self, happening: Callable[[], Waiting]) -> None:
        """Ask the job to deal with something as soon as it trains."""
        self._asked.append(happening)
        if self.state is TRAINING:
            self._interrupt()

    def change_pace(self) -> None:
        """Train on at another pace, if it is another one."""
        if self.state is TRAINING and self.pace() != self.progress.factor:
            self._interrupt()

    def _interrupt(self) -> None:
        if self._interruptible:
            self._interruptible = False
            self._enter(STRUCK)
            self.process.interrupt()

    # What it does.

    def _live(self) -> Waiting:
        """Train to the next goal, deal with what happened, and again, until the work is done and saved."""
        while True:
            while self._struck or self._asked:
                yield from self.meet(self._struck.popleft()) if self._struck else self._asked.popleft()()
            goal = min(self._work, self._evaluations.next_at)
            if (yield from self._train(goal)) and (yield from self._arrive()):
                return

    def _train(self, goal: Seconds) -> Waiting:
        """Train until the work is at `goal`, and return whether it got there."""
        progress = self.progress
        if (pace := self.pace()) != progress.factor:
            progress.run_at(pace)
        return self._stay(TRAINING, "train", progress.time_to(goal), goal)

    def _trained(self, time: Seconds, reached: Seconds | None = None) -> None:
        work, saving = self.progress.run(time, self.environment.now, reached)
        self.account.trained(time, work, saving, self.progress.factor)

    def _arrive(self) -> Waiting:
        """Evaluate, or save what is finished; return whether that is the end."""
        if self.progress.work == self._evaluations.next_at:
            self._evaluations.begin()
            if not (yield from self.busy("other", self._evaluations.time)):
                return False
        if self.progress.work < self._work:
            return False
        return (yield from self.busy("checkpoint", self.progress.last_stall))

    def busy(self, part: str, time: Seconds) -> Waiting:
        """Be up for `time` without training; return whether no failure stopped the job meanwhile."""
        while True:
            while self._struck:
                if (yield from self.meet(self._struck.popleft())):
                    return False
            if time <= 0:
                return True
            began = self.environment.now
            if (yield from self._stay(BUSY, part, time)):
                time = 0.0
            else:
                time -= self.environment.now - began

    def stall(self, time: Seconds) -> Waiting:
        """Wait for a link that is down, and for others that go down meanwhile; return whether the job died of it."""
        waits = self._stalled_until > self.environment.now
        self._stalled_until = max(self._stalled_until, self.environment.now + time)
        while not waits and (left := self._stalled_until - self.environment.now) > 0:
            if not (yield from self.busy("degraded", left)):
                self._stalled_until = -math.inf
                return True
        return False

    def save(self) -> Waiting:
        """Save to the farthest tier, outside the rhythm."""
        yield from self.spend("checkpoint", self.progress.stall_left, SAVING)
        self.progress.save_here(self.environment.now)

    def spend(self, part: str, time: Seconds, state: State = DOWN) -> Waiting:
        """Spend `time` in a state that nothing interrupts."""
        if state is not self.state:
            self._enter(state)
        if time > 0:
            self.account.begin(part, self.environment.now)
            yield self.environment.timeout(time)
            self.account.end(time)

    def spend_in_turn(self, *stretches: tuple[str, Seconds]) -> Waiting:
        """Spend one part after the other while down, where nothing strikes."""
        if self.state is not DOWN:
            self._enter(DOWN)
        time = sum([seconds for _, seconds in stretches])
        if time > 0:
            self.account.begin_in_turn(stretches, self.environment.now)
            yield self.environment.timeout(time)
            self.account.end_in_turn()

    def wait(self, part: str, event: simpy.Event) -> Waiting:
        """Be down until `event`."""
        if self.state is not DOWN:
            self._enter(DOWN)
        self.account.begin(part, self.environment.now)
        yield event
        self.account.end(self.account.under_way(self.environment.now))

    def restart(self, time: Seconds) -> Waiting:
        """Bring processes up for `time`; return whether no failure undid it."""
        return (yield from self._stay(RESTARTING, "restart", time))

    def go_back(self, place: Place) -> None:
        """Go back to a save, and do again what was done since."""
        self.account.lose(self.progress.go_back(*place) if place else self.progress.start_over())
        self._evaluations.go_back(self.progress.work)
        for tell in self.went_back:
            tell()

    def stop_the_clock(self) -> None:
        """Book what is under way when the run is cut off."""
        seconds = self.account.under_way(self.environment.now)
        if self.account.part == "train":
            self._trained(seconds)
        elif self.account.part:
            self.account.end(seconds)

    def _stay(self, state: State, part: str, time: Seconds, goal: Seconds | None = None) -> Waiting:
        """Stay in `state` for `time`, unless interrupted; return whether all of it passed. `goal`: of training."""
        end = self.environment.timeout(time) if time < math.inf else self.environment.event()
        if state is not self.state:
            self._enter(state)
        self.account.begin(part, self.environment.now)
        self._interruptible = True
        try:
            yield end
        except simpy.Interrupt:
            time, goal, undisturbed = self.account.under_way(self.environment.now), None, False
        else:
            self._interruptible, undisturbed = False, True
        if state is TRAINING:
            self._trained(time, goal)
        else:
            self.account.end(time)
        return undisturbed

    def _enter(self, state: State) -> None:
        self.clocks.change(self.state, state)
        self.state = state
        while state is DOWN and self.clocks.wall and self._struck:
            self.meet_down(self._struck.popleft())
