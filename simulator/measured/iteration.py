"""What a log says of one step, or of the mean of the steps since the line before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.units import Bytes, Count, Number, Seconds


class Iteration(NamedTuple):
    """One step as it was logged; what the line did not say is None."""

    number: Count | None = None
    seconds: Seconds | None = None
    """Time of a step."""
    sampled: bool = False
    """Whether it is the time of this step alone, not the mean of those since the line before."""
    tokens_per_gpu: Number | None = None
    """Tokens a second and GPU."""
    tokens_per_s: Number | None = None
    """Tokens a second of the whole job."""
    samples_per_s: Number | None = None
    """Sequences a second of the whole job."""
    tokens: Number | None = None
    """Tokens of this step."""
    batch: Count | None = None
    """Sequences of this step."""
    sequence_length: Count | None = None
    last: Count | None = None
    """The number of the last step of the job, as far as it was planned."""
    clock: Seconds | None = None
    """Time of day at which the line was written, seconds since some day."""
    flops: Number | None = None
    """FLOP/s of a GPU, by the convention of the program that wrote it."""
    mfu: Number | None = None
    memory: Bytes | None = None
    """Largest allocation of a GPU."""


@dataclass(frozen=True)
class Log:
    """A log that was understood."""

    name: str
    format: str
    iterations: tuple[Iteration, ...]
    lines: Count
    skipped: dict[str, Count] = field(default_factory=dict)
    """What was not understood, in words, and how many lines of it."""


class Found(NamedTuple):
    """What the reader of one format found in a log."""

    iterations: list[Iteration]
    used: Count
    """Lines that it understood."""
    skipped: dict[str, Count]
    """What looked like its lines and was not."""
