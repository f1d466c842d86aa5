"""A study that is resumed after any input changed says what a fresh one says."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from five_files import TOLD, written
from typer.testing import CliRunner

from simulator.cli import app
from simulator.studies import layouts, point, tornado, trial
from simulator.studies.point import Base, Point
from simulator.studies.store import Store
from simulator.studies.trial import Batch

STUDIES = {
    "sweep": ["sweep", "--vary", "training.microbatch=[1, 2]"],
    "stress": ["stress", "--vary", "failures.scale=[1]", "--vary", "checkpoint.interval=[10min, 30min]"],
    "layouts": ["layouts"],
}
OTHER = {"learned.yaml": "other.yaml", "config.json": "other.json", "edges.csv": "other.csv", "log.csv": "other.csv"}
KEYS = {
    "learned.yaml": "calibration",
    "config.json": "model.huggingface",
    "edges.csv": "cluster.topology.file",
    "log.csv": "failures",
}


def base(folder: Path) -> Base:
    return Base("scenario", str(folder / "scenario.yaml"), (), (str(folder / "catalog"),))


def questions(start: Base) -> dict[str, tuple[Callable[[Any], Any], Any]]:
    """Return one question of each study, and what answers it."""
    scenario = start.read()
    return {
        "sweep": (point.evaluate, Point(start, (("seed", "1"),), quick=True)),
        "sweep --tornado": (tornado.evaluate, tornado.Bend(start, "network bandwidth", 0.5, quick=True)),
        "stress": (trial.evaluate, Batch(start, (("failures.scale", "1"),), trial.work(scenario), 0, 1)),
        "layouts": (layouts.evaluate, layouts.groups(start, [scenario])[0]),
    }


@contextmanager
def changed(path: Path, content: bytes) -> Iterator[None]:
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("name", [*TOLD, "scenario.yaml"])
def test_one_byte_of_any_file_makes_another_question(name: str, tmp_path: Path) -> None:
    written(tmp_path)
    asked = questions(base(tmp_path))
    with closing(Store(tmp_path / "rows.jsonl")) as store:
        for evaluate, question in asked.values():
            store.add(question, evaluate(question))
    with closing(Store(tmp_path / "rows.jsonl")) as store:
        pass  # the rows of an earlier start
    whole, dice = (tmp_path / name).read_bytes(), random.Random(name)
    for place in dice.sample(range(len(whole)), 20):
        other = whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(7)]) + whole[place + 1 :]
        with changed(tmp_path / name, other):
            for study, (_, question) in asked.items():
                again = replace(question, base=base(tmp_path))
                assert again not in store, (study, place)
        for _, question in asked.values():
            assert replace(question, base=base(tmp_path)) in store


def told(arguments: list[str], folder: Path, out: Path) -> tuple[int, bytes, bytes]:
    """Return what a study says in a process of its own, and its table."""
    verb, *rest = arguments
    command = [sys.executable, "-m", "simulator", verb, "scenario.yaml", "--catalog", "catalog", *rest]
    done = subprocess.run([*command, "--jobs", "1", "--out", str(out)], cwd=folder, capture_output=True, timeout=300)
    table = out / ("policies.csv" if verb == "stress" else "rows.csv")
    return done.returncode, done.stdout or done.stderr, table.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("study", STUDIES)
def test_a_study_resumed_after_a_change_equals_a_fresh_one(study: str, name: str, tmp_path: Path) -> None:
    written(tmp_path)
    before = told(STUDIES[study], tmp_path, tmp_path / "out")
    assert before[0] == 0
    was, now = TOLD[name]
    (tmp_path / name).write_text((tmp_path / name).read_text().replace(was, now))
    fresh = told(STUDIES[study], tmp_path, tmp_path / "fresh")
    assert told(STUDIES[study], tmp_path, tmp_path / "out") == fresh
    if not (study == "layouts" and name == "log.csv"):
        assert fresh != before  # or the change would show nothing


@pytest.mark.slow
@pytest.mark.parametrize("name", KEYS)
def test_a_point_that_names_a_file_of_its_own_depends_on_that_file(name: str, tmp_path: Path) -> None:
    written(tmp_path)
    shutil.copy(tmp_path / name, tmp_path / OTHER[name])
    key, values = KEYS[name], [name, OTHER[name]]
    if name == "log.csv":
        values = [f"[{{kind: trace, unit: host, file: {value}}}]" for value in values]
    arguments = ["sweep", "--vary", f"{key}=[{', '.join(values)}]"]
    before = told(arguments, tmp_path, tmp_path / "out")
    stored = (tmp_path / "out" / "rows.jsonl").read_bytes().splitlines()
    assert len(stored) == 2

    was, now = TOLD[name]
    other = (tmp_path / OTHER[name]).read_text()
    (tmp_path / OTHER[name]).write_text(other.replace(was, now))
    fresh = told(arguments, tmp_path, tmp_path / "fresh")
    assert told(arguments, tmp_path, tmp_path / "out") == fresh != before
    again = (tmp_path / "out" / "rows.jsonl").read_bytes().splitlines()
    assert again[:2] == stored  # the row of the file that stayed is not worked out again
    assert len(again) == 3

    (tmp_path / OTHER[name]).unlink()
    gone = told(arguments, tmp_path, tmp_path / "out")
    assert gone == told(arguments, tmp_path, tmp_path / "without")
    assert b"no such file" in gone[2]
    assert len((tmp_path / "out" / "rows.jsonl").read_bytes().splitlines()) == 3

    (tmp_path / OTHER[name]).write_text(other.replace(was, now))
    assert told(arguments, tmp_path, tmp_path / "out") == fresh
    assert len((tmp_path / "out" / "rows.jsonl").read_bytes().splitlines()) == 3


def test_twins_in_two_folders_have_the_rows_of_their_own_files(tmp_path: Path) -> None:
    arguments = ["--vary", "seed=[1]", "--quick", "--csv", "--jobs", "1", "--set", "cluster.host=hgx-h100"]
    names = [written(tmp_path / folder) for folder in ("one", "two")]
    learned = tmp_path / "two" / "learned.yaml"
    learned.write_text(learned.read_text().replace(*TOLD["learned.yaml"]))
    alone = [CliRunner().invoke(app, ["sweep", name, *arguments]).stdout.splitlines()[1] for name in names]
    assert alone[0] != alone[1]
    for _ in range(2):
        both = CliRunner().invoke(app, ["sweep", *names, *arguments, "--out", str(tmp_path / "out")])
        assert both.stdout.splitlines()[1:] == alone
        assert (tmp_path / "out" / "rows.jsonl").read_bytes().count(b"\n") == 2


def test_a_scenario_that_changes_while_a_study_runs_changes_no_point(tmp_path: Path) -> None:
    from simulator.cli._study import base as begun

    name = written(tmp_path)
    start = begun(name, (), [tmp_path / "catalog"])
    first = start.read().training.global_batch
    (tmp_path / "scenario.yaml").write_text("version: 1\n")
    assert start.read(("seed=1",)).training.global_batch == first
