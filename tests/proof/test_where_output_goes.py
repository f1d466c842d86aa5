"""A place that cannot be written is a message and exit code 2, never a traceback."""

from __future__ import annotations

import json
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
    return subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=200, env={**os.environ})


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


@FULL
@pytest.mark.parametrize("command", ["catalog gpu --json", "--version", "--help", "run --help", "schema"])
def test_a_result_that_cannot_be_written_exits_2(command):
    done = shell(f"{command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("standard output: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_report_that_cannot_be_written_exits_2():
    done = shell("run tutorial/1-one-host --runs 1 1</dev/null")
    assert (done.returncode, done.stderr) == (2, "standard output: cannot be written: Bad file descriptor\n")


@FULL
@pytest.mark.parametrize("command", ["run nowhere", "run --no-such-option", "", "check nowhere"])
def test_messages_that_nobody_can_read_change_no_exit_code(command):
    for nowhere in ("2>/dev/full", "2>&-"):
        assert shell(f"{command} {nowhere}").returncode == 2


def test_processes_start_where_all_streams_are_closed(tmp_path):
    done = shell(f"{' '.join(SWEEP[:-2])} --vary runs=[1,2] --jobs 2 --out {tmp_path} <&- >&- 2>&-")
    assert done.returncode == 0
    assert (tmp_path / "rows.csv").read_text().startswith("scenario,")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1:strict", "cp1252", "utf-16"])
def test_letters_that_a_stream_does_not_have_are_escapes(encoding):
    name = encoding.partition(":")[0]
    words = [sys.executable, "-m", "simulator", "run", *QUICK, "--set", "name=é😀"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    told = subprocess.run(words, capture_output=True, env=environment, timeout=200, check=True)
    assert ascii("😀")[1:-1] in told.stdout.decode(name) or name == "utf-16"
    record = subprocess.run([*words, "--json"], capture_output=True, env=environment, timeout=200, check=True).stdout
    assert record.decode(name).isascii()
    assert json.loads(record.decode(name))["scenario"]["name"] == "é😀"


def test_bars_are_drawn_on_a_stream_that_has_none():
    words = [sys.executable, "-m", "simulator", "run", *QUICK]
    done = subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=200)
    assert b"###" in done.stdout
    assert rb"\u25" not in done.stdout


def test_a_file_that_cannot_be_written_whole_is_not_left(tmp_path):
    for command in (f"new {tmp_path}/mine.yaml", f"run {' '.join(QUICK)} --trace {tmp_path}/trace.json"):
        words = f"ulimit -f 0; {sys.executable} -m simulator {command}"
        done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=200)
        assert done.returncode == 2
        assert "cannot be written" in done.stderr
        assert list(tmp_path.iterdir()) == []


def test_a_scenario_that_exists_is_not_written_over(tmp_path):
    (tmp_path / "mine.yaml").write_text("mine")
    done = shell(f"new {tmp_path}/mine.yaml")
    assert (done.returncode, (tmp_path / "mine.yaml").read_text()) == (2, "mine")


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of files that are no UTF-8")
@pytest.mark.parametrize("verb", ["run", "check", "sweep --vary runs=[1] --quick --jobs 1"])
def test_a_file_whose_name_is_no_utf8_is_named_by_escapes(verb, tmp_path):
    text = (
        "cluster: {host: hgx-h100, hosts: 2}\ntraining: {steps: 10, step_time: 9s}\nprices: {gpu_hour: $2}\nruns: 1\n"
    )
    with open(os.fsencode(tmp_path) + b"/\xff.yaml", "w") as file:
        file.write(text)
    command = [*verb.encode().split(), os.fsencode(tmp_path) + b"/\xff.yaml"]
    for more in ([b"--out", os.fsencode(tmp_path) + b"/out"], [b"--json"]) if verb != "check" else ([],):
        done = subprocess.run([sys.executable, "-m", "simulator", *command, *more], capture_output=True, timeout=200)
        assert done.returncode == 0, done.stderr
        assert b"\xff" not in done.stdout
