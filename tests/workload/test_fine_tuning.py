"""Adapters and frozen weights: counts, states, saved bytes and FLOPs as closed forms."""

from dataclasses import replace

import pytest

from simulator.sums import added
from simulator.workload import frozen, layer, states
from simulator.workload.blocks.attention import Full as FullAttention
from simulator.workload.blocks.head import Head
from simulator.workload.flops import flops_per_token, multiplied_parameters, trained_flops_per_token
from simulator.workload.layout import Parallelism, Shard
from simulator.workload.learning import layers
from simulator.workload.methods.base import WIDTHS
from simulator.workload.methods.dora import Dora
from simulator.workload.methods.full import Full
from simulator.workload.methods.lora import Lora
from simulator.workload.methods.qlora import Qlora
from simulator.workload.model import Model
from simulator.workload.operations import Exchange, Gemm
from simulator.workload.parameters import frozen_layer_parts, total_parameters, trained_parameters
from simulator.workload.rank import Rank
from simulator.workload.replica import Replica, state
from simulator.workload.stack import Stack, States
from simulator.workload.training import Training
from simulator.workload.tuning import Tuning

LLAMA_3_8B = Model(layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=128256)
LLAMA_2_70B = Model(layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, vocabulary=32000)
SMALL = Model(layers=4, hidden=64, heads=4, kv_heads=2, ffn=256, vocabulary=1000)
EVERYWHERE = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def rank(method=None, model=SMALL, freeze=(), parallelism=None, data=1, stack=None, **keys):
    said = Training(sequence_length=128, method=method or Full(), freeze=freeze, **keys)
    return Rank.of(model, stack or Stack(), parallelism or Parallelism(), said, data=data)


def replica(one, parallelism=None, microbatches=1):
    said = Training(sequence_length=128, method=one.tuning.method, freeze=one.tuning.freeze)
    return Replica.of(one, parallelism or Parallelism(), said, microbatches)


@pytest.mark.parametrize(
    ("model", "method", "count"),
    [
        (LLAMA_3_8B, Lora(rank=8, targets=("q_proj", "v_proj")), 3_407_872),
        (LLAMA_3_8B, Lora(rank=16, targets=EVERYWHERE), 41_943_040),
        (LLAMA_3_8B, Lora(rank=16, targets=("all-linear",)), 41_943_040),
        (LLAMA_2_70B, Lora(rank=16, targets=("linear_qkv", "linear_proj")), 80 * 16 * (8192 + 10240 + 2 * 8192)),
        (LLAMA_3_8B, Dora(rank=8, targets=("q_proj", "v_proj")), 3_407_872 + 32 * (4096 + 1024)),
        (SMALL, Lora(rank=4, modules_to_save=("head",)), 4 * 4 * (64 + 64 + 64 + 32) + 64_000),
    ],
)
def test_trained_parameters_are_exact(model, method, count):
    """3,407,872 and 41,943,040 are what PEFT prints of Llama-3-8B."""
    assert trained_parameters(model, Tuning(method=method)) == count


def test_full_training_trains_everything():
    assert trained_parameters(LLAMA_3_8B, Tuning()) == total_parameters(LLAMA_3_8B)


def test_frozen_parts_are_not_trained():
    whole = total_parameters(SMALL)
    each = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 256 + 2 * 64
    left = trained_parameters(SMALL, Tuning(freeze=("embedding", "layers 0-2")))
    assert left == whole - 64_000 - 3 * each


def test_a_fused_target_has_one_adapter():
    fused = Lora(rank=8, targets=("linear_qkv",))
    apart = Lora(rank=8, targets=("q_proj", "k_proj", "v_proj"))
    difference = trained_parameters(SMALL, Tuning(method=apart)) - trained_parameters(SMALL, Tuning(method=fused))
    assert difference == 4 * 2 * 8 * 64


# States.


def test_frozen_weights_have_two_bytes_and_nothing_else():
    one = rank(Lora(rank=8))
    (contents,) = replica(one).stages
    held, width = state(one, contents), states.widths(one)
    trained = trained_parameters(SMALL, one.tuning)
    padded = 2 * (one.vocabulary - SMALL.vocabulary) * SMALL.hidden
    assert frozen.held(one, contents) == 2 * (total_parameters(SMALL) + padded)
    assert tuple(held) == (trained * width.weights, trained * width.gradients, trained * width.optimizer)


def test_a_quantised_base_takes_its_width_in_layers_alone():
    one = rank(Qlora(rank=8))
    blocks = layers(SMALL, one.tuning)[0]
    matrices = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 256
    assert frozen.layer_bytes(one, blocks).dense == matrices * WIDTHS["nf4"] + 2 * 2 * 64
    upcast = rank(Qlora(rank=8), stack=Stack(small_weights="fp32"))
    assert frozen.layer_bytes(upcast, blocks).dense == matrices * WIDTHS["nf4"] + 4 * 2 * 64


def test_nf4_is_what_qlora_states():
    """0.127 bits per weight of constants with double quantisation (arXiv 2305.14314, section 3)."""
    assert 8 * (WIDTHS["nf4"] - 0.5) == pytest.approx(0.127, abs=5e-4)


def test_parameter_sharding_shares_out_the_frozen_weights():
    sharded = Parallelism(shard=Shard(level="parameters"))
    alone, among = rank(Lora(rank=8)), rank(Lora(rank=8), parallelism=sharded, data=8)
    (contents,) = replica(alone).stages
    assert frozen.held(among, contents) == pytest.approx(frozen.held(alone, contents) / 8)


def test_a_checkpoint_holds_adapters_alone():
    one = rank(Lora(rank=8))
    assert states.checkpoint(one) == trained_parameters(SMALL, one.tuning) * 14
    everything = total_parameters(SMALL) * 14
    some = rank(freeze=("layers 0-1",))
    assert states.checkpoint(rank()) == everything
    assert states.checkpoint(some) == everything - 12 * (
        total_parameters(SMALL) - trained_parameters(SMALL, some.tuning)
    )


# Operations.


def works(program, kind, word=""):
    return [one for one in program if isinstance(one.work, kind) and word in one.name]


def test_a_frozen_matrix_has_no_weight_gradient():
    one = rank(Lora(rank=8, targets=("q_proj",)))
    blocks = layers(SMALL, one.tuning)[0]
    backward = layer.backward(one, blocks)
    assert [op.name for op in backward if op.weight_gradient] == ["qkv adapter up wgrad", "qkv adapter down wgrad"]
    frozen_products = [op for op in works(backward, Gemm, "dgrad") if "adapter" not in op.name]
    whole = works(layer.backward(rank(), layers(SMALL, Tuning())[0]), Gemm, "dgrad")
    assert [op.work for op in frozen_products] == [op.work for op in whole]


def test_thin_products_have_the_flops_of_their_parameters():
    """2 per parameter and token forward, 4 backward."""
    one = rank(Lora(rank=8, targets=EVERYWHERE))
    blocks, tokens = layers(SMALL, one.tuning)[0], 128
    each = trained_parameters(SMALL, one.tuning) / SMALL.layers
    for program, factor in ((layer.forward(one, blocks), 2), (layer.backward(one, blocks), 4)):
        thin = works(program, Gemm, "adapter")
        assert sum(2 * op.work.m * op.work.n * op.work.k for op in thin) == factor * each * tokens


def test_layers_below_everything_that_learns_have_no_backward():
    one = rank(freeze=("embedding", "layers 0-1"))
    kinds = layers(SMALL, one.tuning)
    assert layer.backward(one, kinds[1]) == ()
    assert layer.kept(one, kinds[1]) == {}
    assert layer.backward(one, kinds[2]) == layer.backward(rank(), layers(SMALL, Tuning())[2])
    passing = layers(SMALL, Tuning(freeze=("layers 0-1",)))
    under = layer.backward(rank(freeze=("layers 0-1",)), passing[1])
    assert under
    assert not any(op.weight_gradient for op in under)


def test_quantised_weights_are_written_in_full_in_every_pass():
    one = rank(Qlora(rank=8))
    blocks = layers(SMALL, one.tuning)[0]
    matrices = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 256
    for program in (layer.forward(one, blocks), layer.backward(one, blocks)):
        moved = sum(op.work.nbytes for op in program if op.name.endswith("dequantise"))
        assert moved == pytest.approx(matrices * (WIDTHS["nf4"] + 2))


def test_adapters_of_split_products_exchange_their_thin_values():
    split = Parallelism(tensor=2)
    one = rank(Lora(rank=8, targets=("linear_qkv", "linear_proj")), parallelism=split)
    blocks = layers(SMALL, one.tuning)[0]
    sent = {op.name: op.work for op in works(layer.forward(one, blocks), Exchange, "adapter")}
    assert sent == {
        "qkv adapter exchange": Exchange("tensor", "all_gather", 128 * 8 * 2.0),
        "attention out adapter exchange": Exchange("tensor", "all_reduce", 128 * 8 * 2.0),
        "attention out adapter gather": Exchange("tensor", "all_gather", 128 * 64 * 2.0),
    }


# What is saved.


def test_frozen_products_do_not_save_their_inputs():
    """Norms, attention and activations still save theirs; an MLP without adapters saves no product's input."""
    whole = layer.kept(rank(), layers(SMALL, Tuning())[0])
    one = rank(Lora(rank=8, targets=("q_proj",)))
    thin = layer.kept(one, layers(SMALL, one.tuning)[0])
    assert whole.keys() - thin.keys() == {"mlp activation"}
    assert thin["norm outputs"] == whole["norm outputs"] / 2
    assert thin["attention adapters"] == 128 * 8 * 2


def test_dropout_costs_a_copy_of_each_input_with_its_mask():
    dropped = rank(Lora(rank=8, targets=("q_proj", "v_proj"), dropout=0.1))
    terms = layer.kept(dropped, layers(SMALL, dropped.tuning)[0])
    assert terms["attention adapters"] == 2 * 128 * (64 * 3 + 8 * 2)
    assert "norm outputs" not in terms


@pytest.mark.parametrize("method", [Lora(), Lora(targets=EVERYWHERE), Lora(dropout=0.1), Qlora(), Dora()])
def test_a_layer_of_adapters_never_saves_less_than_attention_needs(method):
    one = rank(method)
    kept = layer.kept(one, layers(SMALL, one.tuning)[0])
    needed = FullAttention().kept(one)
    assert added(kept.values()) >= added(needed.values())


# FLOPs.


def test_model_flops_of_adapters_are_four_per_frozen_weight():
    tuning = Tuning(method=Lora(rank=8))
    trained = trained_parameters(LLAMA_3_8B, tuning)
    assert trained_flops_per_token(LLAMA_3_8B, tuning, 4096, "6n") == (
        4 * multiplied_parameters(LLAMA_3_8B) + 6 * trained
    )
    core = flops_per_token(LLAMA_3_8B, 4096) - 6 * multiplied_parameters(LLAMA_3_8B)
    assert trained_flops_per_token(LLAMA_3_8B, tuning, 4096) - trained_flops_per_token(
        LLAMA_3_8B, tuning, 4096, "6n"
    ) == pytest.approx(core)


def test_full_training_counts_as_before():
    assert trained_flops_per_token(LLAMA_3_8B, Tuning(), 4096) == flops_per_token(LLAMA_3_8B, 4096)


def test_layers_without_a_backward_count_two_per_weight():
    frozen_layers = Tuning(freeze=("embedding", "layers 0-1"))
    each = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 256 + 2 * 64
    whole = flops_per_token(SMALL, 128, "6n")
    assert trained_flops_per_token(SMALL, frozen_layers, 128, "6n") == whole - 2 * 4 * each


def test_freezing_never_adds_flops_memory_or_parameters():
    less = replace(Tuning(), freeze=("layers 0-1",))
    least = replace(Tuning(), freeze=("embedding", "layers 0-1"))
    for one, other in ((Tuning(), less), (less, least)):
        assert trained_parameters(SMALL, one) > trained_parameters(SMALL, other)
        assert trained_flops_per_token(SMALL, one, 128) > trained_flops_per_token(SMALL, other, 128)


def test_frozen_weights_have_gradients_where_they_share_a_unit_with_ones_that_learn():
    """Whole, two bytes each, until the last microbatch; shared out where there is only one."""
    sharded = Parallelism(shard=Shard(level="parameters"))
    shared = Stack(shard="parameters", frozen_gradients=True)
    one = rank(Lora(rank=4), stack=shared, parallelism=sharded, data=2)
    layers_alone = replica(one, sharded, 2).stages[0]
    weights = added(
        2.0 * part.size for blocks in layers(SMALL, one.tuning) for part in frozen_layer_parts(SMALL, blocks)
    )
    assert frozen.gradients(one, layers_alone, 2) == pytest.approx(weights)
    assert frozen.gradients(one, layers_alone, 1) == pytest.approx(weights / 2)
    assert frozen.gradients(replace(one, stack=Stack(shard="parameters")), layers_alone, 2) == 0
    assert frozen.gradients(rank(stack=shared, parallelism=sharded, data=2), layers_alone, 2) == 0


def test_shards_in_fp32_are_16_bytes_per_parameter_whatever_the_formats():
    low = States(weights="bf16", gradients="bf16", master="none", moments="bf16")
    sharded = Parallelism(shard=Shard(level="parameters"))
    stack = Stack(shard="parameters", fp32_shards=True)
    one = rank(stack=stack, parallelism=sharded, data=4, states=low)
    assert added(states.held(1000.0, 4, one)) == pytest.approx(1000 * (4 + 4 + 8) / 4)
    assert states.widths(one).compute == 2
    alone = rank(stack=stack, states=low)
    assert added(states.held(1000.0, 1, alone)) == pytest.approx(1000 * 8)


def test_a_gptq_base_leaves_small_weights_alone():
    upcast = Stack(small_weights="fp32")
    assert frozen.width(rank(Qlora(base="nf4"), stack=upcast), matrix=False) == 4
    assert frozen.width(rank(Qlora(base="int4"), stack=upcast), matrix=False) == 2


def test_logits_of_one_sequence_are_not_copied():
    stack, copied = Stack(loss_bytes=16, loss_shift=4), Stack(loss_bytes=16)
    entries = 128 * Head()._loss_width(rank())
    assert Head().peak(rank(stack=copied)) - Head().peak(rank(stack=stack)) == pytest.approx(4 * entries)
    two = {"microbatch": 2}
    assert Head().peak(rank(stack=copied, **two)) == Head().peak(rank(stack=stack, **two))


@pytest.mark.parametrize("freeze", [(), ("embedding",), ("layers 0-2", "head")])
def test_a_checkpoint_has_frozen_parts_of_full_training_as_weights_alone(freeze):
    one = rank(freeze=freeze)
    width, learning = states.widths(one), trained_parameters(SMALL, one.tuning)
    still = total_parameters(SMALL) - learning
    assert states.checkpoint(one) == pytest.approx(learning * 14 + still * width.compute)


def test_a_checkpoint_of_adapters_has_no_frozen_weights():
    one = rank(Lora(rank=4))
    assert states.checkpoint(one) == trained_parameters(SMALL, one.tuning) * 14


def test_beside_adapters_only_the_table_of_an_end_learns():
    model = replace(SMALL, positions="learned", max_positions=128, embedding_norm=True)
    saved = trained_parameters(model, Tuning(method=Lora(rank=4, modules_to_save=("embedding",))))
    assert saved - trained_parameters(model, Tuning(method=Lora(rank=4))) == 1000 * 64
