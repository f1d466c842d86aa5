"""Links that transfers share: max-min fair shares, solved again whenever a transfer starts or ends."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import simpy

from simulator.engine.step.transfers import FULL
from simulator.errors import ConservationError
from simulator.machine.sharing import max_min
from simulator.units import Seconds, Share

Link = Hashable


@dataclass(eq=False)
class Flow:
    """A transfer under way."""

    loads: dict[Link, Share]
    done: simpy.Event
    left: Seconds
    """What is left of it, as long as it would take alone."""
    since: Seconds
    pace: float = 1.0
    """1 is as fast as alone."""
    version: int = 0

    @property
    def most(self) -> Share:
        """Share of the link that it fills most."""
        return max(self.loads.values())


@dataclass
class Links:
    """All links of the simulated stages, each of capacity 1."""

    env: simpy.Environment
    flows: dict[Link, dict[Flow, None]] = field(default_factory=dict)
    solved: int = 0
    """How often shares were solved because transfers met."""

    def send(self, seconds: Seconds, loads: dict[Link, Share]) -> simpy.Event:
        """Start a transfer that takes so long alone, and return the event of its end."""
        if not loads:
            return self.env.timeout(seconds)
        flow = Flow(loads, self.env.event(), seconds, self.env.now)
        meets = False
        for link in loads:
            beside = self.flows.setdefault(link, {})
            meets = meets or bool(beside)
            beside[flow] = None
        if meets:
            self._share(flow)
        else:
            self._schedule(flow)
        return flow.done

    def _schedule(self, flow: Flow) -> None:
        flow.version += 1
        version = flow.version
        wake = self.env.timeout(flow.left / flow.pace)
        wake.callbacks.append(lambda _: self._end(flow, version))

    def _end(self, flow: Flow, version: int) -> None:
        if flow.version != version:
            return
        beside: dict[Flow, None] = {}
        for link in flow.loads:
            del self.flows[link][flow]
            beside |= self.flows[link]
        flow.done.succeed()
        while beside:
            for shared in self._share(next(iter(beside))):
                beside.pop(shared, None)

    def _meeting(self, flow: Flow) -> list[Flow]:
        """Return the flows that share a link with `flow`, or with one that does, in order of start."""
        found, open_ = {flow: None}, [flow]
        while open_:
            for link in open_.pop().loads:
                for other in self.flows[link]:
                    if other not in found:
                        found[other] = None
                        open_.append(other)
        return list(found)

    def _share(self, flow: Flow) -> list[Flow]:
        """Give every flow that meets `flow` its max-min share, at most its pace alone; return them.

        A flow's rate is that on the link which it fills most. Raises ConservationError if a link were to carry more
        than it can.
        """
        self.solved += 1
        meeting = self._meeting(flow)
        capacities: dict[Link, float] = {}
        uses: list[dict[Link, float]] = []
        for number, one in enumerate(meeting):
            most = one.most
            uses.append({link: load / most for link, load in one.loads.items()})
            capacities |= dict.fromkeys(one.loads, 1.0)
            uses[-1]["alone", number] = 1.0
            capacities["alone", number] = most
        rates = max_min(uses, capacities)
        _check(meeting, rates)
        for one, rate in zip(meeting, rates, strict=True):
            pace = min(rate / one.most, 1.0)
            if pace == one.pace and one.version:
                continue
            one.left = max(0.0, one.left - (self.env.now - one.since) * one.pace)
            one.since = self.env.now
            one.pace = pace
            self._schedule(one)
        return meeting


def _check(flows: list[Flow], rates: list[float]) -> None:
    busy: dict[Link, float] = {}
    for flow, rate in zip(flows, rates, strict=True):
        for link, load in flow.loads.items():
            busy[link] = busy.get(link, 0.0) + load * min(rate / flow.most, 1.0)
    link = max(busy, key=lambda one: busy[one])
    if busy[link] > FULL:
        raise ConservationError(f"link {link} would carry {busy[link]:.6f} of what it can")
