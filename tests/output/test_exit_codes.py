"""0 done, 1 the answer is no, 2 wrong input, 130 interrupted; messages on stderr, results on stdout."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from simulator.cli import Verbs, app
from simulator.errors import InfeasibleError, ScenarioError


def failing(error: BaseException) -> typer.Typer:
    """Return the command line with one verb that fails with `error`."""

    class Failing(Verbs):
        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            alone = typer.Typer(add_completion=False)

            @alone.command()
            def command() -> None:
                raise error

            return typer.main.get_command(alone)

    program = typer.Typer(cls=Failing, add_completion=False)
    program.callback()(lambda: None)
    return program


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ScenarioError("a.yaml:1:2: modle: unknown key; did you mean model?"), 2),
        (InfeasibleError("80 GB do not hold 90 GB"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_error_becomes_message_and_exit_code(error: BaseException, code: int) -> None:
    done = CliRunner().invoke(failing(error), ["run"])
    assert done.exit_code == code
    assert done.stdout == ""
    assert (str(error) or "Interrupted") in done.stderr


def test_a_bug_is_a_traceback() -> None:
    assert isinstance(CliRunner().invoke(failing(ZeroDivisionError("a bug")), ["run"]).exception, ZeroDivisionError)


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-verb"],
        ["run"],
        ["run", "no/such/file.yaml"],
        ["run", "--no-such-option"],
        ["catalog", "no-such-kind"],
        ["catalog", "gpu", "no-such-gpu"],
        ["catalog", "topology", "no-such-topology"],
        ["catalog", "model", "../../etc/passwd"],
    ],
    ids=" ".join,
)
def test_wrong_input_exits_2_and_says_why(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.strip()


def test_a_wrong_name_is_answered_with_a_right_one() -> None:
    assert "did you mean h100" in CliRunner().invoke(app, ["catalog", "gpu", "h100-sxm-80"]).stderr
    assert "Did you mean 'catalog'" in CliRunner().invoke(app, ["catlog"]).stderr


def test_version_and_help_exit_0() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout.startswith("foretrain ")
    assert CliRunner().invoke(app, ["--help"]).exit_code == 0


def test_a_reader_who_goes_away_is_no_error() -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "simulator", "catalog", "model"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait() == 0
