"""What is computed again before the backward of a layer."""

from __future__ import annotations

from functools import lru_cache

from simulator.workload import capacity
from simulator.workload.latent import products
from simulator.workload.layer import Layer
from simulator.workload.operations import Builder, Gemm, Program, Traffic
from simulator.workload.shape import Shape


@lru_cache(maxsize=4096)
def recomputed(shape: Shape) -> Program:
    """Return what is computed again before the backward of one layer, by the kind of recompute.

    Selective recompute means the core of unfused attention in Megatron (Korthikanti et al. 2022, 5.1), so that
    it costs nothing on top of flash attention, and every other matrix product in torchtitan.
    """
    recompute = shape.recompute
    layer, out = Layer(shape), Builder(recompute=True)
    if recompute.kind in ("full", "sqrt"):
        layer.attention_forward(out)
        layer.mlp_forward(out)
        if shape.stack.recompute_stops and not shape.experts:
            return _until_saved(out.program())
    elif recompute.kind == "selective" and recompute.modules:
        if "core_attention" in recompute.modules:
            out.compute("attention", layer.core)
        if "mla_up" in recompute.modules and layer.model.latent:
            for name, product in products(layer):
                if name.endswith("up"):
                    out.compute(name, product)
        if "moe_activation" in recompute.modules and shape.experts and layer.model.experts:
            rows = capacity.rows(layer.model.experts, shape.scattered, shape.capacity)
            layer.activation(out, "expert activation", rows * layer.model.experts.ffn)
    elif recompute.kind == "selective" and shape.stack.selective == "attention":
        if shape.kernel in ("unfused", "eager", "sinks"):
            out.compute("attention", layer.core)
    elif recompute.kind == "selective":
        _every_other(layer, out)
    return out.program()


def _until_saved(forward: Program) -> Program:
    """Return a layer's forward up to its last product, whose input is the last tensor that the backward needs."""
    last = next(operation.name for operation in reversed(forward) if isinstance(operation.work, Gemm))
    return forward[: next(place for place, operation in enumerate(forward) if operation.name == last)]


def _every_other(layer: Layer, out: Builder) -> None:
    """Recompute norms, activations and every second matrix product (torchtitan's operation-level policy)."""
    whole = Builder(recompute=True)
    layer.attention_forward(whole)
    layer.mlp_forward(whole)
    products = 0
    for operation in whole.program():
        if isinstance(operation.work, Gemm):
            products += 1
            if products % 2:
                continue
        if isinstance(operation.work, Gemm | Traffic):
            out.compute(operation.name, operation.work, share=operation.share)
