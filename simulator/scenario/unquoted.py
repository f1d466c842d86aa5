"""Mistakes in a file that a scenario names, told without a word of what is in it.

Who wrote the scenario need not be allowed to read the file: one from elsewhere, run in a build whose log is public,
could name any file of the checkout. So a message has the line, the keys that the program itself knows, and what belongs
there.
"""

from __future__ import annotations

from simulator.scenario.document import Keys, Place
from simulator.scenario.mistakes import Mistakes, did_you_mean, listed
from simulator.scenario.scalar import expected
from simulator.scenario.shape import Either, Kinds, Listing, Named, Record, Shape, forms


class Unquoted(Mistakes):
    """Passes mistakes on to those of the scenario, in words of its own.

    `wanted` is the shape of what stands in the file, `below` the key that names it; `says` is what the whole is not.
    """

    def __init__(self, mistakes: Mistakes, wanted: Shape, below: Keys, says: str) -> None:
        super().__init__()
        self.mistakes, self.wanted, self.below, self.says = mistakes, wanted, below, says

    def add_at(self, place: Place | None, path: Keys, message: str) -> None:
        super().add_at(place, path, message)
        inside = path[len(self.below) :] if path[: len(self.below)] == self.below else path
        known, here = _known(self.wanted, inside)
        said = f"expected {_what(here)}"
        if isinstance(here, Record) and len(known) < len(inside):
            said = f"unknown key; {did_you_mean(str(inside[len(known)]), here.fields)}"
        self.mistakes.add_at(place, (*self.below, *known), said if known else f"{self.says}: {said}")


def _known(wanted: Shape, path: Keys) -> tuple[Keys, Shape]:
    """Return as much of `path` as the program knows without the file, and the shape of what belongs there."""
    keys: Keys = ()
    for part in path:
        match wanted:
            case Record() if part in wanted.fields:
                wanted = wanted.fields[str(part)].shape
            case Listing(items) if isinstance(part, int):
                wanted = items[min(part, len(items) - 1)]
            case _:
                break
        keys = (*keys, part)
    return keys, wanted


def _what(wanted: Shape) -> str:
    """Return what belongs where something of this shape stands."""
    match wanted:
        case Record():
            return f"the keys {listed(list(wanted.fields))}"
        case Kinds():
            return f"a kind, one of {', '.join(wanted.words)}"
        case Listing(items):
            return f"a list of {_what(items[0])}"
        case Named(values):
            return f"keys, each with {_what(values)}"
        case Either():
            return " or ".join(_what(member) for members in forms(wanted).values() for member in members)
    return expected(wanted)
