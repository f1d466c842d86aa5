"""What follows from the fields of a model."""

import pytest

from simulator.workload.blocks.attention import Window
from simulator.workload.blocks.experts import ExpertMlp
from simulator.workload.blocks.latent import Latent
from simulator.workload.layers import blocks_of
from simulator.workload.model import Experts, Model


def test_numbers_left_out_follow_from_the_others():
    model = Model(layers=1, hidden=64, heads=4, vocabulary=10)
    assert (model.kv_heads, model.head_size, model.ffn) == (4, 16, 256)


def test_equal_shapes_are_one_key_of_a_cache():
    given = Model(layers=1, hidden=64, heads=4, kv_heads=4, head_size=16, ffn=256, vocabulary=10)
    assert hash(given) == hash(Model(layers=1, hidden=64, heads=4, vocabulary=10))


def test_latent_heads_have_their_own_sizes():
    latent = Latent(q_rank=8, kv_rank=8, rope_size=2, nope_size=6, value_size=5)
    model = Model(layers=1, hidden=64, heads=4, vocabulary=10, attention=latent)
    assert (latent.query_width(model), latent.value_width(model)) == (8, 5)


@pytest.mark.parametrize(
    ("dense", "every", "layers"),
    [(0, 1, [0, 1, 2, 3, 4, 5]), (2, 1, [2, 3, 4, 5]), (0, 2, [1, 3, 5]), (1, 2, [2, 4])],
)
def test_experts_sit_after_the_dense_layers(dense, every, layers):
    experts = Experts(count=4, active=1, ffn=8, dense_layers=dense, every=every)
    model = Model(layers=6, hidden=8, heads=1, vocabulary=10, experts=experts)
    assert [layer for layer in range(6) if ExpertMlp(experts) in blocks_of(model, layer)] == layers


@pytest.mark.parametrize(("full_every", "windows"), [(0, [4, 4, 4, 4]), (2, [4, None, 4, None])])
def test_some_layers_may_see_everything(full_every, windows):
    model = Model(layers=4, hidden=8, heads=1, vocabulary=10, attention=Window(window=4, full_every=full_every))
    assert [model.attention.at(layer).reach for layer in range(4)] == windows
