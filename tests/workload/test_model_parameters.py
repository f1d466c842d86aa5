"""Parameters of a model: parts that sum, and what a rank holds of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_entries import NAMES, model

from simulator.workload.blocks.latent import Latent
from simulator.workload.layers import blocks_of, layers_of
from simulator.workload.layout import Parallelism
from simulator.workload.model import Experts, Model
from simulator.workload.parameters import (
    active_parameters,
    embedding_on_rank,
    head_on_rank,
    layer_on_rank,
    layer_parts,
    mtp_on_rank,
    mtp_parameters,
    parameters,
    table_on_rank,
    total_parameters,
)
from simulator.workload.rank import Rank, padded_vocabulary
from simulator.workload.stack import Stack
from simulator.workload.training import Training

H, L, V = 64, 3, 1000
GPT = {"layers": L, "hidden": H, "heads": 4, "vocabulary": V, "gated": False, "norm": "layernorm", "bias": "all"}


def rank(shape: Model, **axes: int) -> Rank:
    return Rank.of(shape, Stack(), Parallelism(**axes), Training())


def last_layer(shape: Model) -> list:
    return list(layer_parts(shape, layers_of(shape)[-1]))


def test_gpt_has_narayanans_closed_form():
    """12 L h^2 (1 + 13/12h + (V + s)/12Lh) and the final norm (arXiv 2104.04473, equation 2)."""
    gpt = Model(**GPT, tied=True, positions="learned", max_positions=100)
    assert total_parameters(gpt) == L * (12 * H * H + 13 * H) + (V + 100) * H + 2 * H


def test_llama_has_four_and_three_matrices_a_layer():
    llama = Model(layers=L, hidden=H, heads=4, ffn=150, vocabulary=V)
    assert total_parameters(llama) == L * (4 * H * H + 3 * H * 150 + 2 * H) + H + 2 * V * H


@pytest.mark.parametrize(("tied", "tables"), [(True, 1), (False, 2)])
def test_a_tied_head_is_counted_once(tied, tables):
    counts = parameters(Model(layers=L, hidden=H, heads=4, vocabulary=V, tied=tied))
    assert counts["token_embedding"] + counts.get("head", 0) == tables * V * H


@pytest.mark.parametrize(("kv_heads", "share"), [(4, 1), (2, 1 / 2), (1, 1 / 4)])
def test_grouped_queries_share_keys_and_values(kv_heads, share):
    counts = parameters(Model(layers=1, hidden=H, heads=4, kv_heads=kv_heads, vocabulary=V))
    assert counts["key"] == counts["value"] == share * counts["query"]


def test_biases_come_to_all_three_or_every_matrix():
    def bias(kind):
        return total_parameters(Model(**{**GPT, "bias": kind}))

    assert bias("qkv") - bias("none") == L * 3 * H
    assert bias("all") - bias("none") == L * 9 * H


@pytest.mark.parametrize(("qk_norm", "size"), [("none", 0), ("head", 2 * 16), ("full", H + H // 2)])
def test_queries_and_keys_may_be_normed_by_head_or_whole(qk_norm, size):
    plain = {"layers": L, "hidden": H, "heads": 4, "kv_heads": 2, "vocabulary": V}
    assert total_parameters(Model(**plain, qk_norm=qk_norm)) - total_parameters(Model(**plain)) == L * size


def test_norms_have_a_bias_only_as_layer_norms():
    def norms(**fields):
        counts = parameters(Model(layers=L, hidden=H, heads=4, vocabulary=V, embedding_norm=True, **fields))
        return counts["norms"] + counts["final_norm"] + counts["embedding_norm"]

    assert norms() == (2 * L + 2) * H
    assert norms(norm="layernorm") == 2 * norms()
    assert norms(norm="layernorm", norm_bias=False) == norms()
    assert norms(norms=4) == (4 * L + 2) * H


def test_latent_attention_has_the_matrices_of_its_paper():
    """arXiv 2405.04434, equations 37-47: down, up and norm of queries and of keys and values, one shared rotary key."""
    latent = Latent(q_rank=24, kv_rank=16, rope_size=4, nope_size=8, value_size=6)
    counts = parameters(Model(layers=1, hidden=H, heads=4, vocabulary=V, attention=latent))
    queries = H * 24 + 24 + 24 * 4 * (8 + 4)
    keys_and_values = H * (16 + 4) + 16 + 16 * 4 * (8 + 6)
    assert sum(counts[part] for part in ("query_down", "query_latent_norm", "query_up")) == queries
    assert sum(counts[f"key_value_{part}"] for part in ("down", "latent_norm", "up")) == keys_and_values
    assert counts["output"] == 4 * 6 * H


def test_a_token_meets_only_its_experts_and_the_shared_ones():
    experts = Experts(count=8, active=2, ffn=10, shared=1, dense_layers=1)
    moe = Model(layers=L, hidden=H, heads=4, ffn=100, vocabulary=V, experts=experts)
    assert parameters(moe)["experts"] == (L - 1) * 8 * 3 * H * 10
    assert parameters(moe)["shared_expert_up"] == (L - 1) * H * 10
    assert total_parameters(moe) - active_parameters(moe) == (L - 1) * 6 * 3 * H * 10


def test_an_mtp_module_is_a_layer_a_projection_and_three_norms():
    shape = Model(layers=L, hidden=H, heads=4, vocabulary=V, mtp=2)
    layer = sum(part.size for part in last_layer(shape))
    assert sum(mtp_parameters(shape).values()) == 2 * (layer + 2 * H * H + 3 * H)
    assert total_parameters(shape) == total_parameters(Model(layers=L, hidden=H, heads=4, vocabulary=V))


@pytest.mark.parametrize("name", NAMES)
def test_parts_sum_to_the_total(name):
    shape = model(name)
    outside = sum(parameters(shape)[part] for part in parameters(shape) if part in ENDS)
    layers = sum(part.size for blocks in layers_of(shape)[: shape.layers] for part in layer_parts(shape, blocks))
    assert outside + layers == total_parameters(shape)


ENDS = ("token_embedding", "position_embedding", "embedding_norm", "final_norm", "head")


@given(tensor=st.sampled_from([1, 2, 4, 8]), name=st.sampled_from(NAMES))
def test_tensor_parallelism_divides_matrices_and_no_norm(tensor, name):
    shape = model(name)
    ways = {"replicated": 1, "tensor": tensor, "key_value": min(tensor, shape.kv_heads)}
    parts = last_layer(shape)
    assert {part.division for part in parts if part.name == "norms"} == {"replicated"}
    dense = sum(part.size / ways[part.division] for part in parts if part.division in ways)
    assert layer_on_rank(rank(shape, tensor=tensor), layers_of(shape)[-1]).dense == pytest.approx(dense)


@pytest.mark.parametrize(("tensor", "heads_held"), [(1, 2), (2, 1), (4, 1)])
def test_two_kv_heads_over_four_ranks_are_copied_and_not_multiplied(tensor, heads_held):
    """Four ranks hold one of two heads each, twice (sgl-project/sglang pull 19086)."""
    shape = Model(layers=1, hidden=H, heads=4, kv_heads=2, vocabulary=V)
    held = layer_on_rank(rank(shape, tensor=tensor), blocks_of(shape, 0)).dense
    without = held - 2 * H * shape.head_size * heads_held
    matrices = sum(part.size for part in last_layer(shape) if part.division == "tensor")
    assert without == 2 * H + matrices / tensor


@pytest.mark.parametrize(("expert", "expert_tensor"), [(1, 1), (8, 1), (4, 2), (2, 4)])
def test_experts_are_divided_by_their_own_axes(expert, expert_tensor):
    moe = model("mixtral-8x7b")
    held = layer_on_rank(rank(moe, tensor=8, expert=expert, expert_tensor=expert_tensor), blocks_of(moe, 0))
    assert held.experts == 8 * 3 * 4096 * 14336 / (expert * expert_tensor)


def test_one_rank_holds_a_slice_of_the_padded_table():
    shape = Model(**GPT, tied=True, positions="learned", max_positions=100)
    one = rank(shape, tensor=8)
    assert table_on_rank(one) == 1024 * H / 8
    assert embedding_on_rank(one) == 1024 * H / 8 + 100 * H
    assert head_on_rank(one, beside_embedding=False) == 2 * H + 1024 * H / 8
    assert head_on_rank(one, beside_embedding=True) == 2 * H


def test_mtp_modules_of_a_rank_scale_with_their_number():
    one = Model(layers=L, hidden=H, heads=4, vocabulary=V, mtp=1)
    assert mtp_on_rank(rank(one)) == (sum(mtp_parameters(one).values()), 0)
    assert mtp_on_rank(rank(Model(layers=L, hidden=H, heads=4, vocabulary=V))) == (0, 0)


@pytest.mark.parametrize(
    ("tensor", "multiple", "rows"), [(8, 128, 152_576), (8, 1187, 151_936), (1, 128, 151_936), (16, 128, 153_600)]
)
def test_the_vocabulary_is_padded_to_whole_blocks_a_rank(tensor, multiple, rows):
    """Qwen3's 151,936 over 8 ranks (NVIDIA/Megatron-LM issue 1702)."""
    assert padded_vocabulary(151_936, tensor, multiple) == rows
