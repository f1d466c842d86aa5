"""`training.method` and `training.freeze`: what they take, and messages for what a model does not have."""

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import from_dict
from simulator.simulation import simulate
from simulator.workload.methods.base import TARGETS
from simulator.workload.methods.lora import Lora
from simulator.workload.methods.qlora import Qlora

SHAPE = {"layers": 4, "hidden": 256, "heads": 4, "vocabulary": 1000}


def scenario(model=None, **training):
    length = {"steps": 1, "sequence_length": 512, "global_batch": 8}
    cluster = {"host": "hgx-h100", "hosts": 1}
    return from_dict({"version": 1, "model": SHAPE | (model or {}), "cluster": cluster, "training": length | training})


def test_a_kind_alone_takes_its_defaults():
    assert scenario(method="lora").training.method == Lora()
    assert scenario(method={"kind": "qlora"}).training.method == Qlora()


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ({"method": {"kind": "lora", "targets": ["q_porj"]}}, "did you mean `?q_proj"),
        ({"method": {"kind": "lora", "targets": ["q_a_proj"]}}, "names no matrix of this model"),
        ({"method": {"kind": "lora", "rank": 0}}, "rank"),
        ({"freeze": ["norms"]}, "no part of a model"),
        ({"freeze": ["layers 0-4"]}, "not among the model's layers 0 to 3"),
        ({"freeze": ["layers 3-1"]}, "not among"),
        ({"freeze": ["layers " + 5000 * "9"]}, "no part of a model"),
        ({"method": "lora", "freeze": ["layers 0-3"]}, "nothing is left to train"),
        ({"freeze": ["embedding", "head", "layers 0-3"]}, "nothing is left to train"),
    ],
)
def test_what_a_model_does_not_have_is_named(training, message):
    with pytest.raises(ScenarioError, match=message):
        scenario(**training)


def test_modules_that_predict_further_tokens_are_left_out_of_fine_tuning():
    with pytest.raises(ScenarioError, match=r"set model\.mtp to 0"):
        scenario({"mtp": 1}, method="lora")


def test_tied_ends_are_frozen_together():
    with pytest.raises(ScenarioError, match="one matrix in this model"):
        scenario({"tied": True}, freeze=["head"])
    scenario({"tied": True}, freeze=["embedding", "head"])


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_target_names_a_matrix_of_some_model(target):
    latent = {
        "attention": {"kind": "mla", "q_rank": 64, "kv_rank": 64, "rope_size": 16, "nope_size": 64, "value_size": 64}
    }
    found = []
    for model in ({}, latent):
        try:
            found.append(scenario(model, method={"kind": "lora", "targets": [target]}))
        except ScenarioError:
            continue
    assert found


@pytest.mark.parametrize("layout", [{"tensor": 4}, {"pipeline": 2}, {"shard": "parameters"}, {"context": 2}])
@pytest.mark.parametrize("method", ["lora", "qlora", "dora"])
def test_adapters_go_through_every_axis(layout, method):
    """Less state and no slower than training all of it; parts sum to the step."""
    both = []
    for what in (method, "full"):
        length = {"steps": 1, "sequence_length": 4096, "global_batch": 32, "method": what}
        cluster = {"host": "hgx-h100", "hosts": 1}
        model = {"layers": 8, "hidden": 4096, "heads": 32, "vocabulary": 32000}
        both.append(
            simulate(
                from_dict(
                    {
                        "version": 1,
                        "model": model,
                        "cluster": cluster,
                        "training": length,
                        "parallelism": layout,
                        "runs": 1,
                    }
                )
            )
        )
    tuned, full = both
    assert tuned.step.time_s < full.step.time_s
    assert tuned.memory.peak_bytes < full.memory.peak_bytes
    assert sum(tuned.step.parts_s.values()) == pytest.approx(tuned.step.time_s)
