"""One phase of a budget."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Count, Number, Share


@dataclass(frozen=True, kw_only=True)
class Phase:
    name: str
    tokens: Count | None = None
    epochs: Number = 1.0
    """Times that the tokens are seen."""
    share: Share | None = None
    """Of the GPU-hours of all phases with tokens."""
    gpu_hours: Number | None = None
    parameters: Count | None = None
    """Active ones; the file's or the scenario's model where left out."""
    sequence_length: Count | None = None
    global_batch: Count | None = None
    generation: Share = 0.0
    """Share of the time that goes into generating what is then trained on."""
    times: Number = 1.0
    """Runs of the phase, such as seeds or failed attempts."""
