"""A layer's pass whose expert exchanges run beside the opposite pass of another microbatch.

A forward of one microbatch and a backward of another are done layer by layer together, so that the exchanges of one run
beside the computing of the other (DualPipe of DeepSeek-V3, arXiv 2412.19437, figure 4; `combined_1f1b.py` of
Megatron-Core). Nothing of the pair waits for its own exchanges then: they are dealt to its two passes by how long these
compute, and a pass ends when its compute and its part of them are done. A pair thus takes what its compute takes,
slowed by transfers beside it, or what its exchanges take, whichever is longer.
"""

from __future__ import annotations

from simulator.engine.step.pieces import COMPUTE, Item, Piece
from simulator.sums import added
from simulator.units import Seconds, Share

HIDDEN = "expert"
"""The axis whose exchanges run beside the other pass."""


def share(forward: Piece, backward: Piece) -> Share:
    """Return how much of the computing of a pair is in its forward; nothing where there is none."""
    computing = _computing(forward)
    return computing / ((computing + _computing(backward)) or 1.0)


def paired(own: Piece, other: Piece, share: Share) -> Piece:
    """Return a pass with its `share` of the exchanges of a pair beside it; the bytes that it sends are its own."""
    mine, theirs = _exchanges(own), _exchanges(other)
    if not mine and not theirs:
        return own
    ahead = [item._replace(seconds=share * item.seconds, waits=()) for item in mine]
    ahead += [item._replace(seconds=share * item.seconds, waits=(), payload=()) for item in theirs]
    places: dict[int, int] = {}
    rest: list[Item] = []
    for place, item in enumerate(own.items):
        if item.stream != HIDDEN:
            places[place] = len(ahead) + len(rest)
            rest.append(item._replace(waits=tuple(places[before] for before in item.waits if before in places)))
    return Piece((*ahead, *rest))


def _exchanges(piece: Piece) -> list[Item]:
    return [item for item in piece.items if item.stream == HIDDEN]


def _computing(piece: Piece) -> Seconds:
    return added(item.seconds for item in piece.items if item.stream == COMPUTE)
