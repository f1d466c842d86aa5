"""Writes the reference pages that the code knows best: ``python docs/generate.py``, or with ``--check`` compares them.

The page on commands comes from the same docstrings and options that ``foretrain VERB --help`` shows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from simulator.cli import load, verbs

REFERENCE = Path(__file__).parent / "reference"


def pages() -> dict[Path, str]:
    """Return the text of every generated page."""
    return {REFERENCE / "cli.md": commands()}


def commands() -> str:
    """Return the page on commands."""
    head = """# Commands

`foretrain VERB --help` says the same. stdout is the result and nothing else; warnings and progress go to stderr;
colours appear only on a terminal, and never where `NO_COLOR` is set.

| exit code | means |
|---|---|
| 0 | done |
| 1 | the answer is no: it does not fit, makes no progress, or misses `--fail-under` |
| 2 | the input is wrong; every mistake is listed with its place |
| 130 | interrupted |
"""
    return "\n".join([head, *(_verb(verb, line) for verb, line in verbs().items())])


def _verb(verb: str, line: str) -> str:
    command = load(verb)
    prose, _, examples = command.help.partition("Examples:\n")
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and "--help" not in param.opts]
    usage = " ".join(["foretrain", verb, *(_placeholder(argument) for argument in arguments), "[OPTIONS]"])
    rows = [f"| `{_placeholder(argument)}` | {_cell(argument.help)} |" for argument in arguments]
    rows += [f"| `{_spelling(option)}` | {_cell(option.help)} |" for option in options]
    block = "\n".join(example.removeprefix("  ") for example in examples.splitlines())
    table = "\n".join(["| argument or option | says |", "|---|---|", *rows]) + "\n" if rows else ""
    return f"## {verb}\n\n```text\n{usage}\n```\n\n{prose.strip()}\n\n{table}\n```text\n{block}\n```\n"


def _placeholder(argument: Any) -> str:
    return argument.metavar or str(argument.name).upper()


def _spelling(option: Any) -> str:
    words = ", ".join([*option.opts, *option.secondary_opts])
    return words if option.is_flag else f"{words} {option.metavar or 'VALUE'}"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` name those that are not current."""
    stale = [page for page, text in pages().items() if not page.is_file() or page.read_text(encoding="utf-8") != text]
    if "--check" in arguments:
        sys.stderr.writelines(f"{page}: not current; run python docs/generate.py\n" for page in stale)
        return 1 if stale else 0
    for page in stale:
        page.write_text(pages()[page], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
