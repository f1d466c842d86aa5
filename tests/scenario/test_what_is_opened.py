"""A scenario opens the files that it names, relative to itself, and no others; what it names is found in `files`."""

from __future__ import annotations

from pathlib import Path

import pytest
from named_files import CABLES, ENTRIES, FABRIC, FAILURES, FILES, LOG, PATHS, opened, put

from simulator.engine.prices.assembly import network_of
from simulator.errors import ScenarioError
from simulator.io.files import digest
from simulator.scenario import Scenario, from_dict, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return put(tmp_path)


@pytest.mark.parametrize("key", FILES)
def test_a_file_that_is_named_is_opened_and_no_other(key, folder):
    change, content = FILES[key]
    (folder / "named").write_text(content)
    with opened() as found:
        scenario = read(folder / "mine.yaml", overrides=[change.format("named")])
    assert found == {folder / "mine.yaml", folder / "named"}
    assert scenario.files == (("named", digest(content.encode())),)


@pytest.mark.parametrize("key", ENTRIES)
@pytest.mark.parametrize("path", PATHS)
def test_the_name_of_an_entry_opens_no_file(key, path, folder):
    with opened() as found, pytest.raises(ScenarioError):
        read(folder / "mine.yaml", overrides=[ENTRIES[key].format(path)])
    assert found == {folder / "mine.yaml"}


@pytest.mark.parametrize("path", ["{}/shared/named", "../shared/named"])
def test_a_scenario_on_the_command_line_may_name_files_anywhere(path, folder):
    (folder.parent / "shared").mkdir()
    (folder.parent / "shared" / "named").write_text(CABLES)
    change = FABRIC.format(path.format(folder.parent))
    assert read(folder / "mine.yaml", overrides=[change]).cluster.topology.edges == CABLES


def test_the_echo_names_the_files_and_reads_back_as_the_same(folder):
    (folder / "log.csv").write_text(LOG)
    (folder / "fabric.csv").write_text(CABLES)
    scenario = read(folder / "mine.yaml", overrides=[FABRIC.format("fabric.csv"), FAILURES.format("log.csv")])
    fabric, cause = scenario.resolved["cluster"]["topology"], scenario.resolved["failures"]["causes"][0]
    assert (fabric["file"], cause["file"]) == (str(folder / "fabric.csv"), str(folder / "log.csv"))
    assert {"edges", "log"} & {*fabric, *cause} == set()
    again = from_dict(scenario.resolved)
    assert (again, again.resolved) == (scenario, scenario.resolved)


def test_a_table_may_stand_in_the_scenario_itself():
    text = {"cluster": {"host": "hgx-h100", "hosts": 2, "topology": {"kind": "edge-list", "edges": CABLES}}}
    text |= {"failures": [{"kind": "trace", "unit": "host", "log": LOG}], "training": {"steps": 10, "step_time": "1s"}}
    scenario = from_dict(text)
    assert scenario.files == ()
    assert scenario.failures.causes[0].rate(2) == pytest.approx(2 / 5000)
    assert from_dict(scenario.resolved) == scenario


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("cluster.topology={kind: edge-list, file: a.csv, edges: 'a,b'}", "either `file` or `edges`, not both"),
        ("failures=[{kind: trace, file: a.csv, log: 'a,b'}]", "either `file` or `log`, not both"),
        ("cluster.topology={kind: edge-list}", "an edge list needs `file`, a CSV file, or `edges`"),
        ("failures=[{kind: trace}]", "a trace needs `file`, the name of a log of failures, or `log`"),
    ],
)
def test_a_table_stands_in_one_place(change, message, folder):
    with pytest.raises(ScenarioError, match=message):
        read(folder / "mine.yaml", overrides=[change])


def test_a_log_or_a_fabric_that_was_edited_is_another_one(folder):
    fabric, log = folder / "fabric.csv", folder / "log.csv"

    def now() -> tuple[Scenario, float, float]:
        scenario = read(folder / "mine.yaml", overrides=[FABRIC.format("fabric.csv"), FAILURES.format("log.csv")])
        channel = network_of(scenario.cluster).channel(2, 8)
        return scenario, channel.scale_out_bandwidth, scenario.failures.causes[0].rate(2)

    fabric.write_text(CABLES)
    log.write_text(LOG)
    before, bandwidth, rate = now()
    fabric.write_text(CABLES.replace("5e10", "5e9"))
    log.write_text(LOG.replace("5000", "50000"))
    after, slower, rarer = now()
    assert before != after
    assert hash(before.cluster.topology) != hash(after.cluster.topology)
    assert slower == pytest.approx(bandwidth / 10)
    assert rarer == pytest.approx(rate / 10)
