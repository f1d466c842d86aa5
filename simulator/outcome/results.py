"""What a run of the program returns: the result, part by part, as the JSON contract names it.

Fields are SI units and carry the unit in their name; ``parts_s`` and the ``*_bytes`` of a stage sum to
their totals. ``as_dict`` is the JSON of ``foretrain run --json``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple

from simulator.engine.step.simulated import Span as Span
from simulator.outcome.stretch import Stretch
from simulator.plugins import Plugin

Verdict = Literal["fits", "tight", "oom"]
STEP_PARTS = (
    "compute",
    "recompute",
    "tensor",
    "context",
    "expert",
    "pipeline",
    "bubble",
    "data",
    "optimizer",
    "offload",
    "straggler",
    "stall",
    "other",
)
RUN_PARTS = ("train", "checkpoint", "lost", "detect", "diagnose", "restart", "wait", "degraded", "planned", "other")
STAGE_PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "update", "overhead")


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """A value that the scenario did not give, and where it came from."""

    key: str
    value: str
    source: str


@dataclass(frozen=True, kw_only=True)
class ModelSize:
    parameters: int
    active_parameters: int
    trained_parameters: int
    """Of all, those that learn, with adapters beside them; MTP modules are not counted."""


@dataclass(frozen=True, kw_only=True)
class TransferResult:
    """What an axis sends in a step over the links that limit it."""

    part: str
    """The part of the step that it is."""
    links: str
    """The class of links that limits it."""
    bytes: float
    """Of one GPU, through its share of those links."""
    exposed_s: float
    bandwidth_bytes_per_s: float
    """Of that share now."""
    hidden_at_bytes_per_s: float | None
    """The bandwidth from which more saves less than 1% of the step; None where 64 times as much is not enough, or the
    step is too large to be timed again."""


@dataclass(frozen=True, kw_only=True)
class ErrorReason:
    """One reason why a prediction may be off."""

    what: str
    sd_ln: float


@dataclass(frozen=True, kw_only=True)
class ModelError:
    """How far measurements are likely to be from a prediction."""

    sd_ln: float = 0.0
    """Scale of ln(measured / predicted), Student t with five degrees of freedom."""
    median_ratio: float = 1.0
    """Measured over predicted that half of all runs stay below."""
    reasons: tuple[ErrorReason, ...] = ()
    """The largest first; their squares sum to that of `sd_ln`."""


@dataclass(frozen=True, kw_only=True)
class StepResult:
    time_s: float
    time_low_s: float
    time_high_s: float
    tokens_per_s: float
    tokens_per_s_per_gpu: float
    mfu: float | None
    hfu: float | None
    mfu_convention: str
    tflops_per_gpu_6n: float | None
    tflops_per_gpu_causal: float | None
    tflops_per_gpu_full: float | None
    parts_s: dict[str, float]
    error: ModelError = field(default_factory=ModelError)
    """The distribution that the range is cut from, and why it is as wide as it is."""
    p_slow_host: float = 0.0
    dropped_tokens: float = 0.0
    """Share of visits to experts that found them full (`moe.capacity`)."""
    waterfall: tuple[tuple[str, float], ...] = ()
    """From peak to delivered FLOP/s of one GPU, each step what one cause takes away, last what is left (FLOP/s)."""
    links: tuple[dict[str, Any], ...] = ()
    """Load of each class of links: name, count, bandwidth_bytes_per_s, busy_share, bytes, mean_bytes."""
    transfers: tuple[TransferResult, ...] = ()
    """What each axis sends, and from what bandwidth on more is no use; worked out by ``foretrain run``."""
    hashed: dict[str, float] = field(default_factory=dict)
    """The step at P10, P50 and P90 of how flows collide on equal-cost links, where routing is static: p10_s, ..."""


@dataclass(frozen=True, kw_only=True)
class MemoryResult:
    capacity_bytes: float
    usable_bytes: float
    peak_bytes: float
    allocated_bytes: float
    reserved_bytes: float
    process_bytes: float
    p_fits: float
    host_peak_bytes: float
    host_bytes: float
    worst_stage: int
    stages: tuple[dict[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    mean: float
    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, kw_only=True)
class RunLuck:
    """The luck of failures alone: the step, rates and times as predicted."""

    wall_clock_s: Distribution
    goodput: Distribution


@dataclass(frozen=True, kw_only=True)
class CostLuck:
    """The same in money."""

    gpu_hours: Distribution
    dollars: Distribution


@dataclass(frozen=True, kw_only=True)
class RunResult:
    ideal_s: float
    wall_clock_s: Distribution
    """Percentiles hold every doubt: the step, failure rates, times of recovery, saves, luck. The mean is of the runs as
    predicted."""
    goodput: Distribution
    """Likewise."""
    goodput_definitions: dict[str, Any]
    parts_s: dict[str, float]
    interruptions: dict[str, Any]
    """mean, by_cause (name -> mean count), planned."""
    checkpoint: dict[str, Any]
    """interval_s, stall_s, persist_s, bytes."""
    spares: dict[str, Any] = field(default_factory=dict)
    progress: bool = True
    luck: RunLuck | None = None
    """The luck of failures alone."""
    samples: tuple[float, ...] = ()
    """Wall clock of each simulated run in seconds, by the luck of failures, for the distribution of finish dates."""


@dataclass(frozen=True, kw_only=True)
class CostResult:
    gpu_hours: Distribution
    dollars: Distribution
    energy_j: float
    co2_kg: float
    spares_dollars: float = 0.0
    """Rent of the hosts that stand by, in the mean run."""
    luck: CostLuck | None = None
    """The luck of failures alone."""


class Level(NamedTuple):
    """What a stage has allocated from a moment on."""

    time_s: float
    nbytes: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """A change of the scenario, the memory it then needs, and what that costs."""

    change: str
    settings: tuple[str, ...]
    """The change as ``--set`` takes it."""
    verdict: Verdict
    p_fits: float
    peak_bytes: float
    usable_bytes: float
    step_time_s: float
    time: float
    """Step time over that of the scenario as it is, less 1."""
    cost: float
    """Rent of the GPUs for a step over that of the scenario as it is, less 1."""


@dataclass(frozen=True, kw_only=True)
class Unsure:
    """One source of the spread of days and dollars."""

    source: str
    share_of_variance: float
    """Of ln(wall clock); they sum to 1."""
    measurement: str | None
    """What would inform it; None of luck."""
    p90_minus_p10_s: float
    p90_minus_p10_s_after: float
    """Expected with that measurement, which may inform other sources too."""
    p90_minus_p10_dollars: float
    p90_minus_p10_dollars_after: float


@dataclass(frozen=True, kw_only=True)
class Result:
    version: str
    scenario: dict[str, Any]
    """The resolved scenario, every default filled in."""
    seed: int
    verdict: Verdict | None
    warnings: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    model: ModelSize | None
    step: StepResult
    memory: MemoryResult | None
    run: RunResult
    cost: CostResult
    targets: dict[str, Any] = field(default_factory=dict)
    """deadline_s and budget_dollars as given; p_late and p_over_budget, the probability of missing them; the same with
    ``_by_failures``, as if the step took exactly what is predicted; risk, and missed, the targets beyond it by name."""
    expected: tuple[dict[str, Any], ...] = ()
    """What the scenario expects: key, wanted, found, met."""
    not_modelled: tuple[str, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    """Files of Python whose kinds were there: file, sha256 of what it held, kinds."""
    advice: tuple[Advice, ...] = ()
    """What to change so that it fits, cheapest first; asked for where it does not."""
    uncertainty: tuple[Unsure, ...] = ()
    """What makes the range of days and dollars wide, the largest first, and what would narrow it."""
    ends: tuple[Stretch, ...] = ()
    """Each simulated run with every doubt but that of the step; not part of the JSON."""
    spans: tuple[Span, ...] = ()
    """One step of one pipeline, for the timeline and the trace; not part of the JSON."""
    occupancy: tuple[tuple[Level, ...], ...] = ()
    """Allocated memory of each stage over that step; not part of the JSON."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of ``run --json``: plain dicts, lists, numbers and text."""
        whole = asdict(replace(self, ends=(), spans=(), occupancy=()))
        del whole["ends"], whole["spans"], whole["occupancy"]
        return whole
