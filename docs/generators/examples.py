"""The commands that pages show: found, run in this process, and compared with what the page says they print.

A ``console`` block holds lines ``$ foretrain ...``, each followed by what it prints. Its output may go through
``| head -N`` or ``| grep [-A N] TEXT``; ``$ echo $?`` after a command that says no shows its exit code. A ``yaml`` or
``python`` block whose first line is a comment with a file name, ``# mine.yaml``, is that file; other Python is run. A
page is run from top to bottom in a folder of its own, which holds the shipped scenarios as a checkout does.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path

from simulator import plugins
from simulator.version import version

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(?P<language>console|yaml|python)\n(?P<text>.*?)^```$", flags=re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (?P<name>[\w./-]+\.(yaml|py))\n")
STUDIES = ("sweep", "layouts", "stress", "compare")
"""Verbs that say the same for any number of processes; one is the quickest here."""
SURROUNDINGS = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


@dataclass(frozen=True)
class Example:
    command: str
    output: str

    def __str__(self) -> str:
        return f"$ {self.command}\n{self.output}"


def pages(root: Path) -> list[Path]:
    """Return every page of the documentation that shows commands."""
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in found if page.is_file() and "```console" in page.read_text(encoding="utf-8")]


def examples(block: str) -> list[Example]:
    """Return the commands of a console block with what follows each."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if parts[0]:
        raise ValueError(f"a console block begins with a command, not with {parts[0]!r}")
    split = (part.partition("\n") for part in parts[1:])
    return [Example(command, output) for command, _, output in split]


def replayed(page: str, root: Path) -> str:
    """Return the text of a page with what its commands print now."""
    with _folder(root) as folder:
        status = 0

        def block(found: re.Match[str]) -> str:
            nonlocal status
            if found["language"] != "console":
                if named := FILE.match(found["text"]):
                    file = folder / named["name"]
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(found["text"], encoding="utf-8")
                elif found["language"] == "python":
                    exec(found["text"], {"__name__": "example"})
                return found[0]
            shown = []
            listed = examples(found["text"])
            for number, example in enumerate(listed):
                if example.command == "echo $?":
                    shown.append(str(Example(example.command, f"{status}\n")))
                    continue
                output, status = run(example.command)
                expected = number + 1 < len(listed) and listed[number + 1].command == "echo $?"
                if status and not expected:
                    raise ValueError(f"exit code {status}: {example.command}\n{output}")
                shown.append(str(Example(example.command, output)))
            return f"```console\n{''.join(shown)}```"

        return BLOCK.sub(block, page)


def run(command: str) -> tuple[str, int]:
    """Return what a command line prints, and its exit code."""
    from typer.testing import CliRunner

    from simulator.cli import app

    first, *filters = (words.strip() for words in command.split(" | "))
    program, *arguments = shlex.split(first)
    if program != "foretrain":
        raise ValueError(f"only foretrain is run: {command}")
    if arguments[0] in STUDIES:
        arguments += ["--jobs", "1"]
    result = CliRunner().invoke(app, arguments, prog_name="foretrain")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if not filters:
        return _released(result.output), result.exit_code
    lines = result.stdout.splitlines(keepends=True)
    for words in filters:
        lines = _filtered(lines, shlex.split(words))
    return _released("".join(lines) + result.stderr), result.exit_code


def _released(text: str) -> str:
    """Return `text` with the version of the source tree, whether that is installed or not."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return text.replace(f"foretrain {version()}", f"foretrain {declared}")


def _filtered(lines: list[str], words: list[str]) -> list[str]:
    match words:
        case ["head", count]:
            return lines[: int(count.removeprefix("-"))]
        case ["grep", text]:
            return [line for line in lines if re.search(text, line)]
        case ["grep", "-A", count, text]:
            found = [number for number, line in enumerate(lines) if re.search(text, line)]
            kept = {number + after for number in found for after in range(int(count) + 1)}
            return [line for number, line in enumerate(lines) if number in kept]
    raise ValueError(f"only head -N and grep [-A N] TEXT are known: {shlex.join(words)}")


@contextmanager
def _folder(root: Path) -> Iterator[Path]:
    """Yield a working directory with the shipped scenarios, in the surroundings of a plain terminal."""
    before = {name: os.environ.get(name) for name in SURROUNDINGS}
    os.environ.update(SURROUNDINGS)
    try:
        with tempfile.TemporaryDirectory() as made, chdir(made):
            Path("scenarios").symlink_to(root / "scenarios", target_is_directory=True)
            yield Path(made)
    finally:
        plugins.become(())
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def rewrite(root: Path) -> None:
    """Write into every page what its commands print now."""
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        new = replayed(text, root)
        if new != text:
            page.write_text(new, encoding="utf-8")
