"""The command line: every module of this folder is a verb, imported only when it is called.

A verb is a function ``command`` whose docstring is its help, and the first line of its module is what
the list of verbs says about it. Modules whose name starts with an underscore are shared by verbs; a verb that is a word
of Python ends in one, such as ``import_``.

stdout is the result and nothing else. Exit codes: 0 done, 1 the answer is no, 2 wrong input, 130 interrupted.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import StringIO
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from simulator.cli import _interrupts
from simulator.cli._streams import prepare, say, silence
from simulator.errors import InfeasibleError, ScenarioError

FOLDER = Path(__file__).parent
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 80}
UsageError: Any = typer.BadParameter.__base__
"""Arguments that no verb takes, by whichever click typer brings."""


def verbs() -> dict[str, str]:
    """Return each verb and the first line of its module, without importing one."""
    paths = sorted(path for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    return {path.stem.rstrip("_").replace("_", "-"): _first_line(path) for path in paths}


def load(verb: str) -> Any:
    """Return the command of `verb`."""
    name = verb.replace("-", "_")
    module = import_module(f"{__name__}.{name}_" if iskeyword(name) else f"{__name__}.{name}")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(verb, cls=Verb, context_settings=CONTEXT)(_with_plugins(module.command))
    return typer.main.get_command(alone)


def _load_plugins(named: list[str] | None) -> None:
    if named:
        from simulator import plugins

        plugins.load(named)


Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="FILE",
        is_eager=True,
        callback=_load_plugins,
        help="Run this file of Python first, whose kinds may then be named; may be repeated.",
    ),
]


def _with_plugins(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes ``--plugin`` besides its own options."""

    def run(plugins: Plugins = None, **given: Any) -> None:
        command(**given)

    hints = get_type_hints(command, include_extras=True)
    own = [one.replace(annotation=hints[name]) for name, one in inspect.signature(command).parameters.items()]
    extra = inspect.Parameter("plugins", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Plugins)
    run.__signature__ = inspect.Signature([*own, extra])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "plugins": Plugins}
    run.__doc__ = command.__doc__
    return run


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

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **__: Any) -> NoReturn:
        """Run a verb and exit with its code."""
        arguments = list(sys.argv[1:] if args is None else args)
        try:
            with self.make_context(prog_name or "foretrain", arguments) as context:
                self.invoke(context)
        except typer.Exit as done:
            sys.exit(done.exit_code)
        except UsageError as error:
            usage = StringIO()
            error.show(usage)
            _stop(usage.getvalue().rstrip("\n"), error.exit_code)
        except ScenarioError as error:
            _stop(str(error), 2)
        except InfeasibleError as error:
            _stop(str(error), 1)
        except KeyboardInterrupt as error:
            _stop(f"Interrupted{error}", 130)
        except BrokenPipeError:
            silence(sys.stdout)
        except OSError as error:
            if error.filename is None:
                silence(sys.stdout)
            _stop(f"{error.filename or 'standard output'}: {error.strerror or error}", 2)
        except Exception as error:
            if _interrupts.came():
                _stop("Interrupted", 130)
            if (of_plugin := _of_plugin(error)) is not None:
                _stop(of_plugin, 2)
            raise
        sys.exit(0)


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
    plugins: Plugins = None,
) -> None:
    """Say what an LLM training run will do before the cluster is rented.

    One YAML scenario goes in; step time, MFU, memory, days, goodput, dollars and energy come out.
    Start with `foretrain run tutorial/1-one-host`.
    """


def main() -> None:
    """Run the command line and exit."""
    with _interrupts.watched():
        prepare()
        try:
            app(prog_name="foretrain")
        finally:
            _flush()


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"').rstrip(".")


def _stop(message: str, code: int) -> NoReturn:
    say(message)
    sys.exit(code)


def _of_plugin(error: Exception) -> str | None:
    """Return what a plugin raised, or None where the mistake is the program's own."""
    from simulator import plugins

    return plugins.blamed(error)


def _flush() -> None:
    """Write what is left now, so that a reader who went away early or a full disk is no traceback at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            silence(stream)
