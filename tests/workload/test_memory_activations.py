"""Bytes kept for the backward, against the published closed forms and counts on real layers."""

from __future__ import annotations

import pytest

from simulator.workload.blocks.head import Head
from simulator.workload.blocks.latent import Latent
from simulator.workload.layer import kept
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Context, Parallelism
from simulator.workload.model import Experts, Model
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Precision, Recompute, Training

ALONE = Parallelism()
MEGATRON = Stack(attention="unfused")
EAGER = Stack(attention="flash-2", norm="eager", mlp="eager")


def gpt(layers: int = 1, hidden: int = 4096, heads: int = 32, dropout: float = 0.1) -> Model:
    return Model(
        layers=layers,
        hidden=hidden,
        heads=heads,
        vocabulary=51200,
        gated=False,
        activation="gelu",
        norm="layernorm",
        dropout=dropout,
    )


def llama(hidden: int = 4096, heads: int = 32, kv_heads: int = 8, ffn: int = 14336) -> Model:
    return Model(layers=32, hidden=hidden, heads=heads, kv_heads=kv_heads, ffn=ffn, vocabulary=128256)


def rank(model, stack, training, layout=ALONE):
    return Rank.of(model, stack, layout, training)


def layer(one, kind="none", modules=()):
    """Return what the first layer of a rank's model keeps, term by term."""
    return kept(one, blocks_of(one.model, 0), Recompute(kind=kind, modules=modules))


def bytes_kept(
    model, stack=MEGATRON, *, sequence=2048, microbatch=1, tensor=1, scattered=False, context=1, kind="none", modules=()
) -> float:
    parallelism = Parallelism(tensor=tensor, sequence=scattered, context=Context(size=context))
    training = Training(sequence_length=sequence, microbatch=microbatch)
    return sum(layer(rank(model, stack, training, parallelism), kind, modules).values())


@pytest.mark.parametrize("tensor", [1, 2, 8])
@pytest.mark.parametrize("hidden, heads, sequence, microbatch", [(6144, 64, 2048, 4), (12288, 96, 2048, 1)])
def test_korthikanti_equations_1_to_4(tensor, hidden, heads, sequence, microbatch):
    model, sbh = gpt(hidden=hidden, heads=heads), sequence * microbatch * hidden
    scores = 5 * heads * sequence / hidden
    size = {"sequence": sequence, "microbatch": microbatch, "tensor": tensor}
    assert bytes_kept(model, **size) == pytest.approx(sbh * (10 + 24 / tensor + scores / tensor))
    assert bytes_kept(model, **size, scattered=True) == pytest.approx(sbh / tensor * (34 + scores))
    assert bytes_kept(model, **size, kind="selective") == pytest.approx(sbh * (10 + 24 / tensor))
    assert bytes_kept(model, **size, scattered=True, kind="selective") == pytest.approx(34 * sbh / tensor)
    assert bytes_kept(model, **size, kind="full") == pytest.approx(2 * sbh)


KORTHIKANTI = [
    # layers in flight on the first stage: interleaving holds (1 + (p - 1)/(p v)) as much
    (48, 6144, 64, 4, 1, 1, 59.25, 9.5625),
    (96, 12288, 96, 1, 8, 3, 66.84, 12.35),
    (105, 20480, 128, 1, 35, 3, 114.02, 23.08),
    (128, 25600, 160, 1, 64, 1, 131.25, 26.56),
]


@pytest.mark.parametrize("layers, hidden, heads, microbatch, pipeline, chunks, none, selective", KORTHIKANTI)
def test_korthikanti_figure_1(layers, hidden, heads, microbatch, pipeline, chunks, none, selective):
    factor = 1 + (pipeline - 1) / (pipeline * chunks) if chunks > 1 else 1
    model, size = gpt(hidden=hidden, heads=heads), {"microbatch": microbatch, "tensor": 8}
    plain = bytes_kept(model, **size) * layers * factor / 2**30
    scattered = bytes_kept(model, **size, scattered=True, kind="selective") * layers * factor / 2**30
    assert plain == pytest.approx(none, rel=1e-3)
    assert scattered == pytest.approx(selective, rel=1e-3)


def per_token_and_hidden(model, stack, **size) -> float:
    return bytes_kept(model, stack, sequence=1024, **size) / 1024 / model.hidden


def test_counts_of_real_layers_per_token_and_hidden():
    """Counted with autograd's saved-tensor hooks on the CPU, one storage once; fused is what the compiler saves."""
    flash = Stack(attention="flash-2")
    statistics = 4 * 32 / 4096
    assert per_token_and_hidden(gpt(dropout=0), flash) - statistics == pytest.approx(32.08, rel=0.01)
    assert per_token_and_hidden(gpt(), flash) - statistics == pytest.approx(34, rel=0.01)
    assert per_token_and_hidden(llama(), flash) == pytest.approx(34.2, rel=0.01)
    assert per_token_and_hidden(llama(), EAGER) == pytest.approx(49.3, rel=0.01)
    assert per_token_and_hidden(llama(), EAGER, kind="full") == 2.0


def test_grouped_queries_save_keys_and_values():
    whole, grouped = llama(kv_heads=32), llama(kv_heads=8)
    saved = bytes_kept(whole, EAGER) - bytes_kept(grouped, EAGER)
    assert saved == pytest.approx(4 * 4096 * (1 - 8 / 32) * 2048)


def test_unfused_attention_keeps_2as_and_dropout_5as():
    scores = 32 * 2048 * 2048
    for dropout, width in ((0.0, 2), (0.1, 5)):
        model = gpt(dropout=dropout)
        flash = bytes_kept(model, Stack(attention="flash-2")) - 4 * 32 * 2048
        assert bytes_kept(model) - flash == pytest.approx(width * scores)


def test_a_4096_wide_layer_at_4096_tokens_keeps_134_mb_by_the_four_tensor_rule():
    terms = layer(rank(llama(), Stack(), Training(sequence_length=4096)))
    assert terms["norm inputs"] + terms["norm outputs"] == 4 * 4096 * 4096 * 2
    assert terms["norm inputs"] + terms["norm outputs"] == pytest.approx(134e6, rel=0.005)


def test_kept_gathers_are_not_divided_by_tensor():
    model, size = llama(kv_heads=32), {"tensor": 8, "scattered": True}
    more = bytes_kept(model, Stack(saved_gathers=True), **size) - bytes_kept(model, Stack(), **size)
    assert more == pytest.approx(4 * 4096 * 2048 * (1 - 1 / 8))


def test_context_divides_the_tokens():
    whole = bytes_kept(llama(), Stack(), sequence=8192)
    assert bytes_kept(llama(), Stack(), sequence=8192, context=4) == pytest.approx(whole / 4)


def test_single_precision_keeps_twice_as_much():
    flash = Stack(attention="flash-2")
    half = rank(llama(), flash, Training(precision=Precision(kind="bf16")))
    single = rank(llama(), flash, Training(precision=Precision(kind="fp32")))
    statistics = layer(half)["attention statistics"]
    assert sum(layer(single).values()) - statistics == 2 * (sum(layer(half).values()) - statistics)


def test_fp8_keeps_inputs_of_products_in_one_byte():
    stack = Stack(quantized_saves=True)
    half = layer(rank(llama(), stack, Training()))
    small = layer(rank(llama(), stack, Training(precision=Precision(kind="fp8"))))
    assert small["norm outputs"] == half["norm outputs"] / 2
    assert small["mlp activation"] == half["mlp activation"] / 2
    assert small["mlp inner"] == half["mlp inner"]


def test_operations_of_torchtitan_keep_half_of_the_products():
    model, stack = llama(), Stack(attention="flash-2", selective="operations")
    expected = 2 + 2 + 2 * 8 / 32 + 2 + 2 * 3.5 + 2
    assert per_token_and_hidden(model, stack, kind="selective") == pytest.approx(expected)


def test_experts_keep_what_active_tokens_pass():
    model = Model(
        layers=4, hidden=1024, heads=8, ffn=4096, vocabulary=1024, experts=Experts(count=8, active=2, ffn=512)
    )
    one = rank(model, Stack(), Training(sequence_length=1000))
    terms = layer(one)
    assert terms["expert inputs"] == 2 * 1024 * 1000 * 2
    assert terms["expert inner"] == 2 * 2 * 512 * 1000 * 2
    assert "mlp inner" not in terms
    assert layer(one, "selective", ("moe_activation",)) == {
        name: nbytes for name, nbytes in terms.items() if name != "expert activation"
    }


def test_latent_attention_recomputes_its_up_projections():
    latent = Latent(q_rank=1536, kv_rank=512, rope_size=64, nope_size=128, value_size=128)
    model = Model(layers=1, hidden=7168, heads=128, ffn=18432, vocabulary=1024, attention=latent)
    one = rank(model, Stack(), Training(sequence_length=1))
    terms = layer(one)
    assert terms["queries"] == 2 * 128 * 192
    assert terms["keys and values"] == 2 * 128 * (192 + 128)
    assert terms["latents"] == 2 * (2 * (1536 + 512) + 64)
    assert "queries" not in layer(one, "selective", ("mla_up",))


@pytest.mark.parametrize("loss_bytes, expected", [(8.1, 8.1), (14.1, 14.1)])
def test_logits_of_llama_3_at_8192_tokens(loss_bytes, expected):
    one = rank(llama(), Stack(loss_bytes=loss_bytes), Training(sequence_length=8192))
    norm = 3 * 2 * 4096 * 8192
    assert Head().peak(one) - norm == pytest.approx(expected * 8192 * 128256)
