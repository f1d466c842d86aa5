"""Nothing is written through a link in a folder of results; the folder itself, and a file by its name, may be one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.errors import ScenarioError
from simulator.io.writing import fill, write

HERE = ["tutorial/1-one-host", "--jobs", "1"]
PINS = "search={tensor: [1, 2], pipeline: [1], context: [1], recompute: [none], shard: [optimizer], chunks: [1]}"
SLOW, LATER = pytest.mark.slow, ("sweep --tornado", "plan")
VERBS = {
    "run": ["run", "tutorial/1-one-host", "--runs", "1"],
    "sweep": ["sweep", *HERE, "--quick", "--vary", "seed=[1, 2]"],
    "sweep --tornado": ["sweep", *HERE, "--quick", "--tornado"],
    "stress": ["stress", *HERE, "--runs", "2", "--vary", "prices.gpu_hour=[$1, $2]"],
    "layouts": ["layouts", *HERE, "--quick", "--set", PINS],
    "plan": ["plan", "--flops", "1e21"],
}


def told(verb: str, out: Path) -> Any:
    return CliRunner().invoke(app, [*VERBS[verb], "--out", str(out)])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("verb", [pytest.param(name, marks=SLOW) if name in LATER else name for name in VERBS])
def test_a_link_in_the_place_of_a_file_is_replaced_or_refused(verb: str, tmp_path: Path) -> None:
    done = told(verb, tmp_path / "plain")
    expected = files(tmp_path / "plain")
    assert len(expected) > 3
    out, victim = tmp_path / "out", tmp_path / "victim"
    for name in expected:
        for target in (victim, tmp_path / "nowhere"):
            victim.write_text("precious")
            out.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            out.joinpath(name).unlink(missing_ok=True)
            out.joinpath(name).symlink_to(target)
        if name == "rows.jsonl":
            refused = told(verb, out)
            assert refused.exit_code == 2
            assert refused.stderr == f"{out}/rows.jsonl: is a link, and rows are never written through one; remove it\n"
            out.joinpath(name).unlink()
    assert told(verb, out).stdout == done.stdout
    assert files(out) == expected
    assert not any(path.is_symlink() for path in out.rglob("*"))
    assert victim.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "plots").symlink_to(elsewhere)
    done = told("run", out)
    assert done.exit_code == 2
    assert done.stderr == f"{out}/plots: is a link, and nothing is written through one; remove it\n"
    assert files(elsewhere) == {}


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "there")
    assert told("sweep", tmp_path / "out").exit_code == 0
    assert files(tmp_path / "there") == files(tmp_path / "out")
    assert files(tmp_path / "there")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_rows_that_are_no_file_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    done = told("sweep", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{path}: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("verb", "option", "name"), [("run", "--trace", "t.json"), ("sweep", "--plot", "p.svg")])
def test_a_file_by_its_name_is_written_through_a_link(verb: str, option: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(tmp_path / "there")
    assert CliRunner().invoke(app, [*VERBS[verb], option, str(tmp_path / name)]).exit_code == 0
    assert (tmp_path / "there").stat().st_size > 1000
    assert (tmp_path / name).is_symlink()


@pytest.mark.parametrize("writer", [write, lambda path, content: fill(path.parent, path.name, content)])
def test_more_folders_than_a_path_can_have_are_refused(writer, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be written"):
        writer(tmp_path / ("a/" * 2_000) / "file", "text")
