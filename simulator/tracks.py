"""What the tracks of spans are called: one for each stream of each pipeline stage.

The compute stream of a stage may be called just ``stage 3``.
"""

from __future__ import annotations

import re

STREAMS = ("compute", "tensor", "context", "expert", "send", "send back", "pipeline", "data", "checkpoint", "host")
"""Streams that a stage may have, in the order in which they are shown."""
_TRACK = re.compile(r"stage (\d+)(?: (.+))?")


def track(stage: int, stream: str = "compute") -> str:
    """Return the name of the track of a stream.

    >>> track(3, "pipeline")
    'stage 3 pipeline'
    """
    return f"stage {stage} {stream}"


def place(name: str) -> tuple[int, str] | None:
    """Return the stage and stream of a track, None where it is not one of a stage.

    >>> place("stage 3 pipeline"), place("stage 3"), place("run")
    ((3, 'pipeline'), (3, 'compute'), None)
    """
    match = _TRACK.fullmatch(name)
    return (int(match[1]), match[2] or "compute") if match else None
