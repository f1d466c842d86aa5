"""How far the work of a run is, and what of it is saved: arithmetic on whole stretches of running.

Between two happenings training runs at one speed and saves at a fixed rhythm, so that where it stands after
any time follows from a division, however many saves lie between. Saves are numbered from `origin`, the work
that the last restart from the farthest tier (or the start) began with; save g is made at origin + g x interval
and goes to the farthest tier that is due. The rhythm repeats after each save to the farthest tier.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

from simulator.reliability.checkpointing.plan import SavePlan
from simulator.units import Seconds

_NEVER = 1e300
"""An interval that no run reaches, for plans without saves: unlike infinity it can be multiplied by 0."""


class Saved(NamedTuple):
    """A save: the work in it, its number, and when it can be used."""

    work: Seconds
    number: int
    ready: Seconds


class Progress:
    def __init__(self, plan: SavePlan) -> None:
        self.work = 0.0
        """Useful work done and not lost, in seconds at full speed."""
        self._origin = 0.0
        self._number = 0
        """Saves made since the origin."""
        self._since = 0.0
        """Work since the last save."""
        self._stalled = 0.0
        """Time already spent in the save under way."""
        self._newest: list[Saved | None] = [None for _ in plan.tiers]
        self._before: list[Saved | None] = [None for _ in plan.tiers]
        """The save before the newest one, for as long as that is on its way."""
        self._known = [0 for _ in plan.tiers]
        """The last save to each tier that is remembered or lost."""
        if plan.tiers:
            self._newest[-1] = Saved(0.0, 0, 0.0)
        self.factor = 1.0
        self.follow(plan)

    def follow(self, plan: SavePlan) -> None:
        """Save by `plan` from here on; its tiers are those of the plan before."""
        self.plan = plan
        self._interval = min(plan.interval, _NEVER)
        self._cycle = plan.every[-1] if plan.tiers else 1
        self._paid = [0.0]
        for number in range(1, self._cycle + 1):
            due = (tier for tier, every in zip(plan.tiers, plan.every, strict=True) if number % every == 0)
            self._paid.append(self._paid[-1] + ([tier.stall for tier in due] or [0.0])[-1])
        self.run_at(self.factor)

    def run_at(self, factor: float) -> None:
        """Take `factor` seconds for a second of useful work from here on."""
        self.factor = factor
        spacing = self._interval * factor
        self._ends = [number * spacing + paid for number, paid in enumerate(self._paid)]

    @property
    def last_stall(self) -> Seconds:
        """What a save to the farthest tier costs."""
        return self.plan.tiers[-1].stall if self.plan.tiers else 0.0

    @property
    def save_time(self) -> Seconds:
        """Time from the decision to save until the save can be used."""
        return self.plan.tiers[-1].stall + self.plan.tiers[-1].persist if self.plan.tiers else math.inf

    @property
    def stall_left(self) -> Seconds:
        """Return what a save to the farthest tier costs now, less what has been spent if one is under way."""
        under_way = self._number % self._cycle == self._cycle - 1
        return self.last_stall - self._stalled if under_way else self.last_stall

    def time_to(self, work: Seconds) -> Seconds:
        """Return the wall clock until `work` is done, the saves on the way included, one due right there not."""
        begun = self._number % self._cycle
        ahead = begun * self._interval + self._since + (work - self.work)
        saves = max(math.ceil(ahead / self._interval * (1 - 1e-12)) - 1, 0)
        cycles, in_cycle = divmod(saves, self._cycle)
        arrival = cycles * self._ends[-1] + self._ends[in_cycle] + (ahead - saves * self._interval) * self.factor
        return max(arrival - self._ends[begun] - self._since * self.factor - self._stalled, 0.0)

    def run(self, time: Seconds, now: Seconds, reached: Seconds | None = None) -> tuple[Seconds, Seconds]:
        """Train for `time` until `now`; return (work done, time spent in saves).

        `reached` is the work where it is known to stand then, which rounding would miss.
        """
        factor, begun = self.factor, self._number % self._cycle
        spacing = self._interval * factor
        cycles, into = divmod(self._ends[begun] + self._since * factor + self._stalled + time, self._ends[-1])
        in_cycle = bisect_right(self._ends, into) - 1 if self._cycle > 1 else 0
        beyond = into - self._ends[in_cycle]
        saves = int(cycles) * self._cycle + in_cycle - begun
        stalled = beyond - spacing if beyond > spacing else 0.0
        paid = cycles * self._paid[-1] + self._paid[in_cycle] - self._paid[begun] + stalled - self._stalled
        work = (time - paid) / factor if reached is None else reached - self.work
        self.work = self.work + work if reached is None else reached
        self._since = (beyond - stalled) / factor
        self._stalled = stalled
        if saves:
            self._number += saves
            self._note(now - beyond)
        return work, paid

    def _note(self, over: Seconds) -> None:
        """Remember the last saves to each tier; the very last one was over at the time `over`."""
        last = self._number
        for tier, known in enumerate(self._known):
            number = last if self._cycle == 1 else self._last_to(tier, last)
            if number <= known:
                continue
            if self.plan.tiers[tier].persist:
                earlier = self._last_to(tier, number - 1)
                self._before[tier] = self._save(tier, earlier, last, over) if earlier > known else self._newest[tier]
            self._newest[tier] = self._save(tier, number, last, over)
            self._known[tier] = number

    def _save(self, tier: int, number: int, last: int, over: Seconds) -> Saved:
        if number == last:
            return Saved(self._origin + number * self._interval, number, over + self.plan.tiers[tier].persist)
        cycles = last // self._cycle - number // self._cycle
        ago = cycles * self._ends[-1] + self._ends[last % self._cycle] - self._ends[number % self._cycle]
        return Saved(self._origin + number * self._interval, number, over - ago + self.plan.tiers[tier].persist)

    def _last_to(self, tier: int, number: int) -> int:
        """Return the last save up to `number` that went to `tier`, 0 if none did."""
        every = self.plan.every
        last = number - number % every[tier]
        while tier + 1 < len(every) and last > 0 and last % every[tier + 1] == 0:
            last -= every[tier]
        return last

    def usable(self, tier: int, now: Seconds) -> Saved | None:
        """Return the newest save of `tier` that can be used at `now`."""
        newest = self._newest[tier]
        return newest if newest is None or newest.ready <= now else self._before[tier]

    def newest(self) -> Saved:
        """Return the newest save to the farthest tier, even if it is still on its way."""
        return (self._newest[-1] if self._newest else None) or Saved(0.0, 0, 0.0)

    def secured(self) -> Seconds:
        """Return the work that the newest save to any tier holds."""
        return max((saved.work for saved in self._newest if saved), default=0.0)

    def interrupt(self, now: Seconds) -> None:
        """Lose what is still on its way."""
        for tier, newest in enumerate(self._newest):
            if newest is not None and newest.ready > now:
                self._newest[tier] = self._before[tier]
            self._before[tier] = None

    def destroy(self, tier: int) -> None:
        """Lose everything that `tier` holds."""
        self._known[tier] = self._number
        self._newest[tier] = self._before[tier] = None

    def save_here(self, now: Seconds) -> None:
        """Count what is done so far as saved to the farthest tier."""
        self._begin(self.work)
        if self.plan.tiers:
            self._newest[-1] = Saved(self.work, 0, now)

    def go_back(self, tier: int, saved: Saved) -> Seconds:
        """Go back to a save; return the work lost."""
        lost = self.work - saved.work
        self.work = saved.work
        if tier == len(self.plan.tiers) - 1:
            self._begin(saved.work)
            self._newest[-1] = Saved(saved.work, 0, saved.ready)
        else:
            self._number, self._since, self._stalled = saved.number, 0.0, 0.0
            self._known = [max(known, saved.number) for known in self._known]
            self._newest[tier] = saved
        return lost

    def start_over(self) -> Seconds:
        """Go back to the very start; return the work lost."""
        lost, self.work = self.work, 0.0
        self._begin(0.0)
        if self.plan.tiers:
            self._newest[-1] = Saved(0.0, 0, 0.0)
        return lost

    def _begin(self, work: Seconds) -> None:
        """Number the saves from `work` on."""
        self._origin, self._number, self._since, self._stalled = work, 0, 0.0, 0.0
        for tier in range(len(self.plan.tiers)):
            self.destroy(tier)
