"""Bytes that cross links: how long alone, what share of each link they fill, and what they take from compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from simulator.engine.step.contention import NONE, Taken
from simulator.machine.traffic import Pattern
from simulator.units import Bytes, Number, Seconds, Share

Loads = tuple[tuple[str, Share], ...]
"""Share of each link of a stage that a transfer fills while it runs alone. What comes *in* from another stage fills
links of that name there."""
FULL = 1 + 1e-9


class Way(NamedTuple):
    """Where bytes go: for which axis, in which pattern, and over which links of a GPU."""

    axis: str
    pattern: Pattern
    links: str
    """SCALE_UP, or SCALE_OUT for its share of the NICs."""


SCALE_UP, SCALE_OUT = "scale-up", "scale-out"
Payload = tuple[tuple[Way, Bytes], ...]
"""What each GPU sends."""
Volume = dict[Way, Bytes]


def is_in(link: str) -> bool:
    """Return whether a link is one into a GPU, or down to it."""
    return link.endswith(" in")


def add(sent: Volume, payload: Iterable[tuple[Way, Bytes]], times: Number = 1) -> None:
    """Add `times` a payload to what was sent."""
    for way, nbytes in payload:
        sent[way] = sent.get(way, 0.0) + times * nbytes


def scaled(payload: Payload, share: Number) -> Payload:
    return tuple((way, share * nbytes) for way, nbytes in payload)


class Transfer(NamedTuple):
    part: str = "data"
    """The account of whoever waits for it: tensor, context, expert, pipeline, data or offload."""
    seconds: Seconds = 0.0
    """While nothing else uses its links."""
    payload: Payload = ()
    loads: Loads = ()
    takes: Taken = NONE
    """What compute of the same stage has to do without beside it."""

    def part_of(self, share: float) -> Transfer:
        """Return `share` of the transfer."""
        return self._replace(seconds=share * self.seconds, payload=scaled(self.payload, share))


NOTHING = Transfer()


def joined(transfers: Iterable[Transfer]) -> Transfer:
    """Return transfers of one account one after the other; a link carries the mean of their loads."""
    those = [one for one in transfers if one.seconds > 0]
    if len(those) < 2:
        return those[0] if those else NOTHING
    seconds = sum(one.seconds for one in those)
    loads: dict[str, float] = {}
    for one in those:
        for link, load in one.loads:
            loads[link] = loads.get(link, 0.0) + load * one.seconds / seconds
    taken = Taken(
        sum(one.takes.sms * one.seconds for one in those) / seconds,
        sum(one.takes.memory * one.seconds for one in those) / seconds,
    )
    payload = tuple(entry for one in those for entry in one.payload)
    return Transfer(those[0].part, seconds, payload, tuple(loads.items()), taken)


Most = Mapping[str, Mapping[str, Share]]
"""The most that each stream loads each link with; a stream does one thing at a time."""


def conflicts(most: Most) -> dict[str, frozenset[str]]:
    """Return the streams that may have to share a link, each with those that it shares with.

    They are those of a link that all of them together load with more than it has.
    """
    on: dict[str, dict[str, Share]] = {}
    for stream, links in most.items():
        for link, load in links.items():
            on.setdefault(link, {})[stream] = load
    found: dict[str, frozenset[str]] = {}
    for those in on.values():
        if len(those) > 1 and sum(those.values()) > FULL:
            for stream in those:
                found[stream] = found.get(stream, frozenset()) | (those.keys() - {stream})
    return found
