"""Whatever somebody calls a thing, every way out holds it as text: read back, it is what was written."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from xml.etree import ElementTree

import pytest
from example_result import llama, measured_step
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from simulator.io.printable import Json, json_text, printable
from simulator.io.terminal import WIDTH, page, table
from simulator.outcome.results import Result
from simulator.plots import canvas, gallery, what_if
from simulator.plots.names import named
from simulator.report import comparison, html, record, rows, sweep, text
from simulator.studies.vary import Axis
from simulator.trace import chrome
from simulator.validation import lines

RESULT, SMALL = llama(), measured_step()
ANY = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from("[]/=+-@<>&\"'$_\\\x1b\x9b\u202e\u2028\0\n\r\té日😀 ")
)
EVIL = "[/b]\x1b]8;;http://evil\x1b\\<script>alert(1)</script>&amp;$x$\x9b\u202e\n'\"=1+1"


def called(result: Result, name: str) -> Result:
    return replace(result, scenario=result.scenario | {"name": name})


def letters(words: str) -> str:
    """Return text without the spaces that wrapping moves."""
    return re.sub(r"\s", "", words)


@given(ANY)
@example(EVIL)
def test_printable_text_is_one_line_of_letters_and_stays_as_it_is(name: str) -> None:
    shown = printable(name)
    assert all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in shown)
    assert printable(shown) == shown
    assert shown.encode().decode() == shown
    if name.isprintable():
        assert shown == name


@given(ANY)
@example(EVIL)
@settings(max_examples=50, deadline=None)
def test_a_report_for_a_terminal_holds_it(name: str) -> None:
    told = text.write(called(SMALL, name or "x"))
    assert letters(printable(name)) in letters(told)
    assert not {letter for letter in told if unicodedata.category(letter)[0] == "C"} - {"\n"}


@given(ANY)
@example(EVIL)
@settings(deadline=None)
def test_a_table_holds_it(name: str) -> None:
    drawn = page([table([name, "b"], [[name, "2"], ["c", name]]), name])
    assert not {letter for letter in drawn if unicodedata.category(letter)[0] == "C"} - {"\n"}
    assert max(map(cell_len, drawn.splitlines()), default=0) <= WIDTH


@given(ANY)
@example(EVIL)
@settings(max_examples=50, deadline=None)
def test_json_and_trace_read_back_give_it(name: str) -> None:
    written = record.write(called(SMALL, name))
    assert json.loads(written)["scenario"]["name"] == name
    assert json.loads(written.ascii())["scenario"]["name"] == name
    assert written.ascii().isascii()
    assert printable(written, keep="\n") == written
    trace = chrome(called(SMALL, name))
    assert json.loads(trace)["otherData"]["scenario"] == name
    assert trace.isascii()


@given(ANY)
def test_json_of_the_same_is_the_same_in_ascii(name: str) -> None:
    written = json_text({name: [name]})
    assert isinstance(written, Json)
    assert json.loads(written) == json.loads(written.ascii()) == {name: [name]}


@given(ANY)
@example(EVIL)
@example("=cmd|'/c calc'!A1")
@example("-1")
def test_csv_read_back_gives_it_and_no_formula(name: str) -> None:
    written = rows.csv_text([{"scenario": name, "mfu": -0.5}, {"scenario": "b", "mfu": 1}])
    found = list(csv.DictReader(StringIO(written, newline="")))
    assert [row["mfu"] for row in found] == ["-0.5", "1"]
    cell = found[0]["scenario"]
    assert cell.removeprefix("'") == printable(name, keep="\n").removeprefix("'")
    assert cell[:1] not in set("=+-@\t\r\n＝＋－＠") - {""} or re.fullmatch(
        r"[-+]?[\d.]+(e[-+]?\d+)?", cell, re.I | re.A
    )


@given(ANY)
@settings(deadline=None)
def test_rows_of_a_validation_hold_it(name: str) -> None:
    line = lines.Line(suite="runs", id=name, family=name, quantity="step_time_s", unit="s", measured=1.0, note=name)
    (found,) = csv.DictReader(StringIO(lines.csv_text([line]), newline=""))
    for column in ("id", "family", "note"):
        assert found[column].removeprefix("'") == printable(name, keep="\n").removeprefix("'")


class Words(HTMLParser):
    """Collects the text of a page, and the tags of its head lines."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.heading = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._inside = tag == "h1"

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        self.heading += data if self._inside else ""


@given(ANY)
@example(EVIL)
@settings(max_examples=5, deadline=None)
def test_a_page_holds_it(name: str) -> None:
    words = Words()
    words.feed(html.write(called(SMALL, name or "x")))
    assert words.heading == printable(name or "x", keep="\n")
    assert not words.tags & {"script", "a", "b1", "link"}


@given(ANY)
@example(EVIL)
@example("a" * 1000)
@example("_")
@settings(max_examples=8, deadline=None)
def test_a_drawing_holds_it(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.mktemp("drawn") / "drawn.svg"
    axes = [Axis("name", (name, "other"))]
    found = [
        {"scenario": "a", "name": value, "verdict": "fits", "step_time_s": 1.0 + place, "progress": True}
        for place, value in enumerate(axes[0].values)
    ]
    canvas.save(lambda drawing: what_if.draw(found, axes, "step_time_s", drawing), path)
    root = ElementTree.parse(path).getroot()
    said = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert not letters(named(name)) or letters(named(name)) in map(letters, said)
    assert {one.tag.rpartition("}")[2] for one in root.iter()}.isdisjoint({"script", "a", "foreignObject"})
    canvas.save(lambda drawing: what_if.draw(found, axes, "step_time_s", drawing), path.with_suffix(".png"))


def test_a_comparison_and_a_sweep_hold_it() -> None:
    found = [{"scenario": EVIL, "verdict": "fits", "step_time_s": 1.0, "reason": "", "progress": True}]
    for told in (
        comparison.write([EVIL, "b"], [*found, *found], [], {}),
        sweep.write([*found, {**found[0], "scenario": "b"}], [], ["step_time_s"]),
    ):
        assert letters(printable(EVIL))[:40] in letters(told)
        assert "\x1b" not in told


def test_a_drawing_of_a_network_with_hostile_names_is_xml() -> None:
    links = tuple({**one, "name": EVIL} for one in RESULT.step.links)
    drawn = gallery.svg("network", replace(RESULT, step=replace(RESULT.step, links=links)))
    said = "".join(ElementTree.fromstring(drawn).itertext())
    assert letters(named(EVIL)) in letters(said)


def test_numbers_stay_numbers_in_csv() -> None:
    kept = ["-1", "+2", "-0.5", "-1e-9", "+1E5", "-.5"]
    quoted = ["-1+cmd", "+", "-", "=1", "@SUM(A1)", "-5%", "+1 000", "\t=1", "\r=1", "\n=1", "＝1"]
    written = rows.csv_text([{"a": value} for value in (*kept, *quoted)])
    found = [row["a"] for row in csv.DictReader(StringIO(written, newline=""))]
    assert found[: len(kept)] == kept
    assert all(cell.startswith("'") for cell in found[len(kept) :])
