"""A shape beside each colour, so that nothing is told by colour alone."""

from __future__ import annotations

from typing import NamedTuple

from simulator.plots import colours

MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
HUES = (
    colours.BLUE,
    colours.ORANGE,
    colours.GREEN,
    colours.VERMILLION,
    colours.PURPLE,
    colours.SKY,
    colours.YELLOW,
    colours.DARK_GREY,
)


class Look(NamedTuple):
    colour: str
    mark: str


def look(place: int) -> Look:
    """Return the colour and the shape of the series at `place`: neighbours differ in both, the first 72 in one.

    >>> look(0), look(8)
    (Look(colour='#0072B2', mark='o'), Look(colour='#0072B2', mark='>'))
    """
    return Look(HUES[place % len(HUES)], MARKS[place % len(MARKS)])
