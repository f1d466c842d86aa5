"""``--set key=value`` changes one key, on a name as on a mapping, and its mistakes are told like the file's."""

from __future__ import annotations

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import from_dict


def test_a_key_that_is_there_is_changed(minimal):
    assert from_dict(minimal, overrides=["cluster.hosts=8"]).cluster.hosts == 8


def test_sections_on_the_way_are_made(minimal):
    scenario = from_dict(minimal, overrides=["parallelism.schedule.kind=gpipe", "parallelism.pipeline=4"])
    assert (scenario.parallelism.schedule.kind, scenario.data) == ("gpipe", 8)


def test_the_last_one_wins(minimal):
    assert from_dict(minimal, overrides=["cluster.hosts=8", "cluster.hosts=2"]).cluster.hosts == 2


@pytest.mark.parametrize(
    ("override", "where", "value"),
    [
        ("cluster.host.nics=4", "cluster.host.nics", 4),
        ("cluster.host.gpu.power=500W", "cluster.host.gpu.power", 500.0),
        ("model.layers=16", "model.layers", 16),
        ("model.attention.window=4096", "model.attention.window", 4096),
        ("stack.cuda_graphs=true", "stack.cuda_graphs", True),
        ("failures.scale=2", "failures.scale", 2.0),
        ("training.precision.scaling=block", "training.precision.scaling", "block"),
        ("parallelism.shard.replicas=4", "parallelism.shard.replicas", 4),
        ("parallelism.context.kind=ulysses", "parallelism.context.kind", "ulysses"),
        ("recovery.restart.cv=0.25", "recovery.restart.cv", 0.25),
        ("recovery.restart.mean=100s", "recovery.restart.mean", 100.0),
        ("cluster.topology.oversubscription.1=2", "cluster.topology.oversubscription", (1.0, 2.0)),
    ],
)
def test_a_short_form_is_written_out_first(minimal, override, where, value):
    minimal |= {
        "stack": "torchtitan-2024",
        "failures": "llama3",
        "parallelism": {"shard": "parameters", "context": 2},
        "recovery": {"restart": {"kind": "lognormal", "mean": "480s"}},
    }
    minimal["training"]["precision"] = "fp8"
    minimal["cluster"]["topology"] = {"kind": "fat-tree", "levels": 3, "oversubscription": [1, 7]}
    scenario = from_dict(minimal, overrides=[override])
    found = scenario
    for name in where.split("."):
        found = getattr(found, name)
    assert found == value
    assert (scenario.stack_name, scenario.failures.preset) == ("torchtitan-2024", "llama3")


def test_a_list_of_causes_keeps_its_causes_beside_a_scale(minimal):
    minimal["failures"] = [{"kind": "exponential", "unit": "gpu", "mtbf": "50000h"}]
    scenario = from_dict(minimal, overrides=["failures.scale=3", "failures.causes.0.mtbf=10000h"])
    assert (scenario.failures.scale, scenario.failures.causes[0].mtbf) == (3.0, 36e6)


def test_another_kind_takes_along_what_it_knows(minimal):
    minimal["checkpoint"] = {"kind": "fixed", "interval": "10min", "stall": "5s"}
    found = from_dict(minimal, overrides=["checkpoint.kind=young"]).checkpoint
    assert (found.kind, found.stall) == ("young", 5.0)
    with pytest.raises(ScenarioError, match="interval"):
        from_dict(minimal, overrides=["checkpoint.kind=young", "checkpoint.interval=5min"])


def test_null_removes_a_key(minimal):
    minimal["cluster"]["spares"] = 2
    assert from_dict(minimal, overrides=["cluster.spares=null"]).cluster.spares is None


def test_a_mapping_or_a_list_is_a_value_too(minimal):
    scenario = from_dict(minimal, overrides=["checkpoint={kind: fixed, interval: 10min}", "search.tensor=[1, 2]"])
    assert scenario.checkpoint.interval == 600.0
    assert scenario.search == {"tensor": (1, 2)}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("cluster.hosts=many", "--set cluster.hosts=many: cluster.hosts: `many` is not a whole number such as"),
        ("cluster.hostss=8", "--set cluster.hostss=8: cluster.hostss: unknown key; did you mean `hosts`?"),
        ("clustr.hosts=8", "--set clustr.hosts=8: clustr: unknown key; did you mean `cluster`?"),
        ("cluster.hosts", "--set cluster.hosts: write KEY=VALUE, such as --set parallelism.tensor=4"),
        ("=8", "--set =8: write KEY=VALUE"),
        ("cluster.hosts=[1", "--set cluster.hosts=[1: not YAML: did not find"),
        ("name=\udce6", "not UTF-8 text"),
        ("cluster.hosts=", "--set cluster.hosts=: cluster.hosts: has no value"),
        ("search.tensor.5=2", "--set search.tensor.5=2: `search.tensor` is a list of 2, without item 5"),
        ("cluster.host.nics=x", "--set cluster.host.nics=x: cluster.host.nics: `x` is not a whole number"),
    ],
)
def test_a_mistake_names_the_override(minimal, override, message):
    minimal["search"] = {"tensor": [1, 2]}
    with pytest.raises(ScenarioError) as caught:
        from_dict(minimal, overrides=[override])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("override", "meant"),
    [
        ("tensor=4", "did you mean `parallelism.tensor`?"),
        ("hosts=4", "did you mean `cluster.hosts`?"),
        ("nics=4", "did you mean `cluster.host.nics`?"),
        ("paralelism.tensor=4", "did you mean `parallelism`?"),
        ("nonsense=4", "one of version, name"),
    ],
)
def test_a_key_without_its_section_is_found(minimal, override, meant):
    with pytest.raises(ScenarioError, match="unknown key") as error:
        from_dict(minimal, overrides=[override])
    assert meant in str(error.value)
