"""The command line: every module of this folder is a verb, imported only when it is called.

A verb is a function ``command`` whose docstring is its help, and the first line of its module is what
the list of verbs says about it. Modules whose name starts with an underscore are shared by verbs; a verb that is a word
of Python ends in one, such as ``import_``.

stdout is the result and nothing else. Exit codes: 0 done, 1 the answer is no, 2 wrong input, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from simulator.cli._streams import silence_stdout
from simulator.errors import InfeasibleError, ScenarioError

FOLDER = Path(__file__).parent
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 80}


def verbs() -> dict[str, str]:
    """Return each verb and the first line of its module, without importing one."""
    paths = sorted(path for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    return {path.stem.rstrip("_").replace("_", "-"): _first_line(path) for path in paths}


def load(verb: str) -> Any:
    """Return the command of `verb`."""
    name = verb.replace("-", "_")
    module = import_module(f"{__name__}.{name}_" if iskeyword(name) else f"{__name__}.{name}")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(verb, cls=Verb, context_settings=CONTEXT)(module.command)
    return typer.main.get_command(alone)


class Verb(TyperCommand):
    """A command that prints its docstring as it was written."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        lines = (self.help or "").splitlines()
        formatter.write("\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines))


class Verbs(TyperGroup):
    """The verbs of the folder; the errors of all of them become messages and exit codes here."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(verbs())  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load(cmd_name) if cmd_name in self.commands else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(verbs().items()))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ScenarioError as error:
            raise _stop(str(error), 2) from None
        except InfeasibleError as error:
            raise _stop(str(error), 1) from None
        except KeyboardInterrupt:
            raise _stop("Interrupted", 130) from None
        except BrokenPipeError:
            silence_stdout()
            raise typer.Exit(0) from None
        except OSError as error:
            raise _stop(f"{error.filename or 'standard output'}: {error.strerror or error}", 2) from None


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings=CONTEXT,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from simulator.version import version

        typer.echo(f"foretrain {version()}")
        raise typer.Exit


@app.callback()
def about(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Say what an LLM training run will do before the cluster is rented.

    One YAML scenario goes in; step time, MFU, memory, days, goodput, dollars and energy come out.
    Start with `foretrain run tutorial/1-one-host`.
    """


def main() -> None:
    """Run the command line and exit."""
    try:
        app(prog_name="foretrain")
    finally:
        _flush()


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"').rstrip(".")


def _stop(message: str, code: int) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(code)


def _flush() -> None:
    """Write what is left now, so that a reader who went away early or a full disk is no traceback at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence_stdout()
