"""A whole Result as the simulator would return it: Llama 3.1 405B on 16,384 H100, its numbers made up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.outcome.results import (
    Assumption,
    CostResult,
    Distribution,
    Level,
    MemoryResult,
    ModelSize,
    Result,
    RunResult,
    Span,
    StepResult,
    TransferResult,
)

STAGES, CHUNKS, MICROBATCHES = 16, 8, 16
FORWARD, BACKWARD, SEND = 0.0128, 0.0260, 0.0006
DAY = 86400.0


def llama() -> Result:
    return Result(
        version="0.1.0",
        scenario={
            "version": 1,
            "name": "Llama 3.1 405B on 16,384 H100",
            "source": "arXiv 2407.21783, Table 4",
            "model": {"name": "llama-3.1-405b", "layers": 126, "hidden": 16384},
            "cluster": {"host": {"name": "hgx-h100", "gpu": "h100-sxm-80gb", "gpus": 8}, "hosts": 2048, "spares": 16},
            "stack": {"name": "meta-2024"},
            "parallelism": {"tensor": 8, "pipeline": 16, "context": 1, "expert": 1, "data": 128},
            "training": {"tokens": 15.6e12, "sequence_length": 8192, "global_batch": 2048, "precision": "bf16"},
            "prices": {"gpu_hour": 2.5},
            "runs": 200,
        },
        seed=7,
        verdict="fits",
        warnings=("parallelism.expert: 1 with a dense model changes nothing",),
        assumptions=(
            Assumption(
                key="stack.cpu_layer", value="0.3 ms", source="catalog/stack/meta-2024.yaml: profile of lean stacks"
            ),
            Assumption(
                key="recovery.repair",
                value="lognormal, mean 24 h, cv 1",
                source="arXiv 2410.21680, section IV",
            ),
            Assumption(key="parallelism.expert_tensor", value="1", source="default"),
            Assumption(key="jitter.slow", value="1.1", source="default"),
            Assumption(
                key="jitter.gpu",
                value="2%",
                source="arXiv 2407.21783, section 3.3.4, and Sinha et al., SC 2022, figure 9",
            ),
        ),
        model=ModelSize(
            parameters=405_853_388_800, active_parameters=405_853_388_800, trained_parameters=405_853_388_800
        ),
        step=_step(),
        memory=_memory(),
        run=_run(),
        cost=CostResult(
            gpu_hours=Distribution(mean=30.4e6, p10=29.9e6, p50=30.4e6, p90=30.9e6),
            dollars=Distribution(mean=76.6e6, p10=75.3e6, p50=76.5e6, p90=77.9e6),
            energy_j=1.07e14,
            co2_kg=9.9e6,
        ),
        not_modelled=(
            "fragmentation of the allocator beyond the stack's reserved factor",
            "loading of training data, apart from training.data_stall",
            "traffic of other jobs on the same network",
        ),
        spans=spans(),
        occupancy=occupancy(),
    )


def out_of_memory() -> Result:
    """The same run with twice the activations: it does not fit."""
    whole = llama()
    assert whole.memory is not None
    stages = tuple(
        {**stage, "activations_bytes": 2 * stage["activations_bytes"]}
        | {"peak_bytes": stage["peak_bytes"] + stage["activations_bytes"]}
        for stage in whole.memory.stages
    )
    peak = stages[0]["peak_bytes"]
    memory = replace(
        whole.memory, stages=stages, peak_bytes=peak, allocated_bytes=peak, reserved_bytes=1.05 * peak, p_fits=0.004
    )
    return replace(whole, memory=memory, verdict="oom")


def measured_step() -> Result:
    """A run whose step was measured and typed in: no model, no memory, no spans."""
    step = replace(
        _step(),
        mfu=None,
        hfu=None,
        tflops_per_gpu_6n=None,
        tflops_per_gpu_causal=None,
        tflops_per_gpu_full=None,
        waterfall=(),
        links=(),
        parts_s={part: (6.48 if part == "other" else 0.0) for part in _step().parts_s},
    )
    return replace(llama(), model=None, memory=None, verdict=None, spans=(), step=step)


def _step() -> StepResult:
    parts = {
        "compute": 4.25,
        "recompute": 0.0,
        "tensor": 0.72,
        "context": 0.0,
        "expert": 0.0,
        "pipeline": 0.08,
        "bubble": 0.60,
        "data": 0.24,
        "optimizer": 0.03,
        "offload": 0.0,
        "straggler": 0.35,
        "stall": 0.05,
        "other": 0.16,
    }
    time = sum(parts.values())
    return StepResult(
        time_s=time,
        time_low_s=6.06,
        time_high_s=6.93,
        tokens_per_s=2048 * 8192 / time,
        tokens_per_s_per_gpu=2048 * 8192 / time / 16384,
        mfu=0.404,
        hfu=0.404,
        mfu_convention="causal",
        tflops_per_gpu_6n=384.1,
        tflops_per_gpu_causal=400.0,
        tflops_per_gpu_full=416.0,
        parts_s=parts,
        p_slow_host=0.18,
        waterfall=(
            ("peak", 989.5e12),
            ("kernel efficiency", 380e12),
            ("tensor parallelism", 67.7e12),
            ("pipeline transfers", 7.5e12),
            ("pipeline bubble", 56.6e12),
            ("data parallelism", 22.6e12),
            ("optimizer", 2.8e12),
            ("stragglers", 33.1e12),
            ("data stalls", 4.7e12),
            ("host-bound launches", 14.5e12),
            ("delivered", 400.0e12),
        ),
        links=(
            _links("scale-up", 16384, 450e9, 0.17, 4.9e11, 4.9e11),
            _links("nic", 16384, 50e9, 0.09, 2.9e10, 2.9e10),
            _links("leaf", 16384, 50e9, 0.12, 3.9e10, 3.1e10),
            _links("spine", 2341, 50e9, 0.61, 2.0e11, 2.0e11),
        ),
        transfers=(
            _transfer("tensor", "scale-up", 4.9e11, 0.9, 450e9, None),
            _transfer("pipeline", "nic", 8.5e9, 0.02, 50e9, 166e9),
            _transfer("data", "spine", 1.9e10, 0.04, 50e9, 40e9),
        ),
    )


def _links(name: str, count: int, bandwidth: float, busy: float, peak: float, mean: float) -> dict[str, object]:
    return {
        "name": name,
        "count": count,
        "bandwidth_bytes_per_s": bandwidth,
        "busy_share": busy,
        "bytes": peak,
        "mean_bytes": mean,
    }


def _transfer(
    part: str, links: str, nbytes: float, exposed: float, bandwidth: float, hidden: float | None
) -> TransferResult:
    return TransferResult(
        part=part,
        links=links,
        bytes=nbytes,
        exposed_s=exposed,
        bandwidth_bytes_per_s=bandwidth,
        hidden_at_bytes_per_s=hidden,
    )


def _memory() -> MemoryResult:
    stages = []
    for stage in range(STAGES):
        parts = {
            "weights_bytes": 6.33e9 + (0.5e9 if stage in (0, STAGES - 1) else 0.0),
            "gradients_bytes": 12.66e9,
            "optimizer_bytes": 0.30e9,
            "activations_bytes": (CHUNKS * STAGES + 2 * (STAGES - 1 - stage)) * 0.21e9,
            "logits_bytes": 1.34e9 if stage == STAGES - 1 else 0.0,
            "buffers_bytes": 1.9e9,
            "update_bytes": 0.0,
            "overhead_bytes": 1.1e9,
        }
        stages.append(parts | {"peak_bytes": sum(parts.values())})
    peak = max(stage["peak_bytes"] for stage in stages)
    return MemoryResult(
        capacity_bytes=85.52e9,
        usable_bytes=84.9e9,
        peak_bytes=peak,
        allocated_bytes=peak,
        reserved_bytes=1.05 * peak,
        process_bytes=1.05 * peak + 3.1e9,
        p_fits=0.93,
        host_peak_bytes=0.31e12,
        host_bytes=2.0e12,
        worst_stage=0,
        stages=tuple(stages),
    )


def _run() -> RunResult:
    ideal = 15.6e12 / (2048 * 8192) * 6.48
    wall = ideal / 0.904
    lost = wall - ideal
    shares = {
        "checkpoint": 0.09,
        "lost": 0.33,
        "detect": 0.07,
        "diagnose": 0.10,
        "restart": 0.29,
        "wait": 0.02,
        "degraded": 0.04,
        "planned": 0.06,
        "other": 0.0,
    }
    generator = np.random.default_rng(7)
    samples = tuple(float(sample) for sample in wall + 0.55 * DAY * generator.standard_gamma(4.0, 200) - 2.2 * DAY)
    p10, p50, p90 = (float(np.quantile(samples, share)) for share in (0.1, 0.5, 0.9))
    causes = {
        "faulty GPU": 148,
        "GPU HBM3 memory": 72,
        "software bug": 54,
        "network switch or cable": 35,
        "host maintenance": 32,
        "GPU SRAM memory": 19,
        "GPU system processor": 17,
        "NIC": 7,
        "NCCL watchdog timeout": 7,
        "silent data corruption": 6,
        "thermal interface and sensor": 6,
        "SSD": 3,
        "power supply": 3,
        "server chassis": 2,
        "CPU": 2,
        "system memory": 2,
        "other": 4,
    }
    scale = wall / (54 * DAY)
    by_cause = {cause: count * scale for cause, count in causes.items()}
    return RunResult(
        ideal_s=ideal,
        wall_clock_s=Distribution(mean=wall, p10=p10, p50=p50, p90=p90),
        goodput=Distribution(mean=0.904, p10=0.898, p50=0.904, p90=0.909),
        goodput_definitions={
            "goodput": {"value": 0.904, "definition": "useful work at full speed / wall clock"},
            "meta_ettr": {"value": 0.904, "definition": "time of work that was kept / wall clock"},
        },
        parts_s={"train": ideal} | {part: share * lost for part, share in shares.items()},
        interruptions={"mean": sum(by_cause.values()), "by_cause": by_cause, "planned": 67.0},
        checkpoint={"interval_s": 1180.0, "stall_s": 4.1, "persist_s": 38.0, "bytes": 5.68e12},
        spares={"waiting_share": 0.0006, "needed_p99": 21},
        samples=samples,
    )


def spans() -> tuple[Span, ...]:
    """Play one step of interleaved 1F1B, each stage in its own order, and add the streams beside compute."""
    orders = [_order(stage) for stage in range(STAGES)]
    ready = {("F", microbatch, 0): 0.0 for microbatch in range(MICROBATCHES)}
    clock, place, out = [0.0] * STAGES, [0] * STAGES, []
    while any(place[stage] < len(orders[stage]) for stage in range(STAGES)):
        for stage in range(STAGES):
            while place[stage] < len(orders[stage]):
                phase, microbatch, chunk = orders[stage][place[stage]]
                part = chunk * STAGES + stage
                if (phase, microbatch, part) not in ready:
                    break
                start = max(clock[stage], ready[phase, microbatch, part])
                duration = FORWARD if phase == "F" else BACKWARD
                clock[stage], place[stage] = start + duration, place[stage] + 1
                out.append(
                    Span(
                        track=f"stage {stage}",
                        name=f"{phase}{microbatch}.{chunk}",
                        start=start,
                        duration=duration,
                        kind=phase,
                    )
                )
                out.append(
                    Span(
                        track=f"stage {stage} send",
                        name=f"send {phase}{microbatch}.{chunk}",
                        start=start + duration,
                        duration=SEND,
                        kind="pipeline",
                    )
                )
                last = STAGES * CHUNKS - 1
                if phase == "F":
                    following = ("F", microbatch, part + 1) if part < last else ("B", microbatch, part)
                else:
                    following = ("B", microbatch, part - 1)
                ready[following] = start + duration + SEND
    for stage in range(STAGES):
        end = clock[stage]
        out.append(Span(track=f"stage {stage} data", name="reduce", start=end - 0.9, duration=0.85, kind="data"))
        out.append(Span(track=f"stage {stage}", name="gather", start=end, duration=0.24, kind="data"))
        out.append(Span(track=f"stage {stage}", name="optimizer", start=end + 0.24, duration=0.03, kind="optimizer"))
    return tuple(out)


def occupancy() -> tuple[tuple[Level, ...], ...]:
    """Return the memory of each stage, which a forward takes and a backward gives back."""
    stages = _memory().stages
    found: list[list[Level]] = [[Level(0.0, _still(stage))] for stage in stages]
    for span in sorted(spans(), key=lambda span: span.start):
        if span.kind in ("F", "B"):
            stage = int(span.track.removeprefix("stage "))
            before = found[stage][-1].nbytes
            most = (CHUNKS * STAGES + 2 * (STAGES - 1 - stage)) * 0.21e9 / (CHUNKS * MICROBATCHES)
            if span.kind == "F":
                found[stage].append(Level(span.start, before + most))
            else:
                found[stage].append(Level(span.start + span.duration, before - most))
    return tuple(map(tuple, found))


def _still(stage: dict[str, float]) -> float:
    return sum(stage[f"{part}_bytes"] for part in ("weights", "gradients", "optimizer", "buffers"))


def _order(stage: int) -> list[tuple[str, int, int]]:
    turns = [
        (round_ * STAGES + index, chunk)
        for round_ in range(MICROBATCHES // STAGES)
        for chunk in range(CHUNKS)
        for index in range(STAGES)
    ]
    forwards = [("F", microbatch, chunk) for microbatch, chunk in turns]
    backwards = [("B", microbatch, CHUNKS - 1 - chunk) for microbatch, chunk in turns]
    warmup = min(2 * (STAGES - 1 - stage) + (CHUNKS - 1) * STAGES, len(turns))
    steady = [task for pair in zip(forwards[warmup:], backwards, strict=False) for task in pair]
    return [*forwards[:warmup], *steady, *backwards[len(turns) - warmup :]]


def endless() -> Result:
    """A run that never gets anywhere."""
    whole = llama()
    never = float("inf")
    wall = replace(whole.run.wall_clock_s, mean=never, p10=never, p50=never, p90=never)
    return replace(whole, run=replace(whole.run, progress=False, wall_clock_s=wall, samples=(never,) * 3))
