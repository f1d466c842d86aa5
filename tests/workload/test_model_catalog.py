"""Every model of the catalog counts what was published, to the integer where a checkpoint exists."""

import pytest
from model_entries import NAMES, model, published

from simulator.workload.flops import multiplied_parameters
from simulator.workload.parameters import active_parameters, mtp_parameters, non_embedding_parameters, total_parameters

UNITS = {"M": 1e6, "B": 1e9, "T": 1e12}
CHECKPOINTS = {
    "gpt-2": 124_439_808,
    "gpt-2-medium": 354_823_168,
    "gpt-2-large": 774_030_080,
    "gpt-2-xl": 1_557_611_200,
    "bloom-176b": 176_247_271_424,
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "qwen1.5-72b": 72_287_920_128,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    "phi-3-mini": 3_821_079_552,
    "olmo-2-7b": 7_298_617_344,
    "deepseek-v2": 235_741_434_880,
    "deepseek-v3": 671_026_419_200,
    "mpt-125m": 125_311_488,
    "mpt-1b": 1_315_950_592,
    "mpt-7b": 6_658_859_008,
    "mpt-13b": 12_853_954_560,
    "mpt-30b": 29_975_214_080,
    "mpt-70b": 64_862_437_376,
}


def rounded(text: str) -> tuple[float, float]:
    """Return a published figure and one unit of its last digit."""
    number, unit = text[:-1], UNITS[text[-1]]
    digits = len(number.partition(".")[2])
    return float(number) * unit, unit / 10**digits


@pytest.mark.parametrize(("name", "count"), CHECKPOINTS.items())
def test_counts_equal_the_checkpoint(name, count):
    assert total_parameters(model(name)) == count


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_counts_what_was_published(name):
    facts = published(name)
    misprints = {misprint["printed"] for misprint in facts.get("misprints", [])}
    figure, ours = facts["parameters"], total_parameters(model(name))
    if figure.isdigit():
        assert ours == int(figure)
    elif figure not in misprints:
        value, unit = rounded(figure)
        assert ours == pytest.approx(value, abs=unit)


@pytest.mark.parametrize("name", NAMES)
def test_misprints_stand_beside_our_count(name):
    for misprint in published(name).get("misprints", []):
        assert misprint.keys() == {"quantity", "printed", "ours", "where"}
        if misprint["quantity"] == "parameters":
            assert int(misprint["ours"]) == total_parameters(model(name))


@pytest.mark.parametrize("name", [name for name in NAMES if "active_parameters" in published(name)])
def test_active_parameters_are_near_the_published_figure(name):
    value, unit = rounded(published(name)["active_parameters"])
    with_lookup, without = active_parameters(model(name)), multiplied_parameters(model(name))
    assert min(abs(with_lookup - value), abs(without - value)) < max(0.02 * value, unit)


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_names_year_and_licence(name):
    assert 2019 <= int(published(name)["year"]) <= 2026
    assert published(name)["licence"]


def test_known_misprints_are_listed():
    printed = {m["printed"] for name in NAMES for m in published(name).get("misprints", [])}
    assert {"117M", "345M", "762M", "350M"} <= printed


def test_mtp_of_deepseek_is_counted_apart():
    deepseek = model("deepseek-v3")
    assert sum(mtp_parameters(deepseek).values()) == pytest.approx(11.6e9, rel=0.002)


def test_nemotron_divides_as_published():
    """9.4B in the two embeddings and 331.6B elsewhere (arXiv 2406.11704)."""
    nemotron = model("nemotron-4-340b")
    assert non_embedding_parameters(nemotron) == pytest.approx(331.6e9, abs=0.05e9)
    assert total_parameters(nemotron) - non_embedding_parameters(nemotron) == pytest.approx(9.4e9, abs=0.05e9)


def test_a_gated_mlp_has_three_matrices():
    """72.3B and not the 56.2B of a calculator that counted two (EleutherAI/cookbook issue 36)."""
    assert total_parameters(model("qwen1.5-72b")) == pytest.approx(72.3e9, rel=0.002)


def test_states_of_a_checkpoint_are_bytes_a_parameter():
    """BLOOM keeps 14 B a parameter, 2294.8 GiB, and 327.8 GiB of bf16 weights; DeepSeek-V3 1.34 TB of those."""
    bloom = total_parameters(model("bloom-176b"))
    assert 14 * bloom / 2**30 == pytest.approx(2294.8, rel=0.005)
    assert 2 * bloom / 2**30 == pytest.approx(327.8, rel=0.005)
    assert 2 * total_parameters(model("deepseek-v3")) == pytest.approx(1.34e12, rel=0.005)


def test_a_70b_model_needs_fourteen_gpus_of_80_gb_for_its_state():
    assert 13 < 16 * total_parameters(model("llama-2-70b")) / 80e9 <= 14
    assert 8 * total_parameters(model("llama-3.1-70b")) == pytest.approx(565e9, rel=0.002)


def test_heads_of_llama_30b_divide_as_they_do():
    heads = model("llama-30b").heads
    assert [tensor for tensor in range(1, heads + 1) if heads % tensor == 0] == [1, 2, 4, 13, 26, 52]
