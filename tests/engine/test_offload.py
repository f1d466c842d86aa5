"""States, weights and activations on the host: what copies and the optimizer there take, and what of it shows."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import scenario
from simulator.engine.prices.assembly import Assembly, assembly
from simulator.engine.prices.host_copies import HostCopies, HostSide
from simulator.engine.step import recorded, simulated, stage_clocks
from simulator.engine.step.local_clock import alone
from simulator.errors import ScenarioError
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
    expected = count * 4 / LINK + count * 30 / (0.43 * MEMORY) + count * 2 / LINK
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
    assert offloaded(assembly(one)) == pytest.approx(shard(one) * 30 / (0.43 * MEMORY), rel=1e-3)


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
