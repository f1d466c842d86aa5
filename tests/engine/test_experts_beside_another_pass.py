"""Expert exchanges are hidden by another microbatch's opposite pass, or by a shared expert, and by nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.paired import paired, share
from simulator.engine.step import simulated, stage_clocks
from simulator.engine.step.local_clock import alone
from simulator.engine.step.order import orders, pairs
from simulator.engine.step.pieces import COMPUTE, Item, Piece
from simulator.kinds import kinds
from simulator.scenario import from_dict
from simulator.simulation import predict
from simulator.workload.schedules.base import Schedule

SCHEDULES = kinds("simulator.workload.schedules", Schedule)


def step(microbatches: int, parallelism: dict[str, object] | None = None, shared: int = 1, **stack: object):
    document = {
        "version": "1",
        "model": {
            "layers": "4",
            "hidden": "4096",
            "heads": "32",
            "vocabulary": "32000",
            "experts": {"count": "64", "active": "8", "ffn": "1024", "shared": str(shared)},
        },
        "cluster": {"host": "hgx-h100", "hosts": "4"},
        "stack": {"base": "megatron-core-2025", "cpu_layer_expert": "0s", **stack},
        "parallelism": {"expert": "32", **(parallelism or {})},
        "training": {"steps": "1", "sequence_length": "4096", "global_batch": str(32 * microbatches)},
    }
    return from_dict(document)


def exposed(scenario) -> float:
    return predict(scenario).parts_s.get("expert", 0.0)


def test_one_microbatch_has_nothing_to_hide_its_exchanges() -> None:
    """The kind of `moe_overlap_alone`: alone, products wait for the very rows that an exchange brings."""
    plain, overlapping = (step(1, moe_overlap=text) for text in ("false", "true"))
    assert exposed(plain) > 0
    assert predict(overlapping).step_time_s == pytest.approx(predict(plain).step_time_s)


def test_of_several_microbatches_only_the_first_forward_and_the_last_backward_stay_exposed() -> None:
    """One stage: a forward, pairs of a backward and the next forward, and a backward (`combined_1f1b.py`)."""
    one = exposed(step(1))
    many, hidden = exposed(step(8)), exposed(step(8, moe_overlap="true"))
    assert many == pytest.approx(8 * one, rel=0.05)
    assert one <= hidden < 0.6 * many
    assert predict(step(8, moe_overlap="true")).step_time_s < predict(step(8)).step_time_s


def test_a_shared_expert_hides_what_it_computes_and_not_more() -> None:
    plain, beside = (predict(step(1, shared_expert_overlap=text)) for text in ("false", "true"))
    without = predict(step(1, shared=0))
    assert beside.step_time_s < plain.step_time_s
    assert beside.step_time_s >= without.step_time_s * (1 - 1e-9)
    none = predict(step(1, shared=0, shared_expert_overlap="true"))
    assert none.step_time_s == pytest.approx(without.step_time_s)


@pytest.mark.parametrize("schedule", ["1f1b", "zb-h1", "dualpipe"])
def test_both_clocks_agree_and_bytes_are_conserved(schedule: str) -> None:
    """`simulate` raises where stages send other bytes than the layout implies."""
    has = {"schedules": [schedule]}
    work = assembly(step(16, {"expert": "8", "pipeline": "4", "schedule": schedule}, moe_overlap="true", **has)).step()
    plain = assembly(step(16, {"expert": "8", "pipeline": "4", "schedule": schedule}, **has)).step()
    played = simulated.simulate(work).timing.seconds
    assert stage_clocks.time(work).seconds <= played * (1 + 1e-9)
    assert played < simulated.simulate(plain).timing.seconds
    assert work.sent == pytest.approx(plain.sent)


@pytest.mark.parametrize("kind", sorted(SCHEDULES))
@pytest.mark.parametrize(("stages", "microbatches"), [(1, 1), (1, 6), (2, 8), (4, 8)])
def test_pairs_are_opposite_passes_of_two_microbatches_next_to_each_other(
    kind: str, stages: int, microbatches: int
) -> None:
    schedule = SCHEDULES[kind]()
    if schedule.check(stages, microbatches):
        pytest.skip("no such schedule")
    for tasks, places in zip(
        orders(schedule, stages, microbatches), pairs(schedule, stages, microbatches), strict=True
    ):
        assert len(places) % 2 == 0
        ordered = sorted(places)
        for one, other in zip(ordered[::2], ordered[1::2], strict=True):
            assert other == one + 1
            assert {tasks[one][0], tasks[other][0]} in ({"F", "B"}, {"F", "I"})
            assert tasks[one][1] != tasks[other][1]
        if microbatches == 1:
            assert not places


Times = tuple[float, float, float, float]
four = st.tuples(*[st.floats(1e-3, 10)] * 4)


def a_pass(first: float, sent: float, second: float, back: float) -> Piece:
    return Piece(
        (
            Item(COMPUTE, first),
            Item("expert", sent, (), "expert"),
            Item(COMPUTE, second, (1,)),
            Item("expert", back, (), "expert"),
            Item(COMPUTE, 0.0, (3,)),
        )
    )


@given(four, four)
def test_a_pair_takes_the_longer_of_its_compute_and_its_exchanges(one: Times, other: Times) -> None:
    forward, backward = a_pass(*one), a_pass(*other)
    ahead = share(forward, backward)
    pair = paired(forward, backward, ahead), paired(backward, forward, 1 - ahead)
    together = sum(alone(piece).seconds for piece in pair)
    computing, sending = sum(one[::2]) + sum(other[::2]), sum(one[1::2]) + sum(other[1::2])
    assert together == pytest.approx(max(computing, sending))
    apart = sum(alone(piece).seconds for piece in (forward, backward))
    assert apart == pytest.approx(computing + sending)
