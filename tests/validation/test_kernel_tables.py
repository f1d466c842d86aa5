"""A row of a table of kernels is predicted by the kernel model, with the row's own shape."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from simulator.errors import ScenarioError
from simulator.machine import hardware
from simulator.machine.kernels import attention, casts, elementwise, gemm
from simulator.validation import files
from simulator.validation.lines import Line


def line(folder: Path, header: str, cells: str) -> Line:
    path = folder / "kernels.csv"
    path.write_text(f"{header}\n{cells}\n", encoding="utf-8")
    (found,) = files.lines([files.read(path)], lambda scenario: pytest.fail("kernels need no scenario"))
    return found


GEMM = "gpu,dtype,groups,m,n,k,time_us,op,note"
ATTENTION = "gpu,impl,dtype,head_dim,causal,pass_,seqlen,batch,heads,tflops"
MEMORY = "gpu,op,dtype,bytes_moved,time_us,achieved_gbs"
COLLECTIVE = "gpu,nodes,gpus,network,collective,algo,bytes,time_us,busbw_gbs"
A100 = hardware.gpu("a100-sxm-80gb")


def test_a_matrix_product(tmp_path: Path) -> None:
    found = line(tmp_path, GEMM, "A100 SXM,fp16,1,4096,8192,1024,300,dense,")
    assert (found.suite, found.family, found.group) == ("gemm", "A100 SXM fp16", "m >= 1024")
    assert (found.quantity, found.unit, found.measured) == ("time_us", "us", 300.0)
    assert found.predicted == pytest.approx(1e6 * gemm.time(A100, 4096, 8192, 1024, dtype="fp16", regime="burst"))
    assert found.scored


def test_a_weight_gradient_adds_in_fp32(tmp_path: Path) -> None:
    found = line(tmp_path, GEMM, "A100 SXM,bf16,1,4096,8192,1024,300,layout NT accum=True out=fp32,")
    assert found.predicted == pytest.approx(1e6 * gemm.time(A100, 4096, 8192, 1024, accumulate=True, regime="burst"))


def test_grouped_products(tmp_path: Path) -> None:
    found = line(tmp_path, GEMM, "A100 SXM,bf16,20,512,8192,1024,300,grouped,")
    assert found.predicted == pytest.approx(1e6 * gemm.time(A100, 512, 8192, 1024, groups=20, regime="burst"))
    assert found.group == "m < 1024"


REPEATED = "gpu,dtype,m,n,k,time_us,includes,regime"


@pytest.mark.parametrize("regime", ["burst", "sustained", "training"])
@pytest.mark.parametrize("dtype", ["bf16", "fp8", "fp8-block"])
def test_a_product_with_its_cast_in_the_regime_of_the_row(tmp_path: Path, dtype: str, regime: str) -> None:
    """The cast is a kernel of its own, which only rows hold that say so."""
    chip = hardware.gpu("h100")
    alone, cast = (
        line(tmp_path, REPEATED, f"H100 SXM,{dtype},8192,8192,8192,900,{includes},{regime}").predicted
        for includes in ("product", "cast of the activation + product")
    )
    assert alone == pytest.approx(1e6 * gemm.time(chip, 8192, 8192, 8192, dtype=dtype, regime=regime))
    assert cast == pytest.approx(alone + 1e6 * casts.time(chip, 8192 * 8192, dtype=dtype, regime=regime))
    assert (cast == alone) == (dtype == "bf16")


def test_a_packed_table_is_read_as_it_is(tmp_path: Path) -> None:
    text = f"{GEMM}\nA100 SXM,bf16,1,4096,8192,1024,300,dense,\n"
    path = tmp_path / "kernels.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert [row.texts["m"] for row in files.read(path).rows] == ["4096"]
    path.write_bytes(gzip.compress(text.encode())[:-12])
    with pytest.raises(ScenarioError, match="gzip"):
        files.read(path)


def test_an_unknown_regime_is_the_reason(tmp_path: Path) -> None:
    found = line(tmp_path, REPEATED, "H100 SXM,bf16,512,512,512,9,,warm")
    assert found.note == "regime: found 'warm', expected one of training, sustained, burst"


def test_the_best_shape_of_a_search_is_not_scored(tmp_path: Path) -> None:
    assert not line(tmp_path, GEMM, "A100 SXM,bf16,1,512,512,512,9,,best of a search; not typical").scored


def test_an_unknown_gpu_is_the_reason(tmp_path: Path) -> None:
    found = line(tmp_path, GEMM, "Abacus,bf16,1,512,512,512,9,,")
    assert found.predicted is None
    assert found.note == "no GPU named 'Abacus' in the catalog"


def test_attention_is_scored_by_its_rate(tmp_path: Path) -> None:
    found = line(tmp_path, ATTENTION, "A100 SXM,FA2,bf16,128,True,fwd+bwd,4096,4,16,180")
    shape = {"batch": 4, "heads": 16, "queries": 4096, "keys": 4096, "head_size": 128}
    seconds = sum(attention.time(A100, **shape, backward=back, kernel="flash-2", burst=True) for back in (False, True))
    assert found.quantity == "tflops"
    assert found.predicted == pytest.approx(3.5 * 4 * 4 * 16 * 4096**2 * 128 / 2 / seconds / 1e12)


SERVED = (
    "gpu,impl,dtype,head_dim,v_head_dim,causal,pass_,seqlen,batch,heads,kv_heads,window,tflops,includes,regime,kernel"
)


def served(folder: Path, cells: str) -> float:
    """Return the seconds that a row of a serving engine's table takes."""
    found = line(folder, SERVED, cells)
    assert found.predicted is not None, found.note
    return 1 / found.predicted


def test_what_a_table_says_of_a_serving_kernel_counts(tmp_path: Path) -> None:
    row = "H200 SXM,FA3,bf16,128,128,True,fwd,8192,2,32,{kv},{window},600,{includes},{regime},default"
    plain = {"kv": 32, "window": 0, "includes": "kernel", "regime": "burst"}
    burst = served(tmp_path, row.format(**plain))
    assert served(tmp_path, row.format(**plain | {"regime": "sustained"})) > burst
    assert served(tmp_path, row.format(**plain | {"includes": "kernel + write of the KV cache"})) > 1.02 * burst
    assert served(tmp_path, row.format(**plain | {"window": 128})) > burst  # of less work, which the rate counts
    shared = {"includes": "kernel + write of the KV cache", "kv": 4}
    assert served(tmp_path, row.format(**plain | shared)) < 1.05 * burst


def test_a_label_of_the_source_is_more_exact_than_the_name(tmp_path: Path) -> None:
    row = "B200,trtllm-gen,bf16,64,64,False,fwd,4096,2,32,32,0,600,kernel,burst,{label}"
    assert served(tmp_path, row.format(label="x_flash_attn_fa4")) != served(tmp_path, row.format(label="x"))


def test_an_unknown_regime_of_attention_is_the_reason(tmp_path: Path) -> None:
    found = line(tmp_path, SERVED, "B200,FA4,bf16,64,64,True,fwd,4096,2,32,32,0,600,kernel,calm,")
    assert found.note == "regime 'calm' is not one of burst, sustained"


def test_a_packed_table_is_predicted_as_it_is(tmp_path: Path) -> None:
    row = "A100 SXM,FA2,bf16,128,True,fwd,4096,4,16,180"
    path = tmp_path / "kernels.csv.gz"
    path.write_bytes(gzip.compress(f"{ATTENTION}\n{row}\n".encode()))
    (found,) = files.lines([files.read(path)], lambda scenario: pytest.fail("kernels need no scenario"))
    assert found.predicted == line(tmp_path, ATTENTION, row).predicted


def test_a_kernel_without_a_model_is_the_reason(tmp_path: Path) -> None:
    found = line(tmp_path, ATTENTION, "A100 SXM,xFormers,bf16,128,True,fwd,4096,4,16,180")
    assert found.note == "there is no model of the xFormers kernel"


def test_a_memory_bound_kernel_by_its_bytes(tmp_path: Path) -> None:
    found = line(tmp_path, MEMORY, "A100 SXM,residual add,fp16,201326592,112,1797")
    assert found.predicted == pytest.approx(1e6 * elementwise.time(A100, 201326592.0))
    assert (found.quantity, found.measured) == ("time_us", 112.0)


def test_a_copy_without_a_size_by_its_bandwidth(tmp_path: Path) -> None:
    found = line(tmp_path, MEMORY, "A100 SXM,BabelStream Copy,,,,1610")
    assert found.quantity == "achieved_gbs"
    assert found.predicted is not None
    assert found.predicted < A100.memory_bandwidth / 1e9


def test_bytes_that_are_not_stated_are_the_reason(tmp_path: Path) -> None:
    assert (
        line(tmp_path, MEMORY, "A100 SXM,rope [liger],bf16,,11,").note
        == "the bytes that the kernel moves are not stated"
    )


def test_a_large_all_reduce_is_bound_by_the_cards_of_a_host(tmp_path: Path) -> None:
    """Twice the network cards, twice the bus bandwidth."""
    four, eight = (
        line(tmp_path, COLLECTIVE, f"A100 SXM,4,32,NVLink3 + {cards}x100G IB,all_reduce,,peak (large),,90")
        for cards in (4, 8)
    )
    assert four.quantity == "busbw_gbs"
    assert four.predicted is not None
    assert eight.predicted == pytest.approx(2 * four.predicted, rel=0.02)
    assert four.predicted < 4 * 100 / 8


def test_collectives_are_grouped_by_place_and_size(tmp_path: Path) -> None:
    found = line(tmp_path, COLLECTIVE, "A100 SXM,1,8,NVLink3 NVSwitch,all_reduce,,1048576,60,30")
    assert (found.family, found.group) == ("A100 SXM, 1 x 8, all_reduce", "one host, 1 to 32 MiB")
    assert (found.quantity, found.measured) == ("time_us", 60.0)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("A100 SXM,1,8,NVLink,ep_dispatch,,1024,,40", "there is no model of ep_dispatch"),
        ("A100 SXM,1,8,NVLink,all_reduce,,4096 tokens,,40", "the size is not a number of bytes"),
        ("A100 SXM,,,NVLink,all_reduce,,1024,,40", "the numbers of hosts and of GPUs a host are not stated"),
    ],
)
def test_a_collective_that_cannot_be_predicted_has_a_reason(tmp_path: Path, cells: str, reason: str) -> None:
    assert line(tmp_path, COLLECTIVE, cells).note == reason


def test_every_row_of_the_shipped_tables_of_kernels_is_predicted_or_has_a_reason() -> None:
    kernels = [files.read(path) for path in files.shipped() if path.stem not in ("runs", "reliability_cases")]
    found = files.lines(kernels, lambda scenario: pytest.fail("kernels need no scenario"))
    assert len(found) == sum(len(table.rows) for table in kernels)
    assert all(line.predicted is not None or line.note for line in found)


def test_a_case_of_reliability_that_is_not_known_has_a_reason(tmp_path: Path) -> None:
    found = line(tmp_path, "id,kind,inputs,expected,tolerance", "R1,closed,words,0.5,1%")
    assert found.predicted is None
    assert "inputs are words" in found.note
