"""A study of ten thousand points: its memory, and its bytes after it was killed in the middle.

Run with ``pytest -m benchmark tests/benchmarks -s``.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MEASURED = """\
version: 1
name: a measured step
cluster: {host: hgx-h100, hosts: 16}
training: {steps: 1000, step_time: 9s}
prices: {gpu_hour: $2.50}
"""
AXES = (
    "--vary=prices.gpu_hour={from: $1, to: $9, steps: 100}",
    "--vary=training.step_time={from: 5s, to: 15s, steps: 100}",
)
LARGEST = 500e6


@pytest.mark.benchmark
def test_ten_thousand_points_end_with_the_same_bytes_after_a_kill_and_fit_in_half_a_gigabyte(tmp_path: Path) -> None:
    scenario = tmp_path / "measured.yaml"
    scenario.write_text(MEASURED)
    program = [sys.executable, "-m", "simulator", "sweep", str(scenario), *AXES, "--csv"]

    began = time.perf_counter()
    whole = subprocess.run([*program, "--out", str(tmp_path / "whole")], stdout=subprocess.PIPE, check=True)
    took = time.perf_counter() - began

    stored = tmp_path / "killed" / "rows.jsonl"
    killed = subprocess.Popen([*program, "--out", str(stored.parent)], stdout=subprocess.DEVNULL)
    while not stored.exists() or stored.stat().st_size < 5_000_000:
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    resumed = subprocess.run([*program, "--out", str(stored.parent)], stdout=subprocess.PIPE, check=True)

    assert resumed.stdout == whole.stdout
    assert stored.read_bytes() == (tmp_path / "whole" / "rows.jsonl").read_bytes()
    most = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    sys.stdout.write(f"\n10,000 points in {took:.0f} s, {most / 1e6:.0f} MB at most\n")
    assert most < LARGEST
