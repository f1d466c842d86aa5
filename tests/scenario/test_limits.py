"""Numbers that no machine has are refused with the bound; large but valid ones are read at once."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import from_dict
from simulator.scenario.leaves import leaves
from simulator.scenario.limits import ANYWHERE, LENGTHS, LIMITS, NOTHING_GROWS, limits
from simulator.scenario.sections import SHAPES
from simulator.scenario.shape import Either, Kinds, Listing, Named, Quantity, Record, Shape


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
        ("stack.host_optimizer=0%", "0 is too little; write more than zero"),
        ("cluster.host.memory_bandwidth=0GB/s", "0 is too little; write more than zero"),
        ("cluster.host.host_link=0GB/s", "0 is too little; write more than zero"),
        ("cluster.host.gpu.host_link=0GB/s", "0 is too little; write more than zero"),
        ("cluster.host.gpu.scale_up_pair=0GB/s", "0 is too little; write more than zero"),
        ("cluster.host.gpu.best_matmul={bf16: 0TFLOPS}", "0 is too little; write more than zero"),
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


def keys_of(wanted: Shape, path: tuple[str | int, ...]) -> Iterator[tuple[str, Shape]]:
    """Yield every number, list and mapping with free keys that `wanted` may hold, by the name that the tables use."""
    name = ".".join([*(key for key in path if isinstance(key, str)), *(["*"] if path[-1] == 0 else [])])
    match wanted:
        case Quantity():
            yield name, wanted
        case Record():
            for key, field in wanted.fields.items():
                yield from keys_of(field.shape, (*path, key))
        case Kinds(records=records):
            for record in records:
                yield from keys_of(record, path)
        case Listing(items=items):
            yield name, wanted
            for item in items:
                yield from keys_of(item, (*path, 0))
        case Named(values=values):
            yield name, wanted
            yield from keys_of(values, (*path, "*"))
        case Either(members=members):
            for member in members:
                yield from keys_of(member, path)


KEYS = [found for name, field in SHAPES.items() for found in keys_of(field.shape, (name,))]
NUMBERS = {(name, shape.unit) for name, shape in KEYS if isinstance(shape, Quantity)}


def test_every_number_has_a_line_or_is_of_a_unit_of_which_nothing_grows():
    def has_a_line(name):
        above, _, last = name.rpartition(".")
        return name in LIMITS or f"{above}.*" in LIMITS or last in ANYWHERE

    assert sorted(name for name, unit in NUMBERS if not has_a_line(name) and unit not in NOTHING_GROWS) == []
    assert len(NUMBERS) > 300


def test_no_count_is_without_a_bound_that_memory_could_hold():
    assert "count" not in NOTHING_GROWS
    counts = {name: limits((*name.removesuffix(".*").split("."), *([0] if name.endswith(".*") else []))) for name, unit
              in NUMBERS if unit == "count"}  # fmt: skip
    only_added_up = ("tokens", "steps", "every", "seed", "window")
    large = {name for name, (_, most) in counts.items() if most > 1_024_000_000}
    assert {name for name in large if not name.endswith(only_added_up)} == set()


def test_every_line_of_the_limits_is_a_key():
    known = {name for name, _ in KEYS}
    stars = {f"{key.rpartition('.')[0]}.*" for key in known}
    assert set(LIMITS) <= known | stars
    assert set(ANYWHERE) <= {key.rpartition(".")[2] for key in known}
    assert set(LENGTHS) <= {name for name, shape in KEYS if isinstance(shape, Listing | Named)}
    assert set(NOTHING_GROWS) <= {unit for _, unit in NUMBERS}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"cluster": {"placement": {"hosts": [0] * 1_000_001}}}, "1,000,001 entries are too many; 1,000,000 is the"),
        ({"training": {"phases": [{"tokens": 1, "global_batch": 1}] * 201}}, "phases: 201 entries are too many"),
        ({"search": {"tensor": [1] * 1001}}, "search.tensor: 1,001 entries are too many; 1,000 is the most"),
        ({"expect": {f"step.{n}": {"at_most": 1} for n in range(1001)}}, "expect: 1,001 entries are too many"),
        ({"cluster": {"faults": [{"host": 1}] * 10_001}}, "cluster.faults: 10,001 entries are too many"),
        ({"failures": [{"mtbf": "9h", "unit": "job"}] * 1001}, "failures.causes: 1,001 entries are too many"),
    ],
)
def test_a_list_that_is_too_long_is_refused_soon(minimal, override, message):
    for section, keys in override.items():
        minimal[section] = {**minimal.get(section, {}), **keys} if isinstance(keys, dict) else keys
    start = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        from_dict(minimal)
    assert message in str(caught.value)
    assert time.process_time() - start < 20


def test_leaves_are_the_numbers_with_their_keys(minimal):
    minimal["failures"] = [{"kind": "exponential", "unit": "gpu", "mtbf": "50000h"}]
    scenario = from_dict(minimal)
    found = dict(leaves(SHAPES["failures"].shape, scenario.failures, ("failures",)))
    assert found["failures", "causes", 0, "mtbf"] == 50_000 * 3600.0
