"""The row of a point in a study: what a result says, one column a number, SI units in the names."""

from __future__ import annotations

from typing import Any, Protocol

from simulator.io.readable import NO_PROGRESS
from simulator.outcome.host_memory import Offloaded, host_is_fuller
from simulator.outcome.results import CostResult, Distribution, Result, RunResult, StepResult

GIB = 2.0**30
INFEASIBLE = "infeasible"
"""The verdict of a point that contradicts itself, beside fits, tight and oom."""
COLUMNS = (
    "verdict",
    "reason",
    "step_time_s",
    "step_time_low_s",
    "step_time_high_s",
    "tokens_per_s",
    "tokens_per_s_per_gpu",
    "mfu",
    "hfu",
    "tflops_per_gpu_6n",
    "tflops_per_gpu_causal",
    "tflops_per_gpu_full",
    "dropped_tokens",
    "step_compute_s",
    "step_recompute_s",
    "step_tensor_s",
    "step_context_s",
    "step_expert_s",
    "step_pipeline_s",
    "step_bubble_s",
    "step_data_s",
    "step_optimizer_s",
    "step_offload_s",
    "step_straggler_s",
    "step_stall_s",
    "step_other_s",
    "peak_bytes",
    "usable_bytes",
    "headroom_bytes",
    "p_fits",
    "ideal_s",
    "progress",
    "wall_clock_mean_s",
    "wall_clock_p10_s",
    "wall_clock_p50_s",
    "wall_clock_p90_s",
    "goodput_mean",
    "goodput_p10",
    "goodput_p50",
    "goodput_p90",
    "interruptions",
    "checkpoint_interval_s",
    "gpus",
    "gpu_hours_mean",
    "gpu_hours_p10",
    "gpu_hours_p50",
    "gpu_hours_p90",
    "dollars_mean",
    "dollars_p10",
    "dollars_p50",
    "dollars_p90",
    "energy_j",
    "co2_kg",
)
"""In the order of a CSV, behind the keys that were varied."""


def of_result(result: Result, gpus: int) -> dict[str, Any]:
    """Return the row of a whole result."""
    memory = result.memory
    row: dict[str, Any] = {"verdict": result.verdict, "reason": reason(result), "gpus": gpus}
    row |= of_step(result.step)
    if memory is not None:
        row |= of_memory(memory.peak_bytes, memory.usable_bytes, memory.p_fits)
    return ordered(row | of_run(result.run) | of_cost(result.cost))


def of_step(step: StepResult) -> dict[str, Any]:
    return {
        "step_time_s": step.time_s,
        "step_time_low_s": step.time_low_s,
        "step_time_high_s": step.time_high_s,
        "tokens_per_s": step.tokens_per_s,
        "tokens_per_s_per_gpu": step.tokens_per_s_per_gpu,
        "mfu": step.mfu,
        "hfu": step.hfu,
        "tflops_per_gpu_6n": step.tflops_per_gpu_6n,
        "tflops_per_gpu_causal": step.tflops_per_gpu_causal,
        "tflops_per_gpu_full": step.tflops_per_gpu_full,
        "dropped_tokens": step.dropped_tokens,
        **{f"step_{part}_s": seconds for part, seconds in step.parts_s.items()},
    }


def of_memory(peak: float, usable: float, p_fits: float) -> dict[str, Any]:
    return {"peak_bytes": peak, "usable_bytes": usable, "headroom_bytes": usable - peak, "p_fits": p_fits}


def of_run(run: RunResult) -> dict[str, Any]:
    return {
        "ideal_s": run.ideal_s,
        "progress": run.progress,
        **_spread("wall_clock_{}_s", run.wall_clock_s),
        **_spread("goodput_{}", run.goodput),
        "interruptions": run.interruptions["mean"],
        "checkpoint_interval_s": run.checkpoint["interval_s"],
    }


def of_cost(cost: CostResult) -> dict[str, Any]:
    spread = _spread("gpu_hours_{}", cost.gpu_hours) | _spread("dollars_{}", cost.dollars)
    return spread | {"energy_j": cost.energy_j, "co2_kg": cost.co2_kg}


def ordered(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of `row` in their order, those left out empty."""
    return {name: row.get(name) for name in COLUMNS}


def infeasible(why: str) -> dict[str, Any]:
    """Return the row of a point that cannot be simulated."""
    return ordered({"verdict": INFEASIBLE, "reason": why})


def reason(result: Result) -> str | None:
    """Return why the answer is no, in one line."""
    if result.verdict == "oom" and result.memory is not None:
        return too_large(result.memory)
    return None if result.run.progress else f"no progress: {NO_PROGRESS}"


class Held(Offloaded, Protocol):
    """What is known of memory, by an estimate or in a result."""

    @property
    def worst_stage(self) -> int: ...


def too_large(held: Held) -> str:
    """Return by how much a stage is too large, or what is offloaded to a host.

    >>> from types import SimpleNamespace as Of
    >>> gpu = {"peak_bytes": 2**30 * 90.0, "usable_bytes": 2**30 * 78.0, "worst_stage": 3}
    >>> too_large(Of(**gpu, host_peak_bytes=0.0, host_bytes=2**40))
    'stage 3 needs 90.0 GiB, 12.0 GiB more than there are'
    """
    if host_is_fuller(held):
        who, need, have = "a host", held.host_peak_bytes, held.host_bytes
    else:
        who, need, have = f"stage {held.worst_stage}", held.peak_bytes, held.usable_bytes
    over = (need - have) / GIB
    beyond = f"{over:.1f} GiB more than there are" if over > 0 else f"too close to the {have / GIB:.1f} GiB there are"
    return f"{who} needs {need / GIB:.1f} GiB, {beyond}"


def _spread(name: str, spread: Distribution) -> dict[str, float]:
    return {name.format(part): getattr(spread, part) for part in ("mean", "p10", "p50", "p90")}
