"""What a link or a page says opens no file, but for those that the scenario named with which the server was started."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "scenario"))
from named_files import EVERY, FAILURES, FILES, LOG, PATHS, TEXT, opened, put

from simulator.errors import ScenarioError
from simulator.explorer import answers, asked, link
from simulator.explorer.desk import Desk
from simulator.studies.point import Base

REFUSED = "names no files but those of the scenario that `foretrain explore` was started with"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return put(tmp_path)


@pytest.mark.parametrize("key", EVERY)
@pytest.mark.parametrize("path", PATHS)
def test_a_link_opens_no_file(key, path):
    change = EVERY[key].format(path)
    for first in ({link.SCENARIO: ["tutorial/2-a-rack"]}, {link.TEXT: [link.packed(TEXT)]}, {}):
        base = link.read({**first, link.SET: [change]})
        with opened() as found, pytest.raises(ScenarioError) as caught:
            base.read()
        assert found == set()
        assert key not in FILES or "\0" in path or REFUSED in str(caught.value)


@pytest.mark.parametrize("key", FILES)
def test_a_page_opens_the_files_that_the_scenario_on_the_command_line_names(key, folder, monkeypatch):
    change, content = FILES[key]
    (folder / "named").write_text(content)
    mine = folder / "mine.yaml"
    given = link.started(Base("mine", str(mine), (change.format("named"),)))
    monkeypatch.chdir(folder.parent)
    for base in (link.read({}, given), link.read({link.TEXT: [link.packed("a: b")]}, given)):
        again = link.read({**link.write(base), link.TEXT: [link.packed(TEXT)], link.SET: [*given.changes]}, given)
        with opened() as found:
            assert again.read().files == given.read().files
        assert found - {mine} == {folder / "named"}


@pytest.mark.parametrize("key", FILES)
def test_a_page_opens_no_other_file_beside_it(key, folder):
    change, content = FILES[key]
    for name in ("named", "other"):
        (folder / name).write_text(content)
    given = link.started(Base("mine", str(folder / "mine.yaml"), (change.format("named"),)))
    other = link.read({link.SET: [change.format("other")]}, given)
    with opened() as found, pytest.raises(ScenarioError, match="`other` is not opened"):
        other.read()
    assert found == {folder / "mine.yaml"}


def test_a_server_that_is_started_with_a_pipe_reads_it_once(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TEXT))
    writer.start()
    given = link.started(Base("pipe", str(pipe)))
    writer.join()
    assert link.read(link.write(given), given).read().gpus == 16


def test_a_file_that_the_scenario_names_later_is_not_opened(folder):
    given = link.started(Base("mine", str(folder / "mine.yaml")))
    (folder / "mine.yaml").write_text(f"{TEXT}calibration: secret\n")
    with pytest.raises(ScenarioError, match="`secret` is not opened"):
        link.read({}, given).read()


def test_whatever_becomes_of_a_scenario_on_a_page_opens_no_more(folder):
    mine = Base("mine", str(folder / "mine.yaml"))
    for base in (link.read({}, link.started(mine)), link.read({}, mine), link.of_text("a: b")):
        assert base.only == ()
        assert asked.changed(base, "runs", "3").only == () if base.source != "a: b\n" else True
        assert asked.applied(base, ()).only == link.looked_at(base).only == ()


def test_nothing_of_the_explorer_but_the_link_makes_a_scenario_of_a_page():
    made = [path.name for path in Path(link.__file__).parent.rglob("*.py") if "Base(" in path.read_text()]
    assert made == ["link.py"]


def test_a_running_explorer_sees_an_edited_log(folder):
    (folder / "log.csv").write_text(LOG)
    given = link.started(Base("mine", str(folder / "mine.yaml"), (FAILURES.format("log.csv"),)))
    desk = Desk(given)

    def goodput() -> float:
        return desk.ask(answers.whole, link.looked_at(link.read({}, given))).result().run.goodput.mean

    before = goodput()
    assert goodput() == before
    (folder / "log.csv").write_text("time,host\n" + "".join(f"{second},0\n" for second in range(1, 60)))
    assert goodput() < before
