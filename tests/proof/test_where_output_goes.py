"""A place that cannot be written is a message and exit code 2, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli import app

QUICK = ["tutorial/1-one-host", "--runs", "1"]
SWEEP = ["sweep", "tutorial/1-one-host", "--vary", "training.microbatch=[1]", "--quick", "--jobs", "1"]
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", *QUICK, "--out", "{file}"],
        ["run", *QUICK, "--out", "{file}/inside"],
        ["run", *QUICK, "--trace", "{file}/trace.json"],
        [*SWEEP, "--out", "{file}"],
        [*SWEEP, "--plot", "{file}/plot.png"],
        ["new", "{file}/mine.yaml"],
        ["run", "x" * 5000],
        ["check", "a\0b"],
        ["run", *QUICK, "--catalog", "{file}"],
        ["run", *QUICK, "--catalog", "{file}/nowhere"],
        ["catalog", "gpu", "--catalog", "{folder}"],
    ],
    ids=lambda arguments: " ".join(arguments)[:60],
)
def test_a_place_that_is_none_is_a_message(arguments, tmp_path):
    file = tmp_path / "file"
    file.write_text("a file, not a folder")
    done = CliRunner().invoke(app, [part.format(file=file, folder=tmp_path) for part in arguments])
    assert done.exit_code == 2, done.output
    assert len(done.stderr.splitlines()) == 1
    assert file.read_text() == "a file, not a folder"


def shell(command: str) -> subprocess.CompletedProcess[str]:
    words = f"{sys.executable} -m simulator {command}"
    return subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=60, env={**os.environ})


@FULL
def test_a_full_disk_behind_stdout_is_a_message():
    done = shell("catalog gpu > /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("standard output: ")
    assert "No space left on device" in done.stderr


def test_a_closed_stdout_is_no_error():
    assert (shell("catalog gpu >&-").returncode, shell("catalog gpu >&-").stderr) == (0, "")


def test_a_closed_stderr_is_no_error():
    done = shell("run tutorial/1-one-host --runs 1 2>&-")
    assert done.returncode == 0
    assert done.stdout.startswith("FITS")
