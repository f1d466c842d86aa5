"""Ctrl-C at any point of a study is 130 with a word on how to go on, and no half answer that looks like a whole one."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from simulator.cli import app

FAILING = """\
version: 1
name: one failure in ten hours
cluster: {host: hgx-h100, hosts: 16}
training: {steps: 80000, step_time: 9s}
failures: {causes: [{kind: exponential, unit: job, mtbf: 10h}]}
checkpoint: {kind: fixed, interval: 30min, stall: 60s, mode: blocking}
recovery: {detect: 0s, restart: 0s, repair: 1h}
prices: {gpu_hour: $2.00}
runs: 60
"""
TIGHT = """\
version: 1
name: 8B on 16 hosts
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 16}
stack: megatron-core-2024
parallelism: {tensor: 4}
training: {tokens: 1T, sequence_length: 8192, global_batch: 128, microbatch: 1}
search: {tensor: [1, 2, 4, 8], pipeline: [1, 2, 4], context: [1], recompute: [none], shard: [optimizer], chunks: [2]}
runs: 1
"""
STUDIES = {
    "sweep": (TIGHT, "point", ["sweep", "--vary", "parallelism.tensor=[2, 3, 4]", "--quick"]),
    "sweep --tornado": (TIGHT, "tornado", ["sweep", "--tornado", "--quick"]),
    "stress": (
        FAILING,
        "trial",
        ["stress", "--vary", "checkpoint.interval=[30min, 33min]", "--vary", "failures.scale=[1, 2]"],
    ),
    "layouts": (TIGHT, "layouts", ["layouts"]),
}
FORMS: tuple[tuple[str, ...], ...] = ((), ("--csv",), ("--json",))


def after(calls: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, with a Ctrl-C when it has been called so often."""
    numbers: Iterator[int] = count()

    def called(*arguments: Any) -> Any:
        if next(numbers) == calls:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments)

    return called


def told(study: str, folder: Path, *more: str) -> Result:
    text, _, arguments = STUDIES[study]
    scenario = folder.parent / "scenario.yaml"
    scenario.write_text(text)
    verb, *rest = arguments
    return CliRunner().invoke(app, [verb, str(scenario), *rest, *more, "--jobs", "1", "--out", str(folder)])


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("study", STUDIES)
def test_ctrl_c_after_every_point(study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, out = told(study, tmp_path / "whole").stdout, tmp_path / "out"
    left = files(tmp_path / "whole")
    rows = left["rows.jsonl"].splitlines(keepends=True)
    module = import_module(f"simulator.studies.{STUDIES[study][1]}")
    for number, form in zip(range(len(rows)), cycle(FORMS), strict=False):
        with monkeypatch.context() as patched:
            patched.setattr(module, "evaluate", after(min(number, 1), module.evaluate))
            stopped = told(study, out, *form)
        assert stopped.exit_code == 130
        assert stopped.stderr.splitlines()[-1] == f"Interrupted; the same command goes on from {out}"
        assert (stopped.stdout == "") == (number == 0)
        assert files(out) == {"rows.jsonl": b"".join(rows[:number])}
    assert told(study, out).stdout == whole
    assert files(out) == left


@pytest.mark.parametrize("study", STUDIES)
def test_ctrl_c_before_there_is_a_store(study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from simulator.scenario import reader

    monkeypatch.setattr(reader, "document", after(0, reader.document))
    stopped = told(study, tmp_path / "out")
    assert (stopped.exit_code, stopped.stdout) == (130, "")
    assert stopped.stderr == f"Interrupted; the same command goes on from {tmp_path}/out\n"
    assert not (tmp_path / "out").exists()


def test_without_a_folder_ctrl_c_says_what_would_keep_what_is_done(
    measured: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulator.studies import point

    monkeypatch.setattr(point, "evaluate", after(1, point.evaluate))
    arguments = ["sweep", measured, "--vary", "seed=[1, 2]", "--csv", "--jobs", "1"]
    stopped = CliRunner().invoke(app, arguments)
    assert stopped.exit_code == 130
    assert stopped.stderr == "Interrupted; --out DIR keeps what is done\n"
    assert len(stopped.stdout.splitlines()) == 2


def test_scenarios_of_an_earlier_answer_do_not_stay_beside_half_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulator.studies import layouts

    out = tmp_path / "out"
    told("layouts", out, "--quick")
    assert "best.yaml" in files(out)
    (out / "fastest.yaml").write_text("# mine\n")
    monkeypatch.setattr(layouts, "evaluate", after(1, layouts.evaluate))
    assert told("layouts", out, "--quick", "--set", "training.global_batch=256").exit_code == 130
    assert "best.yaml" not in files(out)
    assert files(out)["fastest.yaml"] == b"# mine\n"


def test_what_a_killed_writer_left_is_removed(measured: str, tmp_path: Path) -> None:
    (tmp_path / ".rows.csv.12345.part").write_text("half")
    (tmp_path / ".mine.part").write_text("mine")
    CliRunner().invoke(app, ["sweep", measured, "--vary", "seed=[1]", "--jobs", "1", "--out", str(tmp_path)])
    assert not (tmp_path / ".rows.csv.12345.part").exists()
    assert (tmp_path / ".mine.part").read_text() == "mine"
