"""How much of the machine's arithmetic a step uses, by each convention, and what takes the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.sums import added
from simulator.units import FlopsPerSecond, Seconds, Share
from simulator.workload.blocks.base import Convention
from simulator.workload.flops import CONVENTIONS, recomputed_flops_per_token, trained_flops_per_token
from simulator.workload.model import Model
from simulator.workload.training import Training
from simulator.workload.tuning import Tuning

CONVENTION: Convention = "causal"
NAMES = {
    "tensor": "tensor parallelism",
    "context": "context parallelism",
    "expert": "expert parallelism",
    "pipeline": "pipeline transfers",
    "bubble": "pipeline bubble",
    "data": "data parallelism",
    "offload": "offload to the host",
    "straggler": "stragglers",
    "stall": "data stalls",
    "other": "host-bound launches",
}


@dataclass(frozen=True)
class Utilisation:
    mfu: Share
    hfu: Share
    convention: str
    per_gpu: Mapping[Convention, FlopsPerSecond]
    """Model FLOP/s of one GPU by convention."""
    waterfall: tuple[tuple[str, FlopsPerSecond], ...]


def utilisation(
    model: Model,
    training: Training,
    *,
    tokens_per_second_per_gpu: float,
    peak: FlopsPerSecond,
    parts: Mapping[str, Seconds],
) -> Utilisation:
    """Return the model and hardware FLOP/s that tokens a second a GPU amount to.

    MFU counts 6N and causal attention, HFU what is recomputed as well; both over the dense peak of the run's precision.
    """
    sequence, recompute = training.attended, training.recompute.kind
    tuning = training.tuning
    per_gpu = {
        name: tokens_per_second_per_gpu * trained_flops_per_token(model, tuning, sequence, name) for name in CONVENTIONS
    }
    again = tokens_per_second_per_gpu * recomputed_flops_per_token(model, sequence, "causal", recompute)
    kind = training.precision.kind
    return Utilisation(
        mfu=per_gpu[CONVENTION] / peak,
        hfu=(per_gpu[CONVENTION] + again) / peak,
        convention=f"{counted(tuning)} a token, over the dense {kind} peak of {peak / 1e12:.0f} TFLOP/s",
        per_gpu=per_gpu,
        waterfall=waterfall(per_gpu[CONVENTION], peak, parts),
    )


def counted(tuning: Tuning) -> str:
    """Return how model FLOPs are counted, in words."""
    if tuning.everything:
        return "6N + causal attention (6Lsh)"
    return "6 per trained weight, 4 per frozen one (2 where no gradient passes) + causal attention (6Lsh)"


def waterfall(
    delivered: FlopsPerSecond, peak: FlopsPerSecond, parts: Mapping[str, Seconds]
) -> tuple[tuple[str, FlopsPerSecond], ...]:
    """Return the way from peak to delivered FLOP/s of one GPU: what each cause takes away, and what is left.

    Causes are taken in the order of the account, each as what the rate loses when its time is added.
    """
    work = delivered * added(parts.values())
    steps: list[tuple[str, FlopsPerSecond]] = [("peak", peak)]
    time, rate = 0.0, peak
    for part, seconds in parts.items():
        if seconds <= 0:
            continue
        time += seconds
        lower = work / time
        name = "kernel efficiency" if part == "compute" else NAMES.get(part, part)
        steps.append((name, rate - lower))
        rate = lower
    return (*steps, ("delivered", delivered))
