"""What adapters add to the operations of a rank: thin products beside a frozen one, both passes, and their exchanges.

Forward: an adapter drops some of its input, multiplies by A and by B, scales, and adds to the frozen product's output.
Backward: the gradients of B, of the thin value between, of A and of the input, which is added to the frozen product's.
Under tensor parallelism A and B are split (`ParallelLinearAdapter`, `megatron/bridge/peft/utils.py`). Beside a column
product, A is split by its rank, whose parts are gathered, and B by its outputs. Beside a row product, A is split by its
input, whose partial sums are added up, and B by its outputs, which are gathered.
"""

from __future__ import annotations

from simulator.units import Bytes
from simulator.workload.methods.base import PLAIN, WIDTHS, Adapter
from simulator.workload.operations import Builder, Exchange, Gemm, Traffic
from simulator.workload.rank import LOW_PRECISION, Rank

MASK = 1.0
"""Bytes that dropout writes for each value beside the value itself, and its backward reads."""
DEQUANTISED = 2.0
"""Bytes of a weight that a product takes once it is dequantised."""
CAST = 12.0
"""Bytes of a value cast to fp32 and back: `x.to(lora_A.weight.dtype)` of PEFT's `lora/layer.py` writes fp32 (2 + 4),
and autocast reads that for a 16-bit product (4 + 2)."""
CALLS = 5
"""PyTorch calls of an adapter's forward: dropout or cast, two products, scale, add (`lora/layer.py` of PEFT)."""
DEQUANTISE_CALLS = 3
"""The same of a dequantised product: constants, weights, and the check of its state (`bitsandbytes/functional.py`)."""


def dequantises(rank: Rank) -> bool:
    """Return whether products take another format than that of the frozen weights, as eight bits are where they run."""
    stored = rank.tuning.method.stored
    return stored not in (None, *PLAIN) and not (stored == "fp8" and rank.precision.kind in LOW_PRECISION)


def dequantise(out: Builder, rank: Rank, name: str, product: Gemm) -> None:
    """Write the frozen weights of a product in 16 bits, ahead of it, where they are kept in fewer."""
    stored = rank.tuning.method.stored
    if stored is None or not dequantises(rank):
        return
    weights = product.k * product.n * product.groups * product.kernels
    out.compute(f"{name} dequantise", Traffic(weights * (WIDTHS[stored] + DEQUANTISED), 2))


def forward(out: Builder, rank: Rank, name: str, product: Gemm, adapter: Adapter) -> None:
    """Write what one adapter does in a forward."""
    ways, value = _ways(rank, adapter), rank.value
    rows, width, cast = product.m, _width(product, adapter), rank.stack.adapters == "fp32"
    apart = rank.stack.adapters != "fused"
    if adapter.dropout:
        out.compute(f"{name} adapter dropout", Traffic((2 * value + MASK) * rows * product.k))
    if cast:
        out.compute(f"{name} adapter cast", Traffic(CAST * rows * product.k, 2))
    inner = adapter.rank / (1 if adapter.row else ways)
    out.compute(f"{name} adapter down", Gemm(rows, int(max(inner, 1)), product.k, 1, rank.wide))
    if ways > 1:
        kind = "all_reduce" if adapter.row else "all_gather"
        out.exchange(f"{name} adapter exchange", Exchange("tensor", kind, rows * adapter.rank * value))
    outs = width / (ways if adapter.row else 1)
    out.compute(f"{name} adapter up", Gemm(rows, int(max(outs, 1)), adapter.rank, 1, rank.wide))
    if ways > 1 and adapter.row:
        out.exchange(f"{name} adapter gather", Exchange("tensor", "all_gather", rows * width * value))
    if adapter.weighted:
        _magnitudes(out, rank, name, product, adapter)
    out.compute(f"{name} adapter add", Traffic((5 if apart else 3) * value * rows * width, 2 if apart else 1))


def backward(out: Builder, rank: Rank, name: str, product: Gemm, adapter: Adapter) -> None:
    """Write what one adapter does in a backward; `product` is the forward of the frozen matrix."""
    ways, value = _ways(rank, adapter), rank.value
    rows, width, cast = product.m, _width(product, adapter), rank.stack.adapters == "fp32"
    apart = rank.stack.adapters != "fused"
    outs = max(width / (ways if adapter.row else 1), 1)
    inner = max(adapter.rank / (1 if adapter.row else ways), 1)
    if ways > 1 and adapter.row and rank.sequence:
        out.exchange(f"{name} adapter grad gather", Exchange("tensor", "all_gather", rows * width * value))
    if apart:
        out.compute(f"{name} adapter scale", Traffic(2 * value * rows * width))
    if adapter.weighted:
        out.compute(f"{name} magnitude backward", Traffic(5 * value * rows * width, 3))
    out.compute(f"{name} adapter up dgrad", Gemm(rows, adapter.rank, int(outs), 1, rank.wide))
    if ways > 1:
        out.exchange(f"{name} adapter reduce", Exchange("tensor", "all_reduce", rows * adapter.rank * value))
    thin = Gemm(adapter.rank, int(outs), rows, 1, rank.wide)
    out.compute(f"{name} adapter up wgrad", thin, weight_gradient=True)
    thin = Gemm(product.k, int(inner), rows, 1, rank.wide)
    out.compute(f"{name} adapter down wgrad", thin, weight_gradient=True)
    out.compute(f"{name} adapter down dgrad", Gemm(rows, int(product.k), inner, 1, rank.wide))
    if cast:
        out.compute(f"{name} adapter cast backward", Traffic(CAST * rows * product.k, 2))
    if adapter.dropout:
        out.compute(f"{name} adapter dropout backward", Traffic((2 * value + MASK) * rows * product.k))
    out.compute(f"{name} adapter add backward", Traffic(3 * value * rows * product.k))


def saved(rank: Rank, adapter: Adapter) -> Bytes:
    """Return what an adapter saves of one microbatch beyond what is there anyway.

    Its thin value; its dropped input with the mask, or the 16-bit copy that autocast makes of its fp32 input; DoRA also
    saves what the frozen product and the adapter give.
    """
    ways = _ways(rank, adapter)
    ins = adapter.ins / (ways if adapter.row else 1) * rank.tokens
    outs = adapter.outs / (1 if adapter.row else ways) * rank.tokens
    total = rank.value * adapter.rank * rank.tokens
    if adapter.dropout:
        total += (rank.value + MASK) * ins
    elif rank.stack.adapters == "fp32":
        total += rank.value * ins
    return total + adapter.weighted * 2 * rank.value * outs


def needs_input(rank: Rank, adapter: Adapter) -> bool:
    """Return whether an adapter's first product saves the frozen product's own input."""
    return not adapter.dropout and rank.stack.adapters != "fp32"


def _magnitudes(out: Builder, rank: Rank, name: str, product: Gemm, adapter: Adapter) -> None:
    """Write the norm of each output's weights, and the scaling by it (`DoraLinearLayer`, `lora/dora.py` of PEFT).

    B A is worked out by sending an identity through the adapter. It is added to the weights, whose norm is taken;
    outputs of the frozen product and of the adapter are scaled by it.
    """
    width, depth, value = _width(product, adapter), product.k, rank.value
    out.compute(f"{name} identity down", Gemm(depth, adapter.rank, depth, 1, rank.wide))
    out.compute(f"{name} identity up", Gemm(depth, int(width), adapter.rank, 1, rank.wide))
    out.compute(f"{name} magnitude", Traffic(4 * value * depth * width, 3))
    out.compute(f"{name} magnitude scale", Traffic(5 * value * product.m * width, 3))


def _ways(rank: Rank, adapter: Adapter) -> int:
    """Return the tensor ranks that an adapter is split over."""
    return 1 if adapter.division == "replicated" else rank.tensor


def _width(product: Gemm, adapter: Adapter) -> float:
    """Return the outputs of a rank that an adapter adds to."""
    return product.n * adapter.share
