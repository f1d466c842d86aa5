"""Values that have a name: what trackers and trainers call the time of a step, its rate and its memory.

Names are those of NeMo AutoModel (`mem`, `tps`), Hugging Face's trainer, Weights & Biases and MLflow exports of
Megatron-LM and torchtitan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.measured.iteration import Iteration
from simulator.measured.logs.lines import clock, positive, whole

NUMBER = ("step", "iteration", "global_step", "iter", "_step", "trainer/global_step", "steps")
SECONDS = (
    "step_time",
    "iteration-time",
    "iteration_time",
    "step_time_s",
    "train_step_timing in s",
    "train_step_timing",
    "time_per_iteration",
    "elapsed_time_per_iteration",
    "time_per_step",
    "time_metrics/end_to_end(s)",
    "seconds_per_step",
    "perf/step_time",
    "dt",
)
MILLISECONDS = ("step_time_ms", "iteration_time_ms", "elapsed time per iteration (ms)", "dt_ms")
OF_A_GPU = ("tps_per_gpu", "tokens_per_second_per_gpu", "tokens_per_sec_per_gpu", "throughput(tps)", "tgs")
OF_ALL = ("tps", "tokens_per_second", "tokens_per_sec", "train_tokens_per_second")
SAMPLES = ("train_samples_per_second", "samples_per_second", "samples_per_sec", "throughput/samples_per_sec")
TOKENS = ("num_tokens_per_step", "tokens_per_step", "num_tokens", "batch_tokens")
BATCH = ("global_batch_size", "batch_size", "batch-size")
CLOCKS = ("timestamp", "_timestamp", "time", "wall_time")
GIBIBYTES = ("mem", "memory/max_active(GiB)", "memory/max_reserved(GiB)", "max_memory_gib", "peak_memory_gib")
BYTES = ("mem-max-allocated-bytes", "max_memory_bytes", "peak_memory_bytes")


def iteration(said: Mapping[str, Any]) -> Iteration | None:
    """Return the step that named values tell of, None where none of them says how long it took."""
    known = {str(name).strip().lower(): value for name, value in said.items()}
    seconds, milli = _first(known, SECONDS), _first(known, MILLISECONDS)
    of_a_gpu, of_all, samples = (_first(known, names) for names in (OF_A_GPU, OF_ALL, SAMPLES))
    if all(value is None for value in (seconds, milli, of_a_gpu, of_all, samples)):
        return None
    tokens = _first(known, TOKENS)
    if seconds is None and milli is not None:
        seconds = milli / 1000
    if seconds is None and tokens is not None and of_all is not None:
        seconds = tokens / of_all
    gibi, plain = _first(known, GIBIBYTES), _first(known, BYTES)
    number = next((whole(known[name]) for name in NUMBER if name in known), None)
    batch = next((whole(known[name]) for name in BATCH if name in known), None)
    return Iteration(
        number=number,
        seconds=seconds,
        tokens_per_gpu=of_a_gpu,
        tokens_per_s=of_all,
        samples_per_s=samples,
        tokens=tokens,
        batch=batch,
        clock=next((_moment(known[name]) for name in CLOCKS if name in known), None),
        memory=gibi * 2.0**30 if gibi is not None else plain,
    )


def _first(known: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := positive(known.get(name.lower()))) is not None), None)


def _moment(value: Any) -> float | None:
    if isinstance(value, str) and (found := clock(value)) is not None:
        return found
    return positive(value)
