"""A new optimizer is a class with its state and its update; memory, checkpoints, time and traffic follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.link_traffic import carried
from simulator.machine.kernels import optimizer
from simulator.scenario import Scenario, from_dict
from simulator.simulation import fits, predict
from simulator.workload.operations import Exchange, Gemm
from simulator.workload.optimizers.base import Optimizer, Update
from simulator.workload.parameters import total_parameters
from simulator.workload.states import checkpoint

SQUARE = Gemm(1024, 1024, 1024)


@dataclass(frozen=True, kw_only=True)
class Whitened(Optimizer):
    """One average inside the layers and three at the ends; a product a step, and its gradients gathered by all."""

    def moments(self, model, width, *, end):
        return 3 * width if end else width

    def update(self, model, parameters, width):
        plain = super().update(model, parameters, width)
        return Update(plain.nbytes, (SQUARE, Exchange("shard", "all_gather", parameters * width.gradients)))


def scenario(**shard: str) -> Scenario:
    read = from_dict(
        {
            "version": 1,
            "model": {"layers": 4, "hidden": 1024, "heads": 8, "vocabulary": 1024},
            "cluster": {"host": "dgx-h100", "hosts": 2},
            "parallelism": shard,
            "training": {"steps": 10, "sequence_length": 2048, "global_batch": 16, "microbatch": 1},
        }
    )
    return read


def whitened(case: Scenario) -> Scenario:
    return replace(case, training=replace(case.training, optimizer=Whitened()))


def test_its_state_is_held_and_saved() -> None:
    """Adam's two moments of 4 bytes become one inside the layers, and three for embedding and head."""
    adam, own = scenario(shard="none"), whitened(scenario(shard="none"))
    assert adam.model is not None
    count, ends = total_parameters(adam.model), 2 * 1024 * 1024
    fewer = 4 * (count - ends) - 4 * ends
    held = [fits(case).stages[0]["optimizer_bytes"] for case in (adam, own)]
    saved = [checkpoint(case.rank) for case in (adam, own)]
    assert held[0] - held[1] == pytest.approx(fewer)
    assert saved[0] - saved[1] == pytest.approx(fewer)


def test_its_update_sweeps_its_state_and_then_does_its_work() -> None:
    own = whitened(scenario(shard="optimizer"))
    built = assembly(own)
    assert own.model is not None
    shares, width = 16, built.copies.width
    count = total_parameters(own.model) / shares
    sweep = optimizer.time(own.cluster.host.gpu, count * (2 * 4 + 2 * width.optimizer + 2))
    work = (SQUARE, Exchange("shard", "all_gather", count * 4))
    seconds = sweep + sum(map(built.durations.seconds, work))
    assert predict(own).parts_s["optimizer"] == pytest.approx(seconds, rel=1e-6)


def test_what_it_exchanges_is_on_the_links() -> None:
    adam = scenario(shard="optimizer")
    assert adam.model is not None
    plain, own = (carried(assembly(case))["shard"].scale_up_bytes for case in (adam, whitened(adam)))
    gathered = total_parameters(adam.model) / 16 * 4
    weights = carried(assembly(adam))["shard"].scale_up_bytes / (total_parameters(adam.model) * (2 + 4))
    assert own - plain == pytest.approx(gathered * weights)
