"""Studies that are ended by signals three times and started again, and studies of one process and of two.

What a study says and leaves is the same bytes, whatever happened to it on the way.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from attack import Story, folders
from small import FAILING

from tables.kept_rows import files

STUDIES = {
    "sweep": ["sweep", FAILING, "--vary", "failures.scale=[1,2,4]", "--vary", "seed=[0,1,2,3]", "--runs", "20"],
    "layouts": ["layouts", FAILING, "--set", "search.context=[1]", "--set", "search.chunks=[5]", "--runs", "5"],
    "stress": [
        "stress",
        FAILING,
        "--runs",
        "100",
        "--vary",
        "cluster.spares=[0,1,4]",
        "--vary",
        "failures.scale=[1,4]",
    ],
}
SIGNALS = {"SIGINT": 130, "SIGTERM": -15, "SIGKILL": -9, "SIGHUP": -1}
"""And the exit code that each gives."""
TIMES = 3


def attacks() -> Iterator[Story]:
    for study, words in STUDIES.items():
        command = f"foretrain {' '.join(words)} --jobs 2 --out out"
        for name in SIGNALS:
            yield Story(f"{study}, {name}", partial(_killed, study, name), command=command)
        yield Story(f"{study}, one process and two", partial(_alone, study), command=command)


def _started(study: str, at: Path, jobs: int = 2) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-B", "-m", "simulator", *STUDIES[study], "--jobs", str(jobs), "--out", "out"]
    return subprocess.Popen(
        command,
        cwd=at,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@cache
def _undisturbed(study: str) -> tuple[bytes, dict[str, bytes], float]:
    """Return what a study says and leaves where nothing disturbs it, and how long it takes."""
    with folders() as (at, _):
        start = time.monotonic()
        running = _started(study, at)
        told, mistakes = running.communicate(timeout=300)
        assert running.returncode == 0, mistakes.decode()
        return told, files(at), time.monotonic() - start


def _killed(study: str, name: str, at: Path, _: Path) -> str | None:
    told, left, lasts = _undisturbed(study)
    dice = random.Random(study + name)
    for n in range(TIMES):
        running = _started(study, at)
        time.sleep(dice.uniform(0.8 if n else 0.4, lasts))
        if name == "SIGINT":
            os.killpg(running.pid, signal.SIGINT)  # a terminal sends it to all processes of a command
        else:
            running.send_signal(getattr(signal, name))
        _, mistakes = running.communicate(timeout=60)
        if b"Traceback" in mistakes and name == "SIGINT":
            return f"start {n + 1}: traceback: {mistakes.decode(errors='replace').strip().splitlines()[-1]}"
        if running.returncode not in (0, SIGNALS[name]):
            return f"start {n + 1}: exit code {running.returncode}: {mistakes.decode(errors='replace')[-200:]}"
    return _same(study, at, told, left)


def _alone(study: str, at: Path, _: Path) -> str | None:
    told, left, _lasts = _undisturbed(study)
    return _same(study, at, told, left, jobs=1)


def _same(study: str, at: Path, told: bytes, left: dict[str, bytes], jobs: int = 2) -> str | None:
    running = _started(study, at, jobs)
    again, mistakes = running.communicate(timeout=300)
    if running.returncode != 0 or again != told:
        return f"exit code {running.returncode}, other words on stdout: {mistakes.decode(errors='replace')[-200:]}"
    now = files(at)
    differ = sorted(name for name in left.keys() | now.keys() if left.get(name) != now.get(name))
    return f"other bytes, or one more or less: {', '.join(differ)}" if differ else None
