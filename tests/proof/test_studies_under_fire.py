"""A full disk, a folder that takes nothing, workers that die: a message, and the next start ends as if nothing was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.errors import ScenarioError
from simulator.studies.executors import in_order, opened

SWEEP = ["sweep", "tutorial/1-one-host", "--vary", "seed=[0,1,2]", "--runs", "1"]
LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the /proc of Linux")


def told(*arguments: str, largest_file: int | None = None) -> subprocess.CompletedProcess[bytes]:
    """Return what a command said, where no file can become larger than that many bytes, as on a full disk."""

    def full() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file or 0, largest_file or 0))

    return subprocess.run(
        [sys.executable, "-m", "simulator", *arguments],
        capture_output=True,
        timeout=300,
        preexec_fn=full if largest_file is not None else None,
    )


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_disk_that_fills_up_is_a_message_and_the_next_start_goes_on(tmp_path):
    whole = told(*SWEEP, "--jobs", "1", "--out", str(tmp_path / "whole"))
    rows = len(files(tmp_path / "whole")["rows.jsonl"])
    out = tmp_path / "out"
    full = told(*SWEEP, "--jobs", "1", "--out", str(out), largest_file=rows // 2)
    assert full.returncode == 2
    assert full.stderr.decode() == f"{out}/rows.jsonl: cannot be written: File too large\n"
    again = told(*SWEEP, "--jobs", "1", "--out", str(out))
    assert again.stdout == whole.stdout
    assert files(out) == files(tmp_path / "whole")


def test_a_disk_that_fills_up_leaves_no_half_a_report(tmp_path):
    full = told("run", "tutorial/1-one-host", "--runs", "1", "--out", str(tmp_path / "out"), largest_file=9_000)
    assert full.returncode == 2
    assert full.stderr.decode() == f"{tmp_path}/out/report.html: cannot be written: File too large\n"
    assert files(tmp_path) == {}


@pytest.mark.parametrize("arguments", [SWEEP, ["run", "tutorial/1-one-host", "--runs", "1"]], ids=lambda a: a[0])
def test_a_folder_that_takes_nothing_is_a_message(arguments, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    folders = [Path("/proc/nothing")] if Path("/proc/self").exists() else []
    for folder in [*folders, *([] if os.geteuid() == 0 else [closed / "out"])]:
        done = told(*arguments, "--out", str(folder))
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"{folder}/")
        assert len(done.stderr.splitlines()) == 1


def test_a_worker_that_dies_is_a_message():
    with (
        pytest.raises(ScenarioError, match="a worker ended before its point was done, killed or out of memory"),
        opened(2) as (executor, workers),
    ):
        list(in_order(os._exit, range(1, 5), executor, workers))


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


@LINUX
@pytest.mark.slow
def test_a_study_whose_worker_is_killed_goes_on_at_the_next_start(tmp_path):
    arguments = ["sweep", "tutorial/3-failures", "--vary", "seed={from: 0, to: 19, steps: 20}", "--runs", "20"]
    whole = told(*arguments, "--jobs", "2", "--out", str(tmp_path / "whole"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "simulator", *arguments, "--jobs", "2", "--out", str(out)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (out / "rows.jsonl").exists() or not (out / "rows.jsonl").stat().st_size:
        time.sleep(0.01)
    # Last of all comes the child that keeps track of shared memory; the workers are those that run `spawn_main`.
    workers = [pid for pid in children(running.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(workers[0], signal.SIGKILL)
    _, mistakes = running.communicate(timeout=300)
    assert running.returncode == 2
    assert mistakes.startswith(b"a worker ended before its point was done")
    assert mistakes.count(b"\n") == 1
    again = told(*arguments, "--jobs", "2", "--out", str(out))
    assert again.stdout == whole.stdout
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("leaves", ["a worker", "the scheduler"])
def test_a_dask_cluster_that_loses_a_worker_or_all(leaves, tmp_path):
    distributed = pytest.importorskip("distributed")
    arguments = ["sweep", "tutorial/3-failures", "--vary", "seed={from: 0, to: 19, steps: 20}", "--runs", "20"]
    out = tmp_path / "out"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        command = [sys.executable, "-m", "simulator", *arguments, "--dask", cluster.scheduler_address]
        running = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not (out / "rows.jsonl").exists() or not (out / "rows.jsonl").stat().st_size:
            time.sleep(0.01)
        if leaves == "a worker":
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        else:
            cluster.close()
        printed, mistakes = running.communicate(timeout=300)
    whole = told(*arguments, "--jobs", "1", "--out", str(tmp_path / "whole"))
    if leaves == "a worker":
        assert (running.returncode, printed) == (0, whole.stdout)
    else:
        assert running.returncode == 2
        assert b"a worker ended before its point was done" in mistakes
        assert b"Traceback" not in mistakes
    assert told(*arguments, "--jobs", "1", "--out", str(out)).stdout == whole.stdout
    assert files(out) == files(tmp_path / "whole")
