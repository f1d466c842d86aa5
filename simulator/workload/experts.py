"""The operations of a mixture-of-experts MLP: route, dispatch, grouped products, combine.

Megatron-Core's token dispatchers: a rank routes the tokens it holds (scattered over the tensor axis under
sequence parallelism), sends each to its experts over the expert axis, gathers over the expert-tensor axis,
multiplies, and returns them. All counts are means times the imbalance, the load of the fullest rank over the
mean; published throughput is measured with routing forced to balance. With a capacity every expert has as many
rows of every rank, padded or cut off, so that all ranks do the same whatever the imbalance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.workload import capacity
from simulator.workload.operations import Builder, Exchange, Gemm, Traffic

if TYPE_CHECKING:
    from simulator.workload.layer import Layer

ROUTER_PASSES = 6
"""Passes over the fp32 scores: softmax or sigmoid, top-k, normalise, histogram, auxiliary loss (Megatron-Core)."""

BIAS_KERNELS, BIAS_KERNELS_BACKWARD = 2, 5
"""Kernels an expert that add the bias of its last product, and that take it apart again."""


def _copies(layer: Layer) -> float:
    """Rows a rank sends: each of its tokens once for every expert it goes to, or what its experts have room for."""
    assert layer.model.experts
    return capacity.rows(layer.model.experts, layer.shape.scattered, layer.shape.capacity)


def _local(layer: Layer) -> int:
    """Experts on one rank."""
    assert layer.model.experts
    return layer.model.experts.count // layer.shape.expert


def _products(layer: Layer) -> tuple[Gemm, Gemm, float]:
    """Up and down products of the experts on one rank, and the rows of all of them together."""
    experts, shape = layer.model.experts, layer.shape
    assert experts
    local = _local(layer)
    rows = _copies(layer) * shape.expert_tensor * (shape.imbalance if shape.capacity is None else 1)
    width = experts.ffn / shape.expert_tensor
    gated = 2 if layer.model.gated else 1
    groups, count = (local, 1) if layer.shape.stack.grouped_gemm else (1, local)
    up = Gemm(rows / local, int(width * gated), layer.model.hidden, groups, layer.dtype, False, count)
    down = Gemm(rows / local, layer.model.hidden, int(width), groups, layer.dtype, False, count)
    return up, down, rows


def _send(layer: Layer, out: Builder, name: str, *, back: bool = False) -> None:
    """Rows to their experts, or back."""
    experts, shape = layer.model.experts, layer.shape
    assert experts
    nbytes = _copies(layer) * layer.model.hidden * layer.shape.value_bytes
    fanout = experts.active if layer.shape.stack.moe_dispatcher == "fused" else 1
    around = Exchange("expert", "all_to_all", nbytes, fanout)
    over = Exchange("expert_tensor", "reduce_scatter" if back else "all_gather", nbytes * shape.expert_tensor)
    exchanges = [(around, shape.expert > 1), (over, shape.expert_tensor > 1)]
    wanted = [exchange for exchange, wide in exchanges if wide]
    for exchange in reversed(wanted) if back else wanted:
        if layer.shape.stack.moe_overlap:
            out.background(name, exchange)
        else:
            out.exchange(name, exchange)


def _permute(layer: Layer, out: Builder, name: str, rows: float) -> None:
    if layer.shape.stack.moe_dispatcher == "fused":
        return
    out.compute(name, Traffic(2 * rows * layer.model.hidden * layer.shape.value_bytes, 2))


def _bias(layer: Layer, out: Builder, rows: float, *, backward: bool = False) -> None:
    """The bias of the last product: grouped products return it to be added outside, weighted as its rows are."""
    if layer.model.bias != "all" or layer.shape.stack.expert_bias == "fused":
        return
    forward, back = bias_bytes(layer.shape.value_bytes, 4 if layer.shape.stack.moe_dispatcher == "fused" else 2)
    kernels = BIAS_KERNELS_BACKWARD if backward else BIAS_KERNELS
    work = Traffic(rows * layer.model.hidden * (back if backward else forward), kernels * _local(layer) + 1)
    out.compute("expert bias backward" if backward else "expert bias", work)


def bias_bytes(value: int, probability: int) -> tuple[int, int]:
    """Return the bytes a value that kernel by kernel the bias of the last product takes, forward and backward.

    `TEGroupedMLP._apply_bias` of Megatron-Core 0.15: forward, bias times probability is written, read, added to the
    value and written, and the experts are joined; backward, the gradient is multiplied with probability and with bias,
    each product is written and summed, and the experts are joined. Probabilities wider than values (fused dispatchers
    take fp32 only, `token_dispatcher.py`) widen all of it, and it is cast there and back.

    >>> bias_bytes(2, 2), bias_bytes(2, 4)
    ((12, 16), (28, 40))
    """
    wide = max(value, probability)
    casts = value + wide if wide > value else 0
    return 5 * wide + value + casts, 6 * wide + 2 * value + 2 * casts


def _shared(layer: Layer) -> float:
    experts = layer.model.experts
    assert experts
    return experts.shared * experts.ffn


def experts_forward(layer: Layer, out: Builder) -> None:
    experts = layer.model.experts
    assert experts
    up, down, rows = _products(layer)
    width = experts.ffn / layer.shape.expert_tensor
    router = Gemm(layer.shape.scattered, experts.count, layer.model.hidden, 1, layer.shape.wide)
    out.compute("router", router)
    out.compute("routing", Traffic(layer.shape.scattered * experts.count * 4.0 * ROUTER_PASSES, ROUTER_PASSES))
    _permute(layer, out, "permute", _copies(layer))
    _send(layer, out, "dispatch")
    _permute(layer, out, "sort", rows)
    layer.cast(out, "expert up", rows * layer.model.hidden)
    out.compute("expert up", up)
    layer.activation(out, "expert activation", rows * width)
    layer.cast(out, "expert down", rows * width)
    out.compute("expert down", down)
    _bias(layer, out, rows)
    _permute(layer, out, "unsort", rows)
    _send(layer, out, "combine", back=True)
    _permute(layer, out, "unpermute", _copies(layer))
    if experts.shared:
        layer.dense_forward(out, _shared(layer), "shared expert")


def experts_backward(layer: Layer, out: Builder) -> None:
    experts = layer.model.experts
    assert experts
    up, down, rows = _products(layer)
    width = experts.ffn / layer.shape.expert_tensor
    if experts.shared:
        layer.dense_backward(out, _shared(layer), "shared expert")
    _permute(layer, out, "unpermute backward", _copies(layer))
    _send(layer, out, "combine backward")
    _permute(layer, out, "unsort backward", rows)
    _bias(layer, out, rows, backward=True)
    layer.cast(out, "expert down grad", rows * layer.model.hidden)
    out.compute("expert down dgrad", down._replace(n=int(down.k), k=down.n))
    layer.weight(out, "expert down", down)
    layer.activation(out, "expert activation backward", rows * width, backward=True)
    layer.cast(out, "expert up grad", rows * up.n)
    out.compute("expert up dgrad", up._replace(n=int(up.k), k=up.n))
    layer.weight(out, "expert up", up)
    _permute(layer, out, "sort backward", rows)
    _send(layer, out, "dispatch backward", back=True)
    _permute(layer, out, "permute backward", _copies(layer))
    router = Gemm(layer.shape.scattered, experts.count, layer.model.hidden, 1, layer.shape.wide)
    out.compute("router dgrad", router._replace(n=layer.model.hidden, k=experts.count))
    layer.weight(out, "router", router)
