"""What is no scenario at all is wrong input to every study, not an answer of no; values are left to the points."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app

VERBS = {
    "sweep": ["--vary", "cluster.hosts=[1, 2]", "--quick"],
    "stress": ["--vary", "failures.scale=[1, 2]"],
    "layouts": ["--quick", "--set", "search.context=[1]", "--set", "search.tensor=[2]"],
    "compare": ["--with", "cluster.hosts=2"],
}
NONE: dict[str, Any] = {
    "text": "root:x:0:0:root:/root:/bin/bash\nnobody\n",
    "list": "- 1\n- 2\n",
    "word": "hello",
    "empty": "",
    "torn": "version: 1\nmodel: {base: llama",
    "binary": b"\x7fELF\x00\xff\xfe",
    "UTF-16": "version: 1\n".encode("utf-16"),
    "huge": "#" * 2_000_000,
}


def told(verb: str, name: Path, *more: str) -> Any:
    return CliRunner().invoke(app, [verb, str(name), *VERBS[verb], *more])


@pytest.mark.parametrize("kind", NONE)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_scenario_exits_2_with_the_reason(verb: str, kind: str, tmp_path: Path) -> None:
    path, content = tmp_path / "none.yaml", NONE[kind]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    more = () if verb == "compare" else ("--out", str(tmp_path / "out"))
    done = told(verb, path, *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(str(path))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_file_exits_2_with_the_reason(verb: str, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.yaml", tmp_path / ("x" * 5000)):
        done = told(verb, path)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.strip()


@pytest.mark.parametrize("verb", VERBS)
def test_a_scenario_on_stdin_is_read_once(verb: str, dense: str) -> None:
    from_file = told(verb, Path(dense), "--json")
    from_stdin = CliRunner().invoke(app, [verb, "-", *VERBS[verb], "--json"], input=Path(dense).read_bytes())
    assert from_stdin.exit_code == from_file.exit_code == 0
    assert from_stdin.stdout == from_file.stdout.replace('"dense"', '"stdin"')


@pytest.mark.parametrize("verb", ["sweep", "layouts", "stress"])
def test_a_name_that_is_no_utf_8_is_a_name(verb: str, dense: str, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.yaml"
    Path(os.fsdecode(name)).write_text(Path(dense).read_text())
    command = [sys.executable, "-m", "simulator", verb, name, *VERBS[verb], "--csv", "--jobs", "1"]
    first = subprocess.run([*command, "--out", str(tmp_path / "out")], capture_output=True)
    assert (first.returncode, first.stderr) == (0, b"")
    again = subprocess.run([*command, "--out", str(tmp_path / "out")], capture_output=True)
    assert again.stdout == first.stdout
