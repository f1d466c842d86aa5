"""Each format gives the steps that its lines say, and is told from the others without being named."""

import gzip
import json
import os
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import ScenarioError
from simulator.measured import logs
from simulator.measured.disturbances import disturbances
from simulator.measured.series import Work, series
from tests.measured.made import megatron

TITAN = (
    "\x1b[31m[rank0]:[titan] 2026-01-01 00:00:{at:02d},500 - root - INFO - \x1b[32mstep: {n:2d}  loss:  8.1  "
    "memory: 49.66GiB(52.28%)  tps: 4,096  tflops: 339.16  mfu: 34.29%\n"
)
WORK = Work(batch=16, tokens=16 * 4096, gpus=8)
EXAMPLES = {
    "Megatron-LM": (megatron([2.0] * 12, 16), 2.0),
    "torchtitan": ("".join(TITAN.format(at=2 * n, n=n) for n in range(1, 13)), 16 * 4096 / 4096 / 8),
    "NeMo": (
        "".join(f"Epoch 0: | {n}/60 [v_num=, global_step={n}.0, train_step_timing in s=1.900]\r" for n in range(9)),
        1.9,
    ),
    "DeepSpeed": (
        "".join(
            f"[2026-01-01 00:00:{n:02d},171] [INFO] epoch=0/micro_step={n}/global_step={n}, RunningAvgSamplesPerSec=9, "
            f"CurrSamplesPerSec=32.0, MemAllocated=3.96GB, MaxMemAllocated=22.95GB\n"
            for n in range(1, 9)
        ),
        0.5,
    ),
    "DeepSpeed's breakdown (time of a microbatch)": (
        "rank=0 time (ms) | forward_microstep: 1000.0 | backward_microstep: 2000.0 | step_microstep: 500.0\n" * 9,
        3.5,
    ),
    "MaxText": (
        "".join(
            f"completed step: {n}, seconds: 15.5, TFLOP/s/device: 508.4, Tokens/s/device: 528.5, total_weights: 65536\n"
            for n in range(4)
        ),
        15.5,
    ),
    "MLPerf": (
        ":::MLLOG "
        + json.dumps(
            {"time_ms": 1000, "key": "tracked_stats", "value": {"train_step_time": 1.5}, "metadata": {"step": 8}}
        )
        + "\n",
        1.5,
    ),
    "nanoGPT": ("".join(f"step:{n}/99 train_loss:9 train_time:{216 * n}ms step_avg:nanms\n" for n in range(9)), 0.216),
    "JSON lines": ("".join(json.dumps({"step": n, "tps": 32768.0}) + "\n" for n in range(5)), 2.0),
    "CSV with a column such as step_time": ("step,step_time,loss\n" + "".join(f"{n},2.5,9.1\n" for n in range(5)), 2.5),
    "scalars of TensorBoard": (
        json.dumps({"iteration-time": {"step_interval": 5, "values": {"1": "nan", "5": 3.0, "10": 3.0, "15": 3.5}}}),
        3.0,
    ),
}


@pytest.mark.parametrize("format", EXAMPLES)
def test_a_log_is_read_without_its_format_being_named(format):
    text, seconds = EXAMPLES[format]
    log = logs.read(text, "train.log")
    assert log.format == format
    assert median(one.seconds for one in series(log, WORK).steps) == pytest.approx(seconds)


def test_every_format_has_an_example():
    assert {module.SAYS for module in logs.formats()} == set(EXAMPLES)


@pytest.mark.parametrize("format", EXAMPLES)
@given(noise=st.lists(st.text(max_size=80), max_size=20), cut=st.floats(0, 0.4))
def test_what_else_stands_in_a_log_and_where_it_ends_changes_no_step(format, noise, cut):
    text, seconds = EXAMPLES[format]
    if format in ("scalars of TensorBoard", "CSV with a column such as step_time"):
        noise = []  # one document, one table
    mixed = "\n".join(line.replace("{", "") for line in noise) + "\n" + text
    try:
        log = logs.read(mixed[: len(mixed) - int(cut * len(text))], "train.log")
        steps = series(log, WORK).steps
    except ScenarioError:
        return  # a sentence, and no traceback
    assert log.format == format
    assert all(one.seconds == pytest.approx(seconds, rel=0.2) for one in steps)


def test_a_step_that_every_rank_prints_is_one_step():
    lines = "".join(TITAN.format(at=n, n=n) * 7 for n in range(1, 5))
    assert [one.number for one in logs.read(lines, "train.log").iterations] == [1, 2, 3, 4]


def test_lines_that_broke_are_counted():
    log = logs.read(megatron([2.0] * 4) + " iteration 5/ 9 | elapsed time per iteration (s)\nhello\n", "train.log")
    assert log.skipped == {"broken lines": 1, "lines without a step": 1}


def test_a_number_that_none_can_be_is_no_step():
    lines = '{"step": 1e999, "step_time": 1e999}\n{"step": 3, "step_time": -2}\n{"step": 4, "step_time": 2.0}\n'
    assert [one.seconds for one in logs.read(lines, "x").iterations] == [2.0]


def test_a_file_of_two_jobs_is_said():
    text = megatron([0.1] * 5) + megatron([200.0] * 3).replace("500000", "600")
    found = series(logs.read(text, "train.log"))
    assert len(found.steps) == 5
    assert "holds 2 jobs" in found.warnings[0]


@pytest.mark.parametrize(
    ("work", "message"),
    [(Work(32, 32 * 4096, 8), "batches of 64 sequences, training.global_batch is 32"), (None, None)],
)
def test_a_log_of_other_batches_is_not_of_the_scenario(work, message):
    log = logs.read(megatron([2.0] * 5), "train.log")
    if message is None:
        assert len(series(log, work).steps) == 5
        return
    with pytest.raises(ScenarioError, match=message):
        series(log, work)


def test_rates_alone_need_the_scenario():
    log = logs.read('{"tps_per_gpu": 4096.0}\n' * 4, "train.log")
    with pytest.raises(ScenarioError, match="name the scenario"):
        series(log)
    assert series(log, WORK).steps[0].seconds == 2.0


SHARED = Path(os.environ.get("FORETRAIN_TRACES", Path(__file__).parents[3] / "shared/data/traces"))
KNOWN = {
    "logs/megatron_tr1_13b_v100.log": (10, 22.24),
    "logs/megatron_mixtral_16xh100_later.log": (3, 5.47),
    "logs/torchtitan_h100_gc_and_profiler.log": (6, 1.397),
    "logs/torchtitan_every_rank_prints.log": (2, 1.637),
    "logs/nemo_progress_bar.log": (1, 1.9),
    "logs/mlperf_v5.0_llama2_70b_lora_b200_8.log.gz": (5, 1.543),
    "logs/deepspeed_sft_opt1.3b.log.gz": (736, 0.7466),
    "logs/nanogpt_124m_8xh100.log.gz": (6199, 0.214),
    "logs/maxtext_llama3.1_405b_h200.log": (1, 15.516),
    "logs/megatron_scalars/gpt_7b_tp4_h100.json.gz": (12, 1.115),
    "logs/megatron_scalars/mixtral_8x7b_tp2pp4ep4_h100.json.gz": (4538, 8.96),
}


@pytest.mark.parametrize("name", KNOWN)
def test_published_logs_give_their_numbers(name):
    path = SHARED / name
    if not path.is_file():
        pytest.skip("logs of others, which are not part of this project, are not at hand")
    count, seconds = KNOWN[name]
    content = path.read_bytes()
    log = logs.read((gzip.decompress(content) if path.suffix == ".gz" else content).decode(), path.name)
    assert len(log.iterations) == count
    assert disturbances(series(log)).median_s == pytest.approx(seconds, rel=0.002)
