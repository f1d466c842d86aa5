"""Ctrl-C is exit code 130 and one sentence, whenever it comes and whatever a library makes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

START = "import os; from simulator.__main__ import main; os.write(2, b'.'); main()"
"""Says on stderr when the interpreter is up, which has its own answer to Ctrl-C before."""


def interrupted(arguments: list[str], after: float) -> tuple[int, str]:
    """Return exit code and messages of a command that gets Ctrl-C, as a terminal sends it, some seconds after start."""
    program = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert program.stderr is not None
    assert program.stderr.read(1) == b"."
    time.sleep(after)
    os.killpg(program.pid, signal.SIGINT)
    said = program.stderr.read().decode()
    program.stderr.close()
    return program.wait(), said


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 0.02, 0.1, 0.3, 0.6, 1.0, 2.0])
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "tutorial/3-failures", "--runs", "5000"],
        ["sweep", "tutorial/3-failures", "--vary", "cluster.spares=[0,1,2,3]", "--runs", "2000", "--jobs", "2"],
        ["layouts", "studies/next-gpu", "--jobs", "2"],
        ["compare", "tutorial/3-failures", "tutorial/3-failures", "--runs", "5000", "--jobs", "2"],
        ["validate"],
        ["plan", "tutorial/3-failures", "--days", "60"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_ctrl_c_is_130_at_any_moment(arguments: list[str], after: float, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out")] if arguments[0] not in ("compare", "validate") else []
    code, said = interrupted([*arguments, *out], after)
    assert code == 130, said
    assert "Interrupted" in said
    assert len(said.splitlines()) <= 2, said
    assert not [*tmp_path.rglob("*.part")]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)


def test_an_interrupt_that_a_callback_loses_comes_again() -> None:
    done = python(
        """
import signal, time, weakref
from simulator.cli import _interrupts

class Thing:
    pass

with _interrupts.watched():
    thing = Thing()
    gone = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    try:
        del thing
        time.sleep(20)
    except KeyboardInterrupt:
        print("came again")
"""
    )
    assert (done.stdout, done.stderr) == ("came again\n", "")


def test_an_error_that_a_library_makes_of_an_interrupt_is_130() -> None:
    done = python(
        """
import signal, sys
from simulator import simulation
from simulator.__main__ import main

def lose(*_):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise ValueError("a schema that cannot be built") from error

simulation.simulate = lose
sys.argv = ["foretrain", "run", "tutorial/1-one-host"]
main()
"""
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted\n")


def test_ctrl_c_that_somebody_ignores_stays_ignored() -> None:
    done = python(
        """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from simulator.__main__ import main
from simulator import simulation

real = simulation.simulate
def simulate(*given):
    signal.raise_signal(signal.SIGINT)
    return real(*given)

simulation.simulate = simulate
sys.argv = ["foretrain", "run", "tutorial/1-one-host", "--runs", "1"]
main()
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_while_processes_are_made_leaves_nothing_to_warn_of() -> None:
    done = python(
        """
import signal, sys
from simulator.__main__ import main
from simulator.studies import executors

class Interrupted(executors.Processes):
    def __init__(self, workers):
        super().__init__(workers)
        signal.raise_signal(signal.SIGINT)

executors.Processes = Interrupted
sys.argv = ["foretrain", "sweep", "tutorial/1-one-host", "--vary", "seed=[1,2,3,4]", "--jobs", "2"]
main()
"""
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("Interrupted")
    assert len(done.stderr.splitlines()) == 1
