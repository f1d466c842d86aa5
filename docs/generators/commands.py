"""The page on commands, from the docstrings and options that ``foretrain VERB --help`` shows."""

from __future__ import annotations

from typing import Any

from generators.markdown import table
from simulator.cli import load, verbs

HEAD = """# Commands

`foretrain VERB --help` says the same. stdout is the result and nothing else; warnings and progress go to stderr;
colours appear only on a terminal, and never where `NO_COLOR` is set.

| exit code | means |
|---|---|
| 0 | done |
| 1 | the answer is no: it does not fit, makes no progress, or misses `--fail-under` |
| 2 | the input is wrong; every mistake is listed with its place |
| 130 | interrupted |
"""


def commands() -> str:
    """Return the page on commands."""
    return "\n".join([HEAD, *(_verb(verb) for verb in verbs())])


def _verb(verb: str) -> str:
    command = load(verb)
    prose, _, examples = command.help.partition("Examples:\n")
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and "--help" not in param.opts]
    usage = " ".join(["foretrain", verb, *(_placeholder(argument) for argument in arguments), "[OPTIONS]"])
    rows = [(f"`{_placeholder(argument)}`", argument.help) for argument in arguments]
    rows += [(f"`{_spelling(option)}`", option.help) for option in options]
    block = "\n".join(example.removeprefix("  ") for example in examples.splitlines())
    known = table(("argument or option", "says"), rows) if rows else ""
    return f"## {verb}\n\n```text\n{usage}\n```\n\n{prose.strip()}\n\n{known}\n```text\n{block}\n```\n"


def _placeholder(argument: Any) -> str:
    return argument.metavar or str(argument.name).upper()


def _spelling(option: Any) -> str:
    words = ", ".join([*option.opts, *option.secondary_opts])
    return words if option.is_flag else f"{words} {option.metavar or 'VALUE'}"
