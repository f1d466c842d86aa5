"""From what was simulated to the parts of a result."""

from __future__ import annotations

from dataclasses import asdict

from simulator.engine.prices.assembly import Assembly, network_of
from simulator.engine.prices.link_traffic import carried
from simulator.engine.prices.straggler import straggling
from simulator.engine.step.simulated import Step
from simulator.errors import ConservationError
from simulator.machine.link_load import LinkLoad
from simulator.outcome.results import STEP_PARTS, ErrorReason, MemoryResult, ModelError, ModelSize, StepResult
from simulator.outcome.step_error import StepError
from simulator.outcome.utilisation import utilisation
from simulator.scenario.scenario import Scenario
from simulator.units import Seconds, Share
from simulator.workload.capacity import dropped
from simulator.workload.memory import MemoryEstimate
from simulator.workload.parameters import active_parameters, total_parameters, trained_parameters


def model_size(scenario: Scenario) -> ModelSize | None:
    if scenario.model is None:
        return None
    return ModelSize(
        parameters=total_parameters(scenario.model),
        active_parameters=active_parameters(scenario.model),
        trained_parameters=trained_parameters(scenario.model, scenario.training.tuning),
    )


def step_result(
    scenario: Scenario,
    seconds: Seconds,
    parts: dict[str, Seconds],
    error: StepError,
    built: Assembly | None,
    played: Step | None,
) -> StepResult:
    """Return what there is to say of a step; without a model, its time alone."""
    training, gpu = scenario.training, scenario.cluster.host.gpu
    tokens = training.step_tokens / seconds
    ordered = {name: parts.get(name, 0.0) for name in STEP_PARTS}
    used = None
    if scenario.model is not None:
        used = utilisation(
            scenario.model,
            training,
            tokens_per_second_per_gpu=tokens / scenario.gpus,
            peak=gpu.peak_of(training.precision.kind),
            parts=ordered,
        )
    return StepResult(
        time_s=seconds,
        time_low_s=seconds * error.low,
        time_high_s=seconds * error.high,
        error=model_error(error),
        tokens_per_s=tokens,
        tokens_per_s_per_gpu=tokens / scenario.gpus,
        mfu=used.mfu if used else None,
        hfu=used.hfu if used else None,
        mfu_convention=used.convention if used else "no model given",
        tflops_per_gpu_6n=used.per_gpu["6n"] / 1e12 if used else None,
        tflops_per_gpu_causal=used.per_gpu["causal"] / 1e12 if used else None,
        tflops_per_gpu_full=used.per_gpu["full"] / 1e12 if used else None,
        parts_s=ordered,
        p_slow_host=straggling(scenario.jitter, scenario.gpus, scenario.cluster.hosts).p_slow_host,
        dropped_tokens=_dropped(scenario),
        waterfall=used.waterfall if used else (),
        links=tuple(_link(load, seconds) for load in _loads(scenario, built)) if built and played else (),
    )


def model_error(error: StepError) -> ModelError:
    """Return the error of a step as the result says it."""
    reasons = tuple(ErrorReason(what=reason.what, sd_ln=reason.sd_ln) for reason in error.reasons)
    return ModelError(sd_ln=error.sd_ln, median_ratio=error.median, reasons=reasons)


def _dropped(scenario: Scenario) -> Share:
    experts = scenario.model.experts if scenario.model else None
    return dropped(scenario.moe.imbalance, scenario.moe.capacity) if experts else 0.0


def _loads(scenario: Scenario, built: Assembly) -> tuple[LinkLoad, ...]:
    return network_of(scenario.cluster).loads(tuple(carried(built).values()))


def _link(load: LinkLoad, seconds: Seconds) -> dict[str, float | str]:
    """Return what a class of links carries. Raises ConservationError where that is more than it can."""
    if load.busy(seconds) > 1 + 1e-6:
        raise ConservationError(f"{load.name} links would be busy {load.busy(seconds):.4%} of a step")
    return {
        "name": load.name,
        "count": load.count,
        "bandwidth_bytes_per_s": load.bandwidth,
        "busy_share": load.busy(seconds),
        "bytes": load.peak_bytes,
        "mean_bytes": load.mean_bytes,
    }


def memory_result(estimate: MemoryEstimate) -> MemoryResult:
    known = {name: value for name, value in asdict(estimate).items() if name in MemoryResult.__dataclass_fields__}
    return MemoryResult(**known)
