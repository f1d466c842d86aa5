"""The bytes that autograd really keeps of a layer, counted on the CPU, beside what the formulas say.

A storage counts once; parameters, rotary tables and masks, which are there once and for all, do not count. What a
kernel of the CPU keeps differently from one on a GPU is added where it differs: the mask of a dropout takes a value's
two bytes instead of one.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from real_layers import BATCH, SEQUENCE, Gpt, Llama, constants, saved_bytes
from torch.utils.checkpoint import checkpoint

from simulator.workload.layer import kept_bytes
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Parallelism
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.stack import Stack
from simulator.workload.training import Recompute, Training

pytestmark = pytest.mark.torch
HIDDEN, HEADS, KV_HEADS, FFN = 1024, 8, 2, 3584
"""Llama 3 8B at a quarter of its width."""
TOKENS = BATCH * SEQUENCE
WITHIN = 0.01


def formula(model: Model, stack: Stack, kind: str = "none") -> float:
    training = Training(sequence_length=SEQUENCE, microbatch=BATCH)
    return kept_bytes(Rank.of(model, stack, Parallelism(), training), blocks_of(model, 0), Recompute(kind=kind))


def gpt(dropout: float = 0.0) -> Model:
    return Model(
        layers=1,
        hidden=HIDDEN,
        heads=HEADS,
        vocabulary=51200,
        gated=False,
        activation="gelu",
        norm="layernorm",
        bias="all",
        dropout=dropout,
    )


LLAMA = Model(layers=1, hidden=HIDDEN, heads=HEADS, kv_heads=KV_HEADS, ffn=FFN, vocabulary=128256)
FLASH, UNFUSED = Stack(attention="flash-2"), Stack(attention="unfused")
EAGER = Stack(attention="flash-2", norm="eager", mlp="eager")


def counted(layer: torch.nn.Module, call=None) -> int:
    return saved_bytes(layer if call is None else call, HIDDEN, constants(layer))


def test_layer_norm_and_gelu_with_a_fused_attention_keep_32_hidden():
    found = counted(Gpt(HIDDEN, HEADS))
    assert found == pytest.approx(formula(gpt(), FLASH), rel=WITHIN)
    assert found == pytest.approx(32 * HIDDEN * TOKENS, rel=WITHIN)


def test_dropout_adds_its_masks():
    """Two masks of a byte a value on a GPU; the CPU's are of the values' own type, a byte more each."""
    on_the_cpu = 2 * HIDDEN * TOKENS
    found = counted(Gpt(HIDDEN, HEADS, dropout=0.1))
    assert found - on_the_cpu == pytest.approx(formula(gpt(0.1), FLASH), rel=WITHIN)
    assert found - on_the_cpu == pytest.approx(34 * HIDDEN * TOKENS, rel=WITHIN)


def test_unfused_attention_keeps_two_bytes_a_score():
    fused, unfused = counted(Gpt(HIDDEN, HEADS)), counted(Gpt(HIDDEN, HEADS, fused=False))
    statistics = 4 * HEADS * TOKENS
    assert unfused == pytest.approx(formula(gpt(), UNFUSED), rel=WITHIN)
    assert unfused - fused + statistics == pytest.approx(2 * HEADS * SEQUENCE * TOKENS, rel=WITHIN)


def test_unfused_attention_with_dropout_keeps_five_bytes_a_score():
    """The mask of the scores takes two bytes on the CPU, six in all."""
    scores = HEADS * SEQUENCE * TOKENS
    found = counted(Gpt(HIDDEN, HEADS, fused=False, dropout=0.1)) - 2 * HIDDEN * TOKENS - scores
    assert found == pytest.approx(formula(gpt(0.1), UNFUSED), rel=WITHIN)
    assert found == pytest.approx((34 * HIDDEN + 5 * HEADS * SEQUENCE) * TOKENS, rel=WITHIN)


def test_an_eager_llama_layer_keeps_49_hidden():
    found = counted(Llama(HIDDEN, HEADS, KV_HEADS, FFN))
    assert found == pytest.approx(formula(LLAMA, EAGER), rel=WITHIN)
    assert found == pytest.approx(49 * HIDDEN * TOKENS, rel=WITHIN)


def test_keys_and_values_repeated_for_every_head_are_kept_so():
    found = counted(Llama(HIDDEN, HEADS, KV_HEADS, FFN, repeats=True))
    repeats = Stack(attention="flash-2", norm="eager", mlp="eager", repeats_keys=True)
    assert found == pytest.approx(formula(LLAMA, repeats), rel=WITHIN)


def test_what_the_formulas_leave_out_are_the_statistics_of_the_norms():
    """Four bytes a token and norm: the fp32 root mean square; mean and deviation in 16 bit of a LayerNorm."""
    for layer, model, stack in (
        (Gpt(HIDDEN, HEADS), gpt(), FLASH),
        (Llama(HIDDEN, HEADS, KV_HEADS, FFN), LLAMA, EAGER),
    ):
        assert counted(layer) - formula(model, stack) == 2 * 4 * TOKENS


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
def test_a_compiled_llama_layer_keeps_34_hidden():
    """The partitioner of the compiler keeps what a minimal cut of the graph needs and works the rest out again."""
    layer = Llama(HIDDEN, HEADS, KV_HEADS, FFN)
    torch.compiler.reset()
    found = counted(layer, torch.compile(layer, backend="aot_eager_decomp_partition", fullgraph=True))
    assert found == pytest.approx(formula(LLAMA, FLASH), rel=WITHIN)
    assert found == pytest.approx(34 * HIDDEN * TOKENS, rel=WITHIN)


@pytest.mark.parametrize(
    ("layer", "model"),
    [(Gpt(HIDDEN, HEADS), gpt()), (Llama(HIDDEN, HEADS, KV_HEADS, FFN), LLAMA)],
    ids=["gpt", "llama"],
)
def test_a_checkpoint_keeps_the_input_of_the_layer(layer, model):
    found = counted(layer, lambda inputs: checkpoint(layer, inputs, use_reentrant=True))
    assert found == formula(model, FLASH, "full") == 2 * HIDDEN * TOKENS


def test_fewer_key_and_value_heads_keep_less():
    """Keys and values of two heads instead of eight: 2 x 2 bytes x hidden x (1 - 1/4)."""
    many, few = (counted(Llama(HIDDEN, HEADS, heads, FFN)) for heads in (HEADS, KV_HEADS))
    assert many - few == 4 * HIDDEN * (1 - KV_HEADS / HEADS) * TOKENS
