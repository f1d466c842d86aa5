"""What foretrain predicts for the experiment on this machine, from the kernels that were measured on it.

The machine is described as a host with one processor a process; its products, memory-bound kernels and all-reduces are
calibrated as a user's are (`simulator.calibration`), and the step is that of any scenario.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from simulator import units
from simulator.calibration import network, products
from simulator.calibration.nccl_tests import Log
from simulator.calibration.shrinking import shrunk
from simulator.lab.kernels import Kernels
from simulator.lab.machine import memory
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import elementwise
from simulator.scenario import Scenario, from_dict
from simulator.scenario.calibration import Calibration, Evidence
from simulator.simulation import predict
from simulator.sums import added
from simulator.units import BytesPerSecond, Count, FlopsPerSecond, Number, Seconds
from simulator.validation.measured_product import BENCHMARK, Product


class Predicted(NamedTuple):
    step: Seconds
    all_reduce: Seconds
    calibration: Calibration


def predicted(
    *, layers: Count, hidden: Count, context: Count, batch: Count, ranks: Count, kernels: Kernels
) -> Predicted:
    """Return the step and its all-reduce."""
    plain = described(layers, hidden, context, batch, ranks, kernels)
    start = from_dict(plain)
    learned = calibration(start, ranks, kernels)
    found = predict(replace(start, calibration=learned))
    return Predicted(found.step_time_s, found.parts_s.get("data", 0.0), learned)


def calibration(scenario: Scenario, ranks: Count, kernels: Kernels) -> Calibration:
    """Return the factors of this machine."""
    host = scenario.cluster.host
    table = [
        Product(host.gpu.name, "fp32", 1, m, n, k, False, BENCHMARK, time, 0.0, ())
        for m, n, k, time in kernels.products
    ]
    told = products.learned(table, host.gpu, "of the model's own shapes")
    rate, of_memory = _memory_bound(kernels, host.gpu)
    log = Log(operation="all_reduce", ranks=ranks, hosts=1, times=kernels.all_reduces)
    links, of_network = network.learned([log], host)
    return Calibration(
        network=links,
        products=told.factors,
        kernels=told.kernels,
        elementwise=rate,
        evidence=(told.evidence, of_memory, of_network),
    )


def _memory_bound(kernels: Kernels, gpu: Gpu) -> tuple[Number, Evidence]:
    ratios = [elementwise.time(gpu, moved, kernels=2) / time for moved, time in kernels.elementwise]
    factor = shrunk(median(ratios), len(ratios))
    before, after = (added(abs(ratio / by - 1) for ratio in ratios) / len(ratios) for by in (1.0, factor))
    return factor, Evidence(source="norm, activation, residual", rows=len(ratios), before=before, after=after)


def described(
    layers: Count, hidden: Count, context: Count, batch: Count, ranks: Count, kernels: Kernels
) -> dict[str, Any]:
    """Return the scenario of the experiment."""
    return {
        "version": "1",
        "name": f"a byte-level GPT on {ranks} processes",
        "model": {
            "layers": layers,
            "hidden": hidden,
            "heads": max(1, hidden // 32),
            "ffn": 4 * hidden,
            "vocabulary": 256,
            "gated": "false",
            "tied": "false",
            "norm": "layernorm",
            "bias": "all",
            "positions": "learned",
            "max_positions": context,
            "activation": "gelu",
        },
        "cluster": {
            "host": {
                "gpu": {
                    "memory": units.render(float(round(memory())), "B"),
                    "memory_bandwidth": _rounded(kernels.bandwidth, "B/s"),
                    "host_link": _rounded(bus(kernels, ranks), "B/s"),
                    "peak": {"fp32": _rounded(peak(kernels), "FLOP/s")},
                },
                "gpus": ranks,
                "scale_up": {"domain": ranks, "bandwidth": _rounded(bus(kernels, ranks), "B/s")},
                "nics": 1,
                "nic_bandwidth": "1GB/s",
            },
            "hosts": 1,
        },
        "stack": {
            "base": "generic",
            "attention": "unfused",
            "elementwise": "eager",
            "overlap_gradient_reduce": "false",
            "gradient_accumulation_fusion": "false",
            "cpu_layer": "0.1ms",
        },
        "training": {
            "steps": 1,
            "sequence_length": context,
            "global_batch": ranks * batch,
            "microbatch": batch,
            "precision": "fp32",
        },
        "runs": 1,
    }


def peak(kernels: Kernels) -> FlopsPerSecond:
    """Return the best rate of a product."""
    return max(2.0 * m * n * k / time for m, n, k, time in kernels.products)


def bus(kernels: Kernels, ranks: Count) -> BytesPerSecond:
    """Return the bus bandwidth of the largest all-reduces."""
    largest = max(size for size, _ in kernels.all_reduces)
    time = median(time for size, time in kernels.all_reduces if size == largest)
    return 2 * (ranks - 1) / ranks * largest / time


def _rounded(value: Number, unit: str) -> str:
    return units.render(float(f"{value:.4g}"), unit)
