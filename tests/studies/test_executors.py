"""Results come in the order of the items from any executor, and Ctrl-C leaves what is done."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from simulator.errors import ScenarioError
from simulator.studies import dask_cluster
from simulator.studies.executors import Here, in_order, opened
from simulator.studies.point import Base
from simulator.studies.store import Store
from simulator.studies.study import rows


def square(number: int) -> int:
    return number * number


class SchedulerWent:
    """A client of Dask whose scheduler no longer answers."""

    def __init__(self) -> None:
        self.closed = False

    def ncores(self) -> dict[str, int]:
        raise OSError("connection refused")

    def close(self, timeout: float) -> None:
        self.closed = timeout > 0


def test_whoever_waits_for_a_scheduler_that_went_is_not_left_waiting(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(dask_cluster, "EVERY", 0.01)
    client = SchedulerWent()
    dask_cluster._Workers(client, "tcp://here:8786", print).watch()
    assert client.closed


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_are_in_the_order_of_the_items(jobs: int) -> None:
    with opened(jobs) as (executor, workers):
        assert list(in_order(square, range(40), executor, workers)) == [number**2 for number in range(40)]


def test_items_are_asked_for_as_they_are_needed() -> None:
    asked = []

    def items():  # type: ignore[no-untyped-def]
        for number in range(100):
            asked.append(number)
            yield number

    results = in_order(square, items(), Here(), 1)
    assert next(results) == 0
    assert asked == [0]


class Number(int):
    base = Base("none", "version: 1\n")

    @property
    def key(self) -> str:
        return f"{int(self) % 5}"


def test_a_point_that_comes_twice_is_computed_once() -> None:
    computed = []

    def evaluate(point: Number) -> dict[str, int]:
        computed.append(point)
        return {"square": int(point) % 5}

    found = list(rows(evaluate, [Number(n) for n in range(12)], store=Store(), executor=Here()))
    assert [row["square"] for row in found] == [n % 5 for n in range(12)]
    assert len(computed) == 5


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_study_keeps_what_is_done_and_goes_on(
    measured: str, tmp_path: Path, how: int, code: int
) -> None:
    arguments = [sys.executable, "-m", "simulator", "sweep", measured, "--csv", "--jobs", "2"]
    arguments += ["--vary", "prices.gpu_hour={from: $1, to: $9, steps: 1000}"]
    stored = tmp_path / "a" / "rows.jsonl"
    program = subprocess.Popen(
        [*arguments, "--out", str(tmp_path / "a")],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell ignores it
    )
    while not stored.exists() or stored.stat().st_size < 8_000:
        time.sleep(0.01)
    os.kill(program.pid, how)
    partial, _ = program.communicate()
    assert program.returncode == code
    done = len(stored.read_bytes().splitlines())
    assert 0 < done < 1000
    if how == signal.SIGINT:
        assert len(partial.splitlines()) == done + 1
    after = subprocess.run([*arguments, "--out", str(tmp_path / "a")], stdout=subprocess.PIPE, check=True)
    whole = subprocess.run([*arguments, "--out", str(tmp_path / "b")], stdout=subprocess.PIPE, check=True)
    assert after.stdout == whole.stdout
    assert stored.read_bytes() == (tmp_path / "b" / "rows.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_dask_workers_write_the_same_bytes(measured: str, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    arguments = [sys.executable, "-m", "simulator", "sweep", measured, "--csv"]
    arguments += ["--vary", "prices.gpu_hour={from: $1, to: $9, steps: 20}"]
    here = subprocess.run([*arguments, "--jobs", "1", "--out", str(tmp_path / "a")], stdout=subprocess.PIPE, check=True)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = subprocess.run(
            [*arguments, "--dask", cluster.scheduler_address, "--out", str(tmp_path / "b")],
            stdout=subprocess.PIPE,
            check=True,
        )
    assert there.stdout == here.stdout
    assert (tmp_path / "a" / "rows.jsonl").read_bytes() == (tmp_path / "b" / "rows.jsonl").read_bytes()


@pytest.mark.parametrize("address", ["tls://127.0.0.1:9", "ucx://127.0.0.1:9", "nonsense", "", "inproc://x", "://"])
def test_an_address_that_dask_cannot_use_is_a_sentence(address: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ScenarioError, match="expected an address such as tcp://host:8786"), opened(dask=address):
        pass


def test_a_client_that_could_not_be_made_is_gone_before_the_next() -> None:
    distributed = pytest.importorskip("distributed")
    for _ in range(3):
        with pytest.raises(ScenarioError), opened(dask="nonsense"):
            pass
        left = [one for one in gc.get_objects() if isinstance(one, distributed.Client) and one.status != "closed"]
        assert left == [], "it takes a lock of Dask's wherever it is collected, and a program may stand still for ever"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_without_workers_is_said_once_and_ctrl_c_ends_it(measured: str) -> None:
    distributed = pytest.importorskip("distributed")
    arguments = [sys.executable, "-m", "simulator", "sweep", measured, "--vary", "prices.gpu_hour=[$1,$2]"]
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        program = subprocess.Popen(
            [*arguments, "--dask", cluster.scheduler_address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert program.stderr is not None
        assert "waiting for workers" in program.stderr.readline()
        time.sleep(2.5)
        program.send_signal(signal.SIGINT)
        table, said = program.communicate()
    assert program.returncode == 130
    assert table == ""
    assert said == "Interrupted; --out DIR keeps what is done\n"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_that_come_late_or_die_are_waited_for(measured: str) -> None:
    distributed = pytest.importorskip("distributed")
    said: list[str] = []
    with distributed.LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None) as cluster:
        Timer(2.5, cluster.scale, [1]).start()
        with opened(dask=cluster.scheduler_address, say=said.append) as (executor, workers):
            assert len(said) == 1
            assert list(in_order(square, range(4), executor, workers)) == [0, 1, 4, 9]
            cluster.scale(0)
            late = Timer(5, cluster.scale, [1])
            late.start()
            time.sleep(2.5)
            assert list(in_order(square, range(4), executor, workers)) == [0, 1, 4, 9]
            late.join()
    assert len(said) == 2
    assert all("waiting for workers" in message for message in said)
