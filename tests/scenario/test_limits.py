"""Numbers that no machine has are refused with the bound; large but valid ones are read at once."""

from __future__ import annotations

import time

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import from_dict
from simulator.scenario.leaves import leaves
from simulator.scenario.limits import ANYWHERE, LIMITS
from simulator.scenario.sections import SHAPES
from simulator.scenario.shape import Either, Kinds, Listing, Named, Quantity, Record


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("cluster.hosts=1e18", "1,000,000 is the most that can be simulated"),
        ("cluster.hosts=0", "0 is too little; write at least 1"),
        ("model.layers=1e9", "10,000 is the most"),
        ("parallelism.tensor=0", "0 is too little; write at least 1"),
        ("training.global_batch=1e15", "1,000,000,000 is the most"),
        ("training.tokens=0", "0 is too little"),
        ("runs=1e9", "100,000 is the most"),
        ("cluster.host.gpu.memory_bandwidth=0GB/s", "0 is too little; write more than zero"),
        ("cluster.host.gpu.peak={bf16: 0TFLOPS}", "0 is too little; write more than zero"),
        ("cluster.topology={kind: fat-tree, radix: 0}", "radix"),
        ("checkpoint={kind: fixed, interval: 0s}", "0 is too little; write more than zero"),
        ("jitter.slow=0.5", "0.5 is too little; write at least 1"),
        ("stack={base: generic, gemm_factor: 0}", "0 is too little; write more than zero"),
        ("recovery.technicians=1e9", "1,000,000 is the most"),
        ("prices.pue=0.5", "0.5 is too little; write at least 1"),
        ("failures=[{kind: lognormal, unit: gpu, mtbf: 9h, shape: 100}]", "20 is the most that can be simulated"),
        ("recovery.restart={kind: weibull, mean: 480s, shape: 0}", "0 is too little; write at least 0.05"),
    ],
)
def test_a_number_beyond_its_limit_is_refused_at_once(minimal, override, message):
    start = time.perf_counter()
    with pytest.raises(ScenarioError) as caught:
        from_dict(minimal, overrides=[override])
    assert message in str(caught.value)
    assert time.perf_counter() - start < 1


def test_a_million_gpus_are_read_at_once(minimal):
    start = time.perf_counter()
    scenario = from_dict(minimal, overrides=["cluster.hosts=131072", "training.global_batch=1Mi"])
    assert scenario.gpus == 2**20
    assert time.perf_counter() - start < 1


def test_every_line_of_the_limits_is_a_key():
    known = set()

    def visit(wanted, path):
        match wanted:
            case Quantity():
                known.add(".".join(path))
            case Record():
                for name, field in wanted.fields.items():
                    visit(field.shape, (*path, name))
            case Kinds(records=records):
                for record in records:
                    visit(record, path)
            case Listing(items=items):
                for item in items:
                    visit(item, path)
                    visit(item, (*path, "*"))
            case Named(values=values):
                visit(values, (*path, "*"))
            case Either(members=members):
                for member in members:
                    visit(member, path)

    for name, field in SHAPES.items():
        visit(field.shape, (name,))
    stars = {f"{key.rpartition('.')[0]}.*" for key in known}
    assert set(LIMITS) <= known | stars
    assert set(ANYWHERE) <= {key.rpartition(".")[2] for key in known}


def test_leaves_are_the_numbers_with_their_keys(minimal):
    minimal["failures"] = [{"kind": "exponential", "unit": "gpu", "mtbf": "50000h"}]
    scenario = from_dict(minimal)
    found = dict(leaves(SHAPES["failures"].shape, scenario.failures, ("failures",)))
    assert found["failures", "causes", 0, "mtbf"] == 50_000 * 3600.0
