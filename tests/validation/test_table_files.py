"""A table of measurements is told by its columns, and everything wrong in it is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.errors import ScenarioError
from simulator.validation import files

HEADERS = {
    "runs": "id,family,gpu_name,gpus,layers,hidden,tp,pp,step_time_s",
    "gemm": "gpu,dtype,groups,m,n,k,time_us,tflops",
    "attention": "gpu,impl,dtype,head_dim,causal,pass_,seqlen,batch,heads,tflops",
    "memory-bound": "gpu,op,pass_,shape,dtype,bytes_moved,time_us,achieved_gbs",
    "collectives": "gpu,nodes,gpus,network,collective,algo,bytes,time_us,algbw_gbs,busbw_gbs",
    "exchanges": "gpu,mode,phase,nodes,gpus_per_node,ranks,network,dtype,tokens,hidden,top_k,experts,sms,time_us",
    "experts": "gpu,dtype,op,tokens,hidden,inter,top_k,experts,slots,ep,tp,gated,distribution,time_us",
    "finetune": "id,source,method,base_dtype,lora_rank,stack,gpu,model,gpus,seq,step_time_s",
    "reliability": "id,kind,inputs,expected,tolerance,source",
}


def table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("kind", "header"), HEADERS.items())
def test_the_columns_say_what_a_table_is(tmp_path: Path, kind: str, header: str) -> None:
    cells = ",".join("1" for _ in header.split(","))
    assert files.read(table(tmp_path, f"{header}\n{cells}\n")).suite.kind == kind


def test_every_kind_of_table_has_a_header_here() -> None:
    assert set(files.suites()) == set(HEADERS)


def test_unknown_columns_are_ignored(tmp_path: Path) -> None:
    path = table(tmp_path, "colour,gpu,dtype,m,n,k,time_us\nblue,A100,fp16,64,64,64,5\n")
    assert files.read(path).rows[0].whole("m") == 64


def test_a_cell_may_be_empty(tmp_path: Path) -> None:
    path = table(tmp_path, f"{HEADERS['runs']}\na,F,A100,8,,,1,1,\n")
    row = files.read(path).rows[0]
    assert row.whole("layers") is None
    assert row.real("step_time_s") is None


def test_a_number_may_be_written_with_a_point(tmp_path: Path) -> None:
    path = table(tmp_path, f"{HEADERS['runs']}\na,F,A100,8.0,2,64,1,1,0.5\n")
    assert files.read(path).rows[0].whole("gpus") == 8


def test_all_mistakes_are_reported_with_their_lines(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        f"{HEADERS['gemm']}\nA100,fp16,1,many,64,64,5,\nA100,fp16,1,64,-64,64,5,\nA100,fp16\nA100,fp16,1,64,64,64,nan,\n",
    )
    with pytest.raises(ScenarioError) as error:
        files.read(path)
    assert str(error.value).splitlines() == [
        f"{path}:2: m: expected a number above 0, found 'many'",
        f"{path}:3: n: expected a number above 0, found '-64'",
        f"{path}:4: 2 cells, but the header has 8 columns",
        f"{path}:5: time_us: expected a number above 0, found 'nan'",
    ]


def test_only_the_first_mistakes_of_many_are_printed(tmp_path: Path) -> None:
    path = table(tmp_path, HEADERS["gemm"] + "\nA100,fp16,1,x,64,64,5," * 100 + "\n")
    with pytest.raises(ScenarioError, match="80 more mistakes"):
        files.read(path)


def test_columns_of_no_known_kind_are_an_error_that_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="the nearest is gemm, which also needs: k, time_us"):
        files.read(table(tmp_path, "gpu,dtype,m,n\nA100,fp16,64,64\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; expected a CSV table with a header"),
        ("gpu,gpu,m\n", "column 'gpu' appears twice"),
        (f"{HEADERS['gemm']}\n", "has a header and no rows"),
        (f'{HEADERS["gemm"]}\n"A100,fp16\n', "not a CSV table"),
    ],
)
def test_a_table_that_is_none_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        files.read(table(tmp_path, text))


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="is a folder"):
        files.read(tmp_path)
    with pytest.raises(ScenarioError, match=r"missing\.csv: no such file"):
        files.read(tmp_path / "missing.csv")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"gpu,dtype\n\xff\xfe\x00\n")
    with pytest.raises(ScenarioError, match="not a text file"):
        files.read(binary)
