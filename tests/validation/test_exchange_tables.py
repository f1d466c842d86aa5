"""Tables of collectives and expert exchanges as NVIDIA publishes them, packed or not."""

import gzip

import pytest

from simulator.errors import ScenarioError
from simulator.validation import files

EXCHANGES = """gpu,mode,phase,nodes,gpus_per_node,ranks,network,dtype,tokens,hidden,top_k,experts,sms,time_us
h100-sxm-80gb,DeepEP normal,dispatch,1,8,8,NVLink4 NVSwitch SHARP,fp8,4096,7168,8,256,24,498.36
b200,DeepEP low latency,combine,1,8,8,NVLink5 NVSwitch SHARP,bf16,128,7168,8,256,,40.875
h100-sxm-80gb,DeepEP low latency,dispatch,4,8,32,InfiniBand between hosts,fp8,256,7168,8,256,,264.47
gb200,NVLinkTwoSided,dispatch,16,4,64,NVLink5 domain,bf16,2048,7168,8,256,,540
gb200,NVLinkTwoSided,prepare,16,4,64,NVLink5 domain,bf16,16,7168,8,256,,15.5
h100-sxm-80gb,Telepathy,dispatch,1,8,8,none,fp8,1,7168,8,256,,1
"""
COLLECTIVES = """gpu,nodes,gpus,network,collective,algo,bytes,dtype,time_us,busbw_gbs
h100-sxm-80gb,1,8,NVLink4 NVSwitch SHARP,all_reduce,,536870912,fp16,2111.1,445.0
h100-sxm-80gb,1,8,NVLink4 NVSwitch SHARP,all_reduce,,536870912,int8,2677.5,350.9
"""


def lines(path):
    table = files.read(path)
    return table.suite.lines(table.rows, None)


def test_a_packed_table_is_read_like_a_plain_one(tmp_path):
    (tmp_path / "a.csv").write_text(EXCHANGES)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(EXCHANGES.encode()))
    assert lines(tmp_path / "a.csv") == lines(tmp_path / "a.csv.gz")


def test_a_damaged_archive_is_a_mistake_in_the_input(tmp_path):
    whole = gzip.compress(EXCHANGES.encode())
    for name, content in {"short": whole[:60], "wrong": whole[:2] + b"nothing of the kind"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ScenarioError, match="gzip"):
            files.read(tmp_path / name)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 1000)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"0" * 2000))
    with pytest.raises(ScenarioError, match="unpacks to more than 1,000 bytes"):
        files.read(tmp_path / "b.csv.gz")


def test_exchanges_are_predicted_and_what_is_unknown_is_said(tmp_path):
    (tmp_path / "a.csv").write_text(EXCHANGES)
    found = lines(tmp_path / "a.csv")
    assert {line.suite for line in found} == {"exchanges"}
    for line in found[:5]:
        assert line.predicted == pytest.approx(line.measured, rel=0.35)
    assert found[5].predicted is None
    assert "Telepathy" in found[5].note
    assert found[2].group == "several hosts, 128 to 4095"


def test_switches_do_not_add_bytes(tmp_path):
    """NVLink SHARP adds half precision and not int8, which a ring adds."""
    (tmp_path / "c.csv").write_text(COLLECTIVES)
    half, byte = lines(tmp_path / "c.csv")
    assert half.predicted == pytest.approx(half.measured, rel=0.06)
    assert byte.predicted == pytest.approx(byte.measured, rel=0.06)
    assert byte.predicted > 1.2 * half.predicted
