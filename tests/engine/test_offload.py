"""States, weights and activations on the host: what copies and the optimizer there take, and what of it shows."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import scenario
from simulator.engine.prices.assembly import Assembly, assembly
from simulator.engine.prices.host_copies import PAGEABLE, UNBOUND, HostCopies, HostSide
from simulator.engine.step import recorded, simulated, stage_clocks
from simulator.engine.step.local_clock import alone
from simulator.errors import ScenarioError
from simulator.outcome.intervals import step_error
from simulator.simulation import predict, simulate
from simulator.workload import layer
from simulator.workload.layers import blocks_of
from simulator.workload.parameters import total_parameters

LINK = 0.87 * 63e9
MEMORY = 614.4e9 / 8


def run(
    offload: dict[str, Any] | None = None, stack: Any = "megatron-core-2024", host: Any = "dgx-h100", **parallelism: Any
) -> scenario.Scenario:
    training = {"steps": 1, "runs": 1, "sequence_length": 2048, "global_batch": 16} | {"offload": offload or {}}
    training.pop("runs")
    if not offload:
        training.pop("offload")
    return scenario.from_dict(
        {
            "version": 1,
            "name": "offload",
            "model": "llama-3.2-1b",
            "cluster": {"host": host, "hosts": 1},
            "stack": stack,
            "parallelism": {"shard": "optimizer"} | parallelism,
            "training": training,
            "runs": 1,
        }
    )


def offloaded(built: Assembly) -> float:
    return simulated.time(built.step()).parts.get("offload", 0.0)


def shard(one: scenario.Scenario) -> float:
    assert one.model
    return total_parameters(one.model) / 8


def test_an_optimizer_on_the_host_takes_gradients_down_its_sweep_and_weights_up() -> None:
    """fp32 gradients, 12 bytes of state, 2 of weights: 4 + 2 x 12 + 2 bytes a parameter through the host's memory."""
    one = run({"optimizer": "100%"})
    count = shard(one)
    expected = count * 4 / LINK + count * 30 / (0.2 * MEMORY) + count * 2 / LINK
    assert offloaded(assembly(one)) == pytest.approx(expected, rel=1e-3)
    assert simulated.time(assembly(one).step()).parts.get("optimizer", 0.0) == 0


def test_half_of_it_on_the_host_is_half_there_and_half_here() -> None:
    whole, half, none = (run({"optimizer": share}) if share else run() for share in ("100%", "50%", None))
    assert offloaded(assembly(half)) == pytest.approx(offloaded(assembly(whole)) / 2)
    here = [simulated.time(assembly(one).step()).parts["optimizer"] for one in (half, none)]
    start = assembly(none).durations.gpu.kernels.elementwise.start
    assert here[0] - start == pytest.approx((here[1] - start) / 2)


def test_zero_offload_hides_gradients_behind_the_backward_and_weights_behind_the_sweep() -> None:
    one = run({"optimizer": "100%"}, {"base": "megatron-core-2024", "overlap_offload": True})
    assert offloaded(assembly(one)) == pytest.approx(shard(one) * 30 / (0.2 * MEMORY), rel=1e-3)


def stack(**keys: Any) -> dict[str, Any]:
    return {"base": "megatron-core-2024"} | keys


def test_unbound_cores_make_the_sweep_slower_and_nothing_else() -> None:
    bound, loose = (offloaded(assembly(run({"optimizer": "100%"}, stack(bound_cores=is_)))) for is_ in (True, False))
    sweep = shard(run({"optimizer": "100%"})) * 30 / (0.2 * MEMORY)
    assert loose - bound == pytest.approx(sweep * (1 / UNBOUND - 1), rel=1e-3)


def test_copies_of_pageable_memory_are_slower_and_hide_behind_nothing() -> None:
    """Gradients of 4 bytes and weights of 2 at a quarter of the link, though the stack overlaps them otherwise."""
    paged, pinned = (
        offloaded(assembly(run({"optimizer": "100%"}, stack(overlap_offload=True, pinned_copies=is_))))
        for is_ in (False, True)
    )
    assert paged - pinned == pytest.approx(shard(run({"optimizer": "100%"})) * 6 / (PAGEABLE * LINK), rel=1e-3)


def test_layers_wait_for_copies_of_pageable_memory() -> None:
    """All that layers keep goes down and comes up again, with compute at rest."""
    built = assembly(run({"activations": "100%"}, stack(pinned_copies=False), tensor=2))
    kept = layer.kept_bytes(built.rank, blocks_of(built.rank.model, 0))
    count = built.rank.model.layers * built.replica.microbatches
    assert offloaded(built) == pytest.approx(2 * count * kept / (PAGEABLE * LINK))


def test_gradients_that_a_rank_keeps_its_share_of_cross_the_link_in_every_microbatch() -> None:
    """Two microbatches send a share of 4 bytes down, and the second fetches the sum of those before it."""
    two, one = (run({"optimizer": "100%"}, shard=level) for level in ("gradients", "optimizer"))
    assert two.replica.microbatches == 2
    sweep_and_weights = shard(one) * (30 / (0.2 * MEMORY) + 2 / LINK)
    assert offloaded(assembly(one)) == pytest.approx(sweep_and_weights + shard(one) * 4 / LINK, rel=1e-3)
    both_ways = shard(one) * max(8 / LINK, 12 / MEMORY)
    assert offloaded(assembly(two)) == pytest.approx(sweep_and_weights + both_ways, rel=1e-3)


def test_the_range_is_as_wide_as_the_part_of_the_step_that_hosts_take() -> None:
    none, whole = run(), run({"optimizer": "100%"})
    bands = [step_error(one, simulate(one).step.parts_s) for one in (none, whole)]
    assert bands[0] == step_error(none, {})
    assert bands[1].low < bands[0].low < bands[0].high < bands[1].high
    told = simulate(whole).step
    assert told.time_high_s == pytest.approx(told.time_s * bands[1].high)
    shares = [step_error(whole, {"compute": 1 - share, "offload": share}) for share in (0.0, 0.3, 1.0)]
    assert [found.low for found in shares] == sorted((found.low for found in shares), reverse=True)
    assert [found.high for found in shares] == sorted(found.high for found in shares)
    assert len({found.median for found in shares}) == 1


FALCON = {"model": "falcon-7b", "cluster": {"host": "dgx-a100-40gb", "hosts": 1}}
QWEN = {
    "model": "qwen2.5-3b",
    "cluster": {"host": {"base": "dgx-a100-40gb", "gpus": 2, "scale_up": {"domain": 2}}, "hosts": 1},
}
REPORTS = (
    (FALCON, {"optimizer": 1}, "gradients", 4096, 8, {}, 9.60, "ZeRO-2, optimizer on the host: DeepSpeed #3901"),
    (FALCON, {"optimizer": 1, "parameters": 1}, "parameters", 4096, 8, {}, 13.70, "ZeRO-3, all on the host: #3901"),
    (QWEN, {"optimizer": 1}, "gradients", 512, 2, {}, 3.08, "cores not bound: DeepSpeed #7474"),
    (QWEN, {"optimizer": 1}, "gradients", 512, 2, {"bound_cores": True}, 2.38, "cores bound: #7474"),
)
"""What users measured; batches are not stated."""


@pytest.mark.parametrize(
    "what, offload, level, sequence, batch, keys, seconds",
    [one[:7] for one in REPORTS],
    ids=[one[7] for one in REPORTS],
)
def test_reports_of_users_lie_in_the_range(what, offload, level, sequence, batch, keys, seconds) -> None:
    training = {"steps": 1, "sequence_length": sequence, "global_batch": batch, "recompute": "full", "offload": offload}
    found = predict(
        scenario.from_dict(
            {
                "version": 1,
                "stack": {"base": "deepspeed-2024"} | keys,
                "parallelism": {"shard": level},
                "training": training,
            }
            | what
        )
    )
    assert found.time_low_s < seconds < found.time_high_s
    assert 0.45 < found.step_time_s / seconds < 1.5


def test_copies_both_ways_share_the_memory_of_the_host_and_not_the_link() -> None:
    built = assembly(run({"optimizer": "100%"}))
    copies = HostCopies(built.replica, built.durations, HostSide(link=10.0, memory=15.0))
    assert copies.seconds(10, 0) == 1
    assert copies.seconds(10, 5) == 1
    assert copies.seconds(15, 15) == 2


def units(offload: dict[str, Any], link: str, **more: Any) -> tuple[Assembly, dict[str, float], dict[str, float]]:
    """Return the assembly, and forward and backward of the layers of a chunk with and without offload."""
    host = {"base": "dgx-h100", "host_link": link, "memory_bandwidth": "1TB/s"}
    built, plain = assembly(run(offload, host=host, **more)), assembly(run(host=host, **more))
    return (built, *(
        {name: alone(one.held(one.chunks[0])[1].phases[name]).seconds for name in "FB"}
        for one in (built, plain)
    ))  # fmt: skip


def test_what_a_layer_keeps_goes_down_beside_its_forward_and_up_beside_its_backward() -> None:
    built, slow, plain = units({"activations": "50%"}, "1GB/s", tensor=2)
    kept = layer.kept_bytes(built.rank, blocks_of(built.rank.model, 0))
    seconds = 0.5 * kept / (0.87 * 1e9)
    assert slow == {name: pytest.approx(seconds) for name in "FB"}
    assert seconds > max(plain.values())
    _, fast, plain = units({"activations": "50%"}, "200GB/s", tensor=2)
    assert fast == plain


def test_weights_on_the_host_come_up_for_every_layer() -> None:
    built, slow, plain = units({"parameters": "100%"}, "1GB/s", tensor=2)
    dense = built.held(built.chunks[0])[1].dense
    assert slow["F"] == pytest.approx(2 * dense / (0.87 * 1e9))
    assert slow["F"] > plain["F"]
    assert sum(slow.values()) == pytest.approx(2 * slow["F"])


@pytest.mark.parametrize("schedule", ["1f1b", {"kind": "interleaved-1f1b", "chunks": 2}, "zb-h1", "gpipe"])
@pytest.mark.parametrize("stack", ["megatron-core-2024", "deepspeed-2024"])
def test_all_clocks_agree_on_what_is_offloaded(schedule: Any, stack: str) -> None:
    host = {"base": "dgx-h100", "host_link": "5GB/s"}
    offload = {"optimizer": "70%", "parameters": "30%", "activations": "50%"}
    software = {"base": stack, "schedules": ["1f1b", "interleaved-1f1b", "zb-h1", "gpipe"]}
    work = assembly(run(offload, software, host, tensor=4, pipeline=2, schedule=schedule)).step()
    fast, played = stage_clocks.play(work), simulated.simulate(work).timing
    assert fast.parts["offload"] > 0
    assert played.seconds == pytest.approx(fast.seconds, rel=1e-9)
    assert recorded.play([work])[0] == pytest.approx(fast.seconds, rel=1e-9)
    assert played.parts["offload"] == pytest.approx(fast.parts["offload"], rel=1e-9)
    assert sum(fast.parts.values()) == pytest.approx(fast.seconds, rel=1e-9)


def test_a_faster_host_never_makes_a_step_longer() -> None:
    offload = {"optimizer": "100%", "activations": "100%", "parameters": "100%"}
    times = [
        predict(run(offload, host={"base": "dgx-h100", "host_link": link, "memory_bandwidth": memory})).step_time_s
        for link, memory in (("1GB/s", "50GB/s"), ("30GB/s", "50GB/s"), ("30GB/s", "400GB/s"), ("200GB/s", "2TB/s"))
    ]
    assert times == sorted(times, reverse=True)


def test_the_term_switches_copies_and_the_optimizer_of_the_host_off() -> None:
    one = run({"optimizer": "100%", "activations": "100%"})
    assert predict(one, without={"offload"}).step_time_s == predict(run(), without={"optimizer"}).step_time_s
    assert predict(one).step_time_s > predict(one, without={"offload"}).step_time_s


def test_a_result_says_what_offload_costs() -> None:
    found = simulate(run({"optimizer": "100%"}))
    assert found.step.parts_s["offload"] > 0
    assert sum(found.step.parts_s.values()) == pytest.approx(found.step.time_s)
    assert found.memory
    assert found.memory.host_peak_bytes > 0


def test_drives_are_still_refused() -> None:
    with pytest.raises(ScenarioError, match="NVMe drives"):
        run({"optimizer": "100%", "to": "nvme"})
