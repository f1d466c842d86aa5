"""The `jitter` section: how much GPUs, steps and hosts differ."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.units import Number, Share


@dataclass(frozen=True, kw_only=True)
class Jitter:
    gpu: Share = 0.015
    """Standard deviation of speed between GPUs: 8% from whisker to whisker of a box plot, 5.4 of them, in the mean of
    applications and clusters (Sinha et al., SC 2022, arXiv 2208.11035). A measured step has it inside: 0 there."""
    step: Share = 0.0
    """Standard deviation of a GPU's speed from step to step."""
    slow_hosts: Share = 0.0
    """Share of hosts that are slow; 0.5% in MegaScale (arXiv 2402.15627)."""
    slow: Number = 1.1
    """Factor on the time of a slow host."""
