"""What a step is made of: the cost of every chunk and microbatch, and the transfers between them.

Both clocks, the fast one (`pipeline`) and simpy's (`step`), read these numbers and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from simulator.units import Bytes, Seconds
from simulator.workload.schedules import Schedule

ACCOUNTS = ("compute", "recompute", "tensor", "context", "expert", "data", "offload", "other")
"""What a piece of work on a stage is made of."""
PIECES = {"F": "forward", "B": "backward", "I": "input_gradient", "W": "weight_gradient"}
"""What a chunk does in each phase of a schedule."""


@dataclass(frozen=True)
class Piece:
    """Work that occupies a stage for `seconds`; `parts` say what it is and sum to it."""

    seconds: Seconds = 0.0
    parts: Mapping[str, Seconds] = field(default_factory=dict)

    def __add__(self, other: Piece) -> Piece:
        parts = dict(self.parts)
        for name, seconds in other.parts.items():
            parts[name] = parts.get(name, 0.0) + seconds
        return Piece(self.seconds + other.seconds, parts)

    def __mul__(self, times: float) -> Piece:
        return Piece(times * self.seconds, {name: times * part for name, part in self.parts.items()})


NOTHING = Piece()


@dataclass(frozen=True)
class Transfer:
    """Bytes that cross a channel; `seconds` if nothing else uses its links."""

    seconds: Seconds = 0.0
    nbytes: Bytes = 0.0
    """Sent through the scale-out links of one GPU."""
    scale_out: bool = False
    load: float = 0.0
    """Share of the GPU's scale-out links that it fills while it runs alone."""

    def __mul__(self, share: float) -> Transfer:
        return replace(self, seconds=share * self.seconds, nbytes=share * self.nbytes)


@dataclass(frozen=True)
class Span:
    """Something that occupied a track of the step from `start` for `duration`."""

    track: str
    name: str
    start: Seconds
    duration: Seconds
    kind: str


@dataclass(frozen=True, kw_only=True)
class ChunkWork:
    """One position in the model: the layers a stage holds as one piece."""

    layers: int
    forward: Piece
    backward: Piece
    input_gradient: Piece = NOTHING
    weight_gradient: Piece = NOTHING
    reduce: Transfer = Transfer()
    """Gradients of the chunk, reduced over its data group."""
    gather: Transfer = Transfer()
    """Weights of the chunk, gathered before its first forward of a step."""

    def phase(self, name: str) -> Piece:
        piece: Piece = getattr(self, PIECES[name])
        return piece


@dataclass(frozen=True, kw_only=True)
class StepWork:
    """One optimizer step of one replica, stage by stage."""

    schedule: Schedule
    stages: int
    microbatches: int
    chunks: tuple[ChunkWork, ...]
    """In the order of the model."""
    send: Transfer = Transfer()
    """Activations, or their gradients, from a stage to its neighbour."""
    blocking_send: bool = False
    overlap_reduce: bool = True
    reduce_each_round: bool = False
    overlap_gather: bool = True
    communication_sms: float = 0.0
    """Share of compute that a transfer beside it takes."""
    optimizer: tuple[Piece, ...] = ()
    """Of each stage, after all gradients are reduced."""
    end: tuple[Piece, ...] = ()
    """What else each stage does once a step, hidden by nothing: tied embeddings, host work."""
