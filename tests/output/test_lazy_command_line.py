"""The command line answers at once because it imports nothing before it is needed."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"numpy", "scipy", "networkx", "matplotlib", "pydantic", "simpy", "yaml", "jinja2", "quantiphy", "rich"}


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_command_line_imports_nothing_heavy() -> None:
    assert modules_after("import simulator.cli").isdisjoint(HEAVY)


def test_help_imports_nothing_heavy() -> None:
    code = "from simulator.cli import app\nlines = app(['--help'], standalone_mode=False)"
    assert modules_after(code).isdisjoint(HEAVY)


def test_help_of_run_imports_nothing_heavy() -> None:
    code = "from simulator.cli import app\nlines = app(['run', '--help'], standalone_mode=False)"
    by_typer_itself = {"pydantic"}
    assert modules_after(code).isdisjoint(HEAVY - by_typer_itself)


def test_pictures_never_touch_pyplot() -> None:
    assert "matplotlib.pyplot" not in modules_after("from simulator.plots import gallery\ngallery.pictures()")
