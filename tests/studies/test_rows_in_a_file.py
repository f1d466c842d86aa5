"""Rows in a file are believed only as they were written, and a file that is somebody else's is left alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.errors import ScenarioError
from simulator.studies.point import Base, Point
from simulator.studies.store import Row, Store

POINTS = [Point(Base("any", "version: 1\n"), (("seed", str(seed)),)) for seed in range(3)]
ROWS: list[Row] = [{"figure": seed / 3, "word": "é\ud800", "none": None, "inside": [{"1": True}]} for seed in range(3)]
VERBS = {
    "sweep": ["--vary", "prices.gpu_hour=[$1, $2, $3]"],
    "stress": ["--vary", "prices.gpu_hour=[$1, $2, $3]"],
    "layouts": ["--quick", "--set", "search={tensor: [4, 8], context: [1], recompute: [none], chunks: [2]}"],
}


def file_of(path: Path, points: Sequence[Point] = POINTS) -> bytes:
    store = Store(path)
    for point, row in zip(points, ROWS, strict=False):
        store.add(point, row)
    store.close()
    return path.read_bytes()


def found(path: Path) -> dict[int, Row] | None:
    """Return the rows that a store finds, by their place; None where it refuses the file."""
    try:
        store = Store(path)
    except ScenarioError:
        return None
    store.close()
    return {place: row for place, point in enumerate(POINTS) if (row := store.get(point)) is not None}


def with_checksum(body: str) -> bytes:
    return f'{body}, "check": "{hashlib.sha256(body.encode()).hexdigest()[:16]}"}}\n'.encode()


def test_rows_are_found_as_they_were_added(tmp_path: Path) -> None:
    file_of(tmp_path / "rows.jsonl")
    assert found(tmp_path / "rows.jsonl") == dict(enumerate(ROWS))


def test_a_row_with_any_byte_changed_is_not_found_and_the_others_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    whole = file_of(path)
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    head = len('{"key": "" "') + 24
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        changed = next(number for number, end in enumerate(ends) if place <= end)
        still = found(path)
        lost = {changed, changed + 1} if place == ends[changed] else {changed}
        kept = {number: row for number, row in enumerate(ROWS) if number not in lost}
        assert still == kept or (still is None and place < head)


def test_a_file_torn_anywhere_keeps_the_rows_that_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    whole = file_of(path)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        rows = whole[:size].count(b"\n")
        assert found(path) == dict(enumerate(ROWS[:rows]))
        assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:rows])


@pytest.mark.parametrize(
    "line",
    [
        with_checksum('{"key": "' + "0" * 24 + '", "deep": ' + "[" * 100_000),
        with_checksum('{"key": "' + "0" * 24 + '", "torn'),
        b'{"key": "' + b"0" * 24 + b'", "mfu": 0.5}\n',
        b"\n",
        b"\x00\xff\n",
    ],
    ids=["deep", "no JSON", "no checksum", "empty", "no text"],
)
def test_a_line_that_is_no_row_counts_for_nothing(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(file_of(path) + line)
    assert found(path) == dict(enumerate(ROWS))


@pytest.mark.parametrize("verb", VERBS)
def test_damaged_rows_are_worked_out_again_and_said(verb: str, dense: str, tmp_path: Path) -> None:
    def study(folder: str) -> Any:
        arguments = [verb, dense, *VERBS[verb], "--csv", "--jobs", "1", "--out", str(tmp_path / folder)]
        return CliRunner().invoke(app, arguments)

    fresh = study("fresh")
    stored = (tmp_path / "fresh" / "rows.jsonl").read_text().splitlines()
    damaged = [
        stored[0].replace("0", "1"),
        json.dumps(json.loads(stored[0]) | {"outcomes": [], "layouts": [{}], "mfu": "-5"}),
        stored[0].replace('"check"', '"chock"'),
    ]
    for number, line in enumerate(damaged):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "rows.jsonl").write_text("\n".join([line, *stored[1:], ""]))
        again = study(str(number))
        assert (again.exit_code, again.stdout) == (fresh.exit_code, fresh.stdout)
        assert f"warning: {folder}/rows.jsonl: 1 row is damaged; what it should say" in again.stderr


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "notes",
    ["my precious notes", "my precious notes\n", '{"a": 1}\n', '{"a": 1}', '{"key": 5}\n', '{"key": "mine"}\n', "\n"],
)
def test_a_file_of_something_else_is_left_alone(verb: str, notes: str, dense: str, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(notes)
    done = CliRunner().invoke(app, [verb, dense, *VERBS[verb], "--jobs", "1", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr == f"{tmp_path}/rows.jsonl: line 1 is not a row of a study; choose another folder for --out\n"
    assert (tmp_path / "rows.jsonl").read_text() == notes
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dense.yaml", "rows.jsonl"]


def test_a_copy_of_a_scenario_has_rows_of_its_own_name(measured: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_text(Path(measured).read_text())
    for name in (measured, str(copy)):
        arguments = ["sweep", name, "--vary", "seed=[1]", "--csv", "--jobs", "1", "--out", str(tmp_path / "out")]
        said = CliRunner().invoke(app, arguments).stdout
        assert said.splitlines()[1].split(",")[0] == Path(name).stem
