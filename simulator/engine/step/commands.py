"""What a stage can ask of a clock. A program yields these; how long they take together is for the clock to say.

``Start`` and ``Send`` are answered with a handle, which ``Wait`` takes. A *stream* does one thing at a time, in the
order of issue, as CUDA streams do; whatever is issued on the compute stream waits for what it issued before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simulator.engine.step.transfers import Payload, Transfer
from simulator.units import Seconds, Share

Account = dict[str, Seconds]
"""Time by the part of a step that it is booked on."""
Handle = Any
"""What a clock gives for a transfer under way."""
Slot = tuple[object, ...]
"""Names a duration of a step, so that steps alike in order are timed together."""
Key = tuple[bool, int, int]
"""An input of a task: whether it goes forward, its microbatch, and the position in the model that needs it."""


class Compute(NamedTuple):
    """Occupy the compute stream with one operation; `part` is the account of its time."""

    seconds: Seconds
    part: str = "compute"
    name: str = ""
    slot: Slot = ()
    payload: Payload = ()
    """What is sent meanwhile, by an optimizer that exchanges."""
    memory: Share = 0.0
    """Share of the time that is bound by memory; the rest is bound by arithmetic."""


class Start(NamedTuple):
    """Queue a transfer on a stream; it begins when the stream is free and all of `after` are done."""

    transfer: Transfer
    stream: str
    name: str = ""
    after: tuple[Handle, ...] = ()
    slot: Slot = ()


class Wait(NamedTuple):
    """Go on when a transfer is done."""

    handle: Handle


class Send(NamedTuple):
    """Queue a transfer to another stage, which receives it by its key."""

    key: Key
    target: int
    transfer: Transfer
    slot: Slot = ()


class Put(NamedTuple):
    """Hand an output to the same stage."""

    key: Key


class Receive(NamedTuple):
    """Go on when an input is there."""

    key: Key


class Barrier(NamedTuple):
    """Go on when every stage is here."""
