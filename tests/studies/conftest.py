"""Small scenarios for studies, fast enough to be worked out many times."""

from __future__ import annotations

from pathlib import Path

import pytest

MEASURED = """\
version: 1
name: a measured step
cluster: {host: hgx-h100, hosts: 16}
training: {steps: 1000, step_time: 9s}
prices: {gpu_hour: $2.50}
runs: 1
"""
DENSE = """\
version: 1
name: 8B on 16 hosts
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 16}
stack: megatron-core-2024
parallelism: {tensor: 4}
training: {tokens: 1T, sequence_length: 8192, global_batch: 128, microbatch: 1}
runs: 1
"""
MIXTURE = """\
version: 1
name: experts on 16 hosts
model: mixtral-8x7b
cluster: {host: hgx-h100, hosts: 16}
stack: megatron-core-2024
parallelism: {tensor: 2, pipeline: 4, expert: 8}
training: {tokens: 1T, sequence_length: 4096, global_batch: 256, microbatch: 1}
runs: 1
"""


@pytest.fixture
def measured(tmp_path: Path) -> str:
    path = tmp_path / "measured.yaml"
    path.write_text(MEASURED)
    return str(path)


@pytest.fixture
def dense(tmp_path: Path) -> str:
    path = tmp_path / "dense.yaml"
    path.write_text(DENSE)
    return str(path)


@pytest.fixture
def mixture(tmp_path: Path) -> str:
    path = tmp_path / "mixture.yaml"
    path.write_text(MIXTURE)
    return str(path)
