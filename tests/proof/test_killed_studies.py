"""Studies that are stopped at any moment, in any way, go on where they were, and end with the same bytes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("KILLS", "6"))
"""Of each study; ``KILLS=34 pytest -n 0 -s -m slow tests/proof/test_killed_studies.py`` for a hundred, with figures."""
HOW = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
START = "tutorial/3-failures"
STUDIES = {
    "sweep": ["sweep", START, "--vary", "failures.scale=[1,2,4]", "--vary", "seed=[0,1,2,3]", "--runs", "20"],
    "layouts": ["layouts", START, "--set", "search.context=[1]", "--set", "search.chunks=[5]", "--runs", "5"],
    "stress": ["stress", START, "--set", "checkpoint.kind=fixed", "--vary", "checkpoint.interval=[2min,5min,20min]"],
}


def started(arguments: list[str], out: Path) -> subprocess.Popen[bytes]:
    """Start a study as a shell does, in a group of processes of its own."""
    command = [sys.executable, "-m", "simulator", *arguments, "--jobs", "2", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def stopped(study: subprocess.Popen[bytes], how: signal.Signals, *, all_of_it: bool) -> tuple[int, str]:
    """Send a signal to a study, or to its workers too as a terminal does; return how it ended and what it said."""
    if study.poll() is None:
        os.killpg(study.pid, how) if all_of_it else study.send_signal(how)
    _, mistakes = study.communicate(timeout=300)
    return study.returncode, mistakes.decode()


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


def test_a_study_that_is_stopped_again_and_again_ends_as_if_it_was_not(study, tmp_path):
    arguments, told, left, lasts = study
    dice, ends, late, out = random.Random(repr(arguments)), Counter[str](), 0, tmp_path / "out"
    while (number := ends.total()) < KILLS:
        before = files(out)
        running, start = started(arguments, out), time.perf_counter()
        time.sleep(dice.uniform(0.1, 1.0) * lasts)
        how = HOW[number % len(HOW)]
        code, mistakes = stopped(running, how, all_of_it=dice.random() < 0.5)
        assert code in (0, 130 if how == signal.SIGINT else -how), mistakes
        if code == 130:
            # While modules are loaded, and once all is written, nothing knows of a folder to go on from.
            nothing_lost = mistakes == "Interrupted\n" and files(out) in (before, left)
            assert nothing_lost or mistakes == f"Interrupted; the same command goes on from {out}\n"
        if out.exists():
            assert left["rows.jsonl"].startswith(files(out).get("rows.jsonl", b""))
        if code == 0:
            late, lasts = late + 1, min(lasts, time.perf_counter() - start)
        else:
            ends[f"{how.name}, ends with {code}"] += 1
        if code == 0 or ends.total() % len(HOW) == 0:
            assert finished(arguments, out) == told
            assert files(out) == left
            shutil.rmtree(out)
    sys.stdout.write(f"\n{arguments[0]}: {dict(sorted(ends.items()))}; {late} were done before the signal came\n")


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
