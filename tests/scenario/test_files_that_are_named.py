"""What is wrong with a file is said in one line, which says what it is and repeats nothing that is in it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from named_files import CABLES, CONFIG, FABRIC, FILES, TEXT, put

from simulator.errors import ScenarioError
from simulator.reliability.failures.trace import Trace
from simulator.scenario import read
from simulator.scenario.beside import LARGEST, LARGEST_TABLE
from topologies.edge_list import EdgeList

SECRET = "hunter2"
CONTENTS = (
    f"{SECRET}: {SECRET}\n",
    f"time,host\n{SECRET},{SECRET}\n",
    f"time,host,downtime,unit,ended\n1,2,3,{SECRET},{SECRET}\n",
    f"cause,lifetime,ended\n1,{SECRET},{SECRET}\n",
    f"prob started,hardware\n{SECRET},{SECRET}\n",
    f"sn,insert,remove,event\n1,{SECRET},{SECRET},{SECRET}\n",
    f"state,nnodes,elapsed\n{SECRET},1,{SECRET}\n",
    f"source,target,bandwidth\n{SECRET},{SECRET},{SECRET}\n",
    f'source,target,bandwidth\n"{SECRET}',
    f'{{"model_type": "{SECRET}"}}',
    CONFIG.replace("128", f'"{SECRET}"'),
    f"products: {{{SECRET}: {SECRET}}}\ngpu: [{SECRET}]\nsoftware: {SECRET}\nnetwork: {{{SECRET}: 1}}\n",
    f"evidence: [{{source: 1, {SECRET}: 2, rows: {SECRET}}}]\n",
    f"{SECRET}: &{SECRET} 1\nb: *{SECRET}\n",
    f"gpu: !{SECRET} x\n",
    f"{SECRET}: 1\n{SECRET}: 2\n",
    f"- {SECRET}\n",
    f"{SECRET}\n",
    f"{{{SECRET}: [",
    f"{SECRET}\xff",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return put(tmp_path)


def message(source: Path | str, change: str, *catalogs: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(source, overrides=[change], catalogs=catalogs)
    return str(caught.value)


@pytest.mark.parametrize("key", FILES)
@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
def test_a_message_repeats_nothing_of_the_file(key, content, folder):
    (folder / "odd").write_bytes(content.encode("latin-1"))
    said = message(folder / "mine.yaml", FILES[key][0].format("odd"))
    assert SECRET not in said
    assert "odd" in said


def test_a_wrong_calibration_says_where_and_what_belongs_there(folder):
    (folder / "odd").write_text("gpu: h100-sxm-80gb\nnetwork: {latency: quick}\nproduct: {bf16: 1}\nelementwise: [1]\n")
    assert message(folder / "mine.yaml", "calibration=odd").splitlines() == [
        "odd:2:20: calibration.network.latency: expected a number such as `1.1`",
        "odd:3:1: calibration: no file that `foretrain calibrate` wrote: unknown key; did you mean `products`?",
        "odd:4:14: calibration.elementwise: expected a number such as `1.1`",
    ]


def test_a_factor_that_cannot_be_says_where(folder):
    (folder / "odd").write_text("gpu: h100-sxm-80gb\nsoftware: 5000\n")
    assert message(folder / "mine.yaml", "calibration=odd") == (
        "odd:2:11: calibration.software: expected factors between 0.001 and 1000"
    )


def odd_files(folder: Path) -> dict[str, str]:
    """Make what is no regular file, and return what is said of each."""
    (folder / "dir").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "gone").symlink_to("nowhere")
    (folder / "bytes").write_bytes(b"a: 1\n\xff\n")
    (folder / "blank").write_text(" \n")
    (folder / "large").touch()
    os.truncate(folder / "large", LARGEST_TABLE + 1)
    return {
        "dir": "is a folder, not a file",
        "pipe": "is a pipe, not a file",
        "loop": "is a link that leads back to itself",
        "gone": "is a link to a file that does not exist",
        "/dev/zero": "is a device, not a file",
        "large": "is larger than",
        "blank": "is empty",
        "bytes": "not UTF-8 text (byte 5)",
        "x" * 5000: "is too long for the name of a file",
        "mine.yaml/x": "no such file; there is no folder",
        "nothing-like-it": "no such file; it is looked for beside the scenario",
    }


@pytest.mark.parametrize("key", FILES)
def test_what_is_no_file_is_said_once_and_no_name_is_proposed_for_itself(key, folder):
    for name, said in odd_files(folder).items():
        found = message(folder / "mine.yaml", FILES[key][0].format(name))
        assert said in found
        assert len(found.splitlines()) == 1
        assert "did you mean" not in found


def test_a_socket_is_no_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("door")
        assert "is a socket, not a file" in message(folder / "mine.yaml", "calibration=door")


def test_a_file_that_may_not_be_read_is_said(folder, monkeypatch):
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    said = message(TEXT, f"calibration={folder / 'secret'}")
    assert said.endswith("may not be read: permission denied")


def test_files_of_keys_and_values_are_bounded(folder):
    os.truncate(folder / "secret", LARGEST + 1)
    assert "is larger than 1,000,000 bytes" in message(folder / "mine.yaml", "calibration=secret")


def test_a_name_that_was_misspelt_is_proposed(folder):
    (folder / "fabric.csv").write_text(CABLES)
    said = message(folder / "mine.yaml", FABRIC.format("fabrik.csv"))
    assert f"no such file; did you mean {folder / 'fabric.csv'}?" in said


def test_an_entry_of_a_catalog_that_is_no_file_is_refused(tmp_path):
    (tmp_path / "model").mkdir()
    os.mkfifo(tmp_path / "model" / "pipe.yaml")
    (tmp_path / "model" / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "model" / "folder.yaml").mkdir()
    for name, kind in (("pipe", "pipe"), ("zero", "device"), ("folder", "folder")):
        with pytest.raises(ScenarioError, match=f"{name}.yaml: is a {kind}, not a file"):
            read(TEXT, overrides=[f"model={name}"], catalogs=[tmp_path])


@pytest.mark.parametrize("host", ["\u00b2", "9" * 5000, "\u0661", "-1", "h 7"])
def test_a_host_of_a_log_that_is_no_number_is_a_name(host):
    assert next(Trace(unit="host", log=f"time,host\n1,{host}\n2,0\n").events()).host == sorted([host, "0"]).index(host)


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000, "-1", "x"])
def test_a_number_that_is_none_is_a_word_or_a_message(number):
    assert EdgeList(edges=f"source,target\nnic/0/0,leaf/{number}\n", link_bandwidth=1.0).graph(1, 1, 1)
    with pytest.raises(ValueError, match="line 2: expected"):
        EdgeList(edges=f"source,target,count\nnic/0/0,leaf/0,{number}\n", link_bandwidth=1.0).graph(1, 1, 1)
    with pytest.raises(ScenarioError, match="is a list of 1, without item"):
        read(TEXT, overrides=["failures=[{unit: gpu, mtbf: 1d}]", f"failures.causes[{number}].mtbf=1h"])
