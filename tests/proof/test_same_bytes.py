"""The same scenario, seed and version give the same bytes, whatever runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = ["run", "tutorial/3-failures", "--runs", "5"]
SWEEP = ["sweep", "tutorial/3-failures", "--vary", "failures.scale=[1,2]", "--vary", "seed=[0,1,2]", "--runs", "5"]
LAYOUTS = ["layouts", "tutorial/2-a-rack", "--set", "search.context=[1]", "--csv", "--quick"]
STRESS = ["stress", "tutorial/3-failures", "--vary", "cluster.spares=[2,4]", "--vary", "failures.scale=[1,2]"]


def told(*arguments: str, **environment: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "simulator", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_seed_of_hashes_means_nothing():
    first, *others = [told(*RUN, "--json", PYTHONHASHSEED=seed) for seed in ("0", "1", "4242")]
    assert all(other == first for other in others)


@pytest.mark.slow
def test_pages_plots_and_traces_are_the_same_bytes_twice(tmp_path):
    for number, seed in enumerate(("0", "1")):
        told(*RUN, "--out", str(tmp_path / str(number)), PYTHONHASHSEED=seed)
    assert files(tmp_path / "0") == files(tmp_path / "1")


@pytest.mark.slow
@pytest.mark.parametrize("study", [SWEEP, LAYOUTS, STRESS], ids=lambda study: study[0])
def test_the_number_of_processes_means_nothing(study, tmp_path):
    out = [told(*study, "--jobs", jobs, "--out", str(tmp_path / jobs), PYTHONHASHSEED=jobs) for jobs in ("1", "2", "5")]
    assert out[0] == out[1] == out[2]
    assert files(tmp_path / "1") == files(tmp_path / "2") == files(tmp_path / "5")


@pytest.mark.slow
def test_a_dask_cluster_means_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        assert told(*SWEEP, "--dask", address, "--out", str(tmp_path / "dask")) == told(*SWEEP, "--jobs", "1")
