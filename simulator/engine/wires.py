"""Transfers in simpy: flows that share links fairly, solved again whenever one starts or ends."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import simpy

from simulator.engine.work import Transfer
from simulator.machine.sharing import max_min
from simulator.units import Seconds

Link = Hashable


@dataclass(eq=False)
class Flow:
    """A transfer under way: what is left of it, in seconds alone, and how fast it goes (1: as if alone)."""

    transfer: Transfer
    links: tuple[Link, ...]
    done: simpy.Event
    left: Seconds
    since: Seconds
    pace: float = 1.0
    version: int = 0


@dataclass
class Wires:
    """The scale-out links of the simulated stages, each of capacity 1."""

    env: simpy.Environment
    flows: dict[Link, list[Flow]] = field(default_factory=dict)
    carried: dict[Link, float] = field(default_factory=dict)
    """Seconds of full load that each link has carried."""

    def send(self, transfer: Transfer, links: tuple[Link, ...]) -> simpy.Event:
        """Start a transfer and return the event of its end."""
        if not transfer.scale_out or transfer.load <= 0:
            return self.env.timeout(transfer.seconds)
        flow = Flow(transfer, links, self.env.event(), transfer.seconds, self.env.now)
        alone = True
        for link in links:
            beside = self.flows.setdefault(link, [])
            alone = alone and not beside
            beside.append(flow)
            self.carried[link] = self.carried.get(link, 0.0) + transfer.load * transfer.seconds
        if alone:
            self._schedule(flow)
        else:
            self._share(flow)
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
        for link in flow.links:
            self.flows[link].remove(flow)
            beside |= dict.fromkeys(self.flows[link])
        flow.done.succeed()
        while beside:
            for shared in self._share(next(iter(beside))):
                beside.pop(shared, None)

    def _together(self, flow: Flow) -> list[Flow]:
        """Return the flows that share a link with `flow`, or with one that does, in order of start."""
        found, open_ = {flow: None}, [flow]
        while open_:
            for link in open_.pop().links:
                for other in self.flows[link]:
                    if other not in found:
                        found[other] = None
                        open_.append(other)
        return list(found)

    def _share(self, flow: Flow) -> list[Flow]:
        """Give every flow that is affected its max-min share, capped by what it can use alone; return them."""
        together = self._together(flow)
        capacities: dict[Link, float] = {}
        for number, one in enumerate(together):
            capacities |= dict.fromkeys(one.links, 1.0)
            capacities["alone", number] = one.transfer.load
        routes = [(*one.links, ("alone", number)) for number, one in enumerate(together)]
        for one, share in zip(together, max_min(routes, capacities), strict=True):
            one.left = max(0.0, one.left - (self.env.now - one.since) * one.pace)
            one.since = self.env.now
            one.pace = share / one.transfer.load
            self._schedule(one)
        return together
