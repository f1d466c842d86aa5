"""What a report is made of: sections of facts and parts, the same for a terminal and for a page."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Share


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing that is known: ``MFU``, ``40.4%``, and what it is measured by."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a whole, drawn as a bar as long as its share."""

    label: str
    value: str
    share: Share
    colour: str


@dataclass(frozen=True, kw_only=True)
class Section:
    name: str
    title: str
    answer: str = ""
    """What the section says in one line."""
    parts: tuple[Part, ...] = ()
    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    """Names of the drawings of ``simulator.plots`` that belong to it."""
