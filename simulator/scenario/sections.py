"""All sections of a scenario, as a file may write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.young_daly import YoungDaly
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.recovery.restart import Restart
from simulator.scenario.cluster import ClusterSection
from simulator.scenario.expect import Expectation
from simulator.scenario.failures import FailuresSection
from simulator.scenario.jitter import Jitter
from simulator.scenario.parallelism import ParallelismSection
from simulator.scenario.prices import PricesSection
from simulator.scenario.search import Search
from simulator.scenario.shape import fields
from simulator.scenario.targets import Targets
from simulator.scenario.training import TrainingSection
from simulator.units import Count
from simulator.workload.capacity import Moe
from simulator.workload.model import Model
from simulator.workload.stack import Stack


@dataclass(frozen=True, kw_only=True)
class Sections:
    version: Count = 1
    """Version of this format."""
    name: str = ""
    """What reports call the scenario; its file's name where left out."""
    source: str | None = None
    """Where the figures of `expect` were published."""
    expect: Mapping[str, Expectation] = field(default_factory=dict)
    """Results, such as step.mfu, and what they must be."""
    model: Model | None = None
    """A name of the catalog, `base` with changes, `huggingface` with a config.json, or every key."""
    cluster: ClusterSection
    """The machines and what joins them."""
    stack: Stack | None = None
    """The software: a name of the catalog, or `base` with changes; where either is left out, `generic`,
    or what TPUs, Trainium, Gaudi and Intel Max are programmed with (`maxtext-2025` on TPUs)."""
    parallelism: ParallelismSection | None = None
    """How the model is split; the data axis is gpus / (tensor x pipeline x context)."""
    training: TrainingSection
    """How long and with which batches, formats and optimizer; one of tokens, steps and duration says how long."""
    moe: Moe = field(default_factory=Moe)
    """How evenly tokens go to experts."""
    jitter: Jitter = field(default_factory=Jitter)
    """How much GPUs, steps and hosts differ; not at all where left out."""
    targets: Targets = field(default_factory=Targets)
    """What the run must not exceed; the result gives the probability that it does."""
    failures: FailuresSection = field(default_factory=FailuresSection)
    """A preset's name, a list of causes, or keys; none where left out."""
    checkpoint: CheckpointPolicy = field(default_factory=YoungDaly)
    """When to save, and what a save costs."""
    recovery: Recovery = field(default_factory=Restart)
    """What is done about a failure."""
    prices: PricesSection = field(default_factory=PricesSection)
    """An entry of the catalog, or keys; what is left out is the catalog's."""
    search: Search = field(default_factory=Search)
    """The values that `foretrain layouts` tries, a list an axis; an axis left out takes every valid value."""
    calibration: str | Mapping[str, Any] | None = None
    """A file that `foretrain calibrate` wrote."""
    runs: Count = 200
    """Simulated runs for the distributions."""
    seed: Count = 0
    """Of the random streams; the same seed gives the same bytes."""


SHAPES = fields(Sections)
"""The shape of each section; to ask for them finds all kinds that exist."""
