"""Tables of expert layers as NVIDIA publishes them: read as they are, each module by its own constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.machine import hardware
from simulator.machine.kernels import experts
from simulator.validation import files

COLUMNS = "gpu,dtype,op,tokens,hidden,inter,top_k,experts,slots,ep,tp,gated,distribution,local_tokens,time_us,regime"
ROWS = """h100-sxm-80gb,fp8,experts,16384,5120,8192,1,16,16,4,4,1,balanced,,395.54,burst
h100-sxm-80gb,bf16,experts,64,4096,1536,8,128,128,16,16,1,balanced,,31.435,burst
h100-sxm-80gb,fp8-block,experts,12288,7168,2048,8,256,256,64,4,1,balanced,,256.23,burst
h100-sxm-80gb,bf16,experts,4096,4096,1536,8,128,128,4,1,1,power_law_1.2,,1240.6,burst
h100-sxm-80gb,bf16,experts,12288,2688,1856,6,128,128,8,4,0,power_law_1.01,,335.55,burst
h100-sxm-80gb,fp8-block,experts of one rank,12288,7168,2048,8,384,384,2,1,1,power_law_1.01,12225,10910,burst
"""


def lines(path: Path, rows: str) -> list:
    path.write_text(f"{COLUMNS}\n{rows}")
    table = files.read(path)
    return list(table.suite.lines(table.rows, None))


def test_rows_of_every_kind_are_predicted(tmp_path: Path):
    found = lines(tmp_path / "a.csv", ROWS)
    assert {line.suite for line in found} == {"experts"}
    for line in found:
        assert line.predicted == pytest.approx(line.measured, rel=0.4), line
    assert [line.group for line in found[:4]] == [
        "512 rows an expert and more", "below 64 rows an expert", "64 to 511 rows an expert", "uneven",
    ]  # fmt: skip


def test_balanced_rows_are_the_layer_with_even_loads(tmp_path: Path):
    gpu = hardware.gpu("h100-sxm-80gb")
    (line,) = lines(
        tmp_path / "a.csv", "h100-sxm-80gb,bf16,experts,1024,4096,2048,2,8,8,1,2,1,balanced,,100,training\n"
    )
    layer = experts.layer(gpu, [256] * 8, hidden=4096, inner=1024, tokens=1024)
    assert line.predicted == pytest.approx(1e6 * experts.time(gpu, layer))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("h100-sxm-80gb,bf16,router,8,4096,2048,2,8,8,1,1,1,balanced,,9,burst", "expected one of experts"),
        ("h100-sxm-80gb,bf16,experts,8,4096,2048,2,8,8,3,1,1,balanced,,9,burst", "do not divide into 3 ranks"),
        ("h100-sxm-80gb,bf16,experts,8,4096,2048,2,8,8,1,1,1,roulette,,9,burst", "expected balanced"),
        ("h100-sxm-80gb,int3,experts,8,4096,2048,2,8,8,1,1,1,balanced,,9,burst", "no model of experts in int3"),
    ],
)
def test_what_cannot_be_said_keeps_its_reason(tmp_path: Path, row: str, reason: str):
    (line,) = lines(tmp_path / "a.csv", row + "\n")
    assert line.predicted is None
    assert reason in line.note
