"""Studies that are killed at any moment go on where they were, and end with the same bytes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("KILLS", "4"))
"""Of each study; ``KILLS=35 pytest -m slow tests/proof/test_killed_studies.py`` for a long run by hand."""
START = "tutorial/3-failures"
STUDIES = {
    "sweep": ["sweep", START, "--vary", "failures.scale=[1,2,4]", "--vary", "seed=[0,1,2,3]", "--runs", "20"],
    "layouts": ["layouts", START, "--set", "search.context=[1]", "--set", "search.chunks=[5]", "--runs", "5"],
    "stress": ["stress", START, "--set", "checkpoint.kind=fixed", "--vary", "checkpoint.interval=[2min,5min,20min]"],
}


def started(arguments: list[str], out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "simulator", *arguments, "--jobs", "2", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(arguments: list[str], out: Path) -> bytes:
    done = started(arguments, out)
    told, mistakes = done.communicate(timeout=300)
    assert done.returncode == 0, mistakes.decode()
    return told


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module", params=STUDIES)
def study(request, tmp_path_factory):
    """A study, and what it says and leaves where nothing disturbs it, and how long that takes."""
    folder = tmp_path_factory.mktemp("undisturbed") / request.param
    start = time.perf_counter()
    told = finished(STUDIES[request.param], folder)
    return STUDIES[request.param], told, files(folder), time.perf_counter() - start


def test_a_study_that_is_killed_again_and_again_ends_as_if_it_was_not(study, tmp_path):
    arguments, told, left, lasts = study
    dice = random.Random(repr(arguments))
    for _ in range(KILLS):
        if files(tmp_path / "out").get("rows.jsonl") == left["rows.jsonl"]:
            shutil.rmtree(tmp_path / "out")
        killed = started(arguments, tmp_path / "out")
        time.sleep(dice.uniform(0.1, 1.1) * lasts)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    assert finished(arguments, tmp_path / "out") == told
    assert files(tmp_path / "out") == left


def test_rows_that_were_torn_anywhere_are_worked_out_again(study, tmp_path):
    arguments, told, left, _ = study
    rows = left["rows.jsonl"]
    for cut in {1, len(rows) // 2, len(rows) - 1}:
        out = tmp_path / str(cut)
        out.mkdir()
        (out / "rows.jsonl").write_bytes(rows[:cut])
        assert finished(arguments, out) == told
        assert files(out) == left


def test_two_starts_at_once_on_one_folder_share_it_or_one_says_no(study, tmp_path):
    arguments, told, left, _ = study
    both = [started(arguments, tmp_path / "out") for _ in range(2)]
    ends = [(*one.communicate(timeout=600), one.returncode) for one in both]
    assert all((out == told and code == 0) or code == 2 for out, _, code in ends), ends
    assert any(code == 0 for *_, code in ends)
    assert files(tmp_path / "out") == left


def test_a_folder_that_is_deleted_meanwhile_is_a_message_or_is_made_again(study, tmp_path):
    arguments, told, _, lasts = study
    out = tmp_path / "out"
    running = started(arguments, out)
    time.sleep(0.5 * lasts)
    for path in sorted(out.rglob("*"), reverse=True):
        path.unlink()
    if out.exists():
        out.rmdir()
    printed, mistakes = running.communicate(timeout=300)
    assert (running.returncode == 0 and printed == told) or (running.returncode == 2 and mistakes)
    assert b"Traceback" not in mistakes
