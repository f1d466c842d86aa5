"""A layer as a list of blocks: what they do for one microbatch on one rank, and what they keep of it.

Ahead of each block stands a norm, behind it a residual. Every tensor that autograd saves is one named term; a term's
bytes are values x tokens x width, divided by what splits it: matrices by the tensor axis, the residual stream only
under sequence parallelism, tokens by the context axis. Korthikanti et al., 2022 (arXiv 2205.05198), equations 1 to 6,
are the sums for a GPT layer with dropout; the terms of gated, grouped-query, latent-attention and expert layers follow
from the same rule and were counted with autograd hooks on real layers. The router's auxiliary losses and fp8 scales are
left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload.blocks.base import Block, Blocks, Terms, norms
from simulator.workload.operations import Gemm, Program, Traffic
from simulator.workload.rank import Rank
from simulator.workload.training import Recompute
from simulator.workload.writer import Writer

NOTHING = Recompute()
NORMS = {"layernorm": ("norm outputs", "norm copies")}
"""What recomputing the norms ahead of blocks gives back (`CheckpointWithoutOutput` of Megatron-Core)."""
WHOLE = ("full", "sqrt")
"""Kinds of recompute that keep the input of a layer only."""


@lru_cache(maxsize=4096)
def forward(rank: Rank, blocks: Blocks) -> Program:
    """Return the forward of one layer."""
    out = Writer(rank)
    _forward(out, blocks)
    return out.program()


def _forward(out: Writer, blocks: Blocks) -> None:
    values = out.rank.scattered * out.model.hidden
    ahead, behind = norms(out.model, blocks)
    for place, block in enumerate(blocks):
        if place < ahead:
            out.norm(f"{block.name} norm", values)
        block.forward(out)
        for extra in range(behind if block is blocks[-1] else 0):
            out.norm(f"output norm {2 + extra}", values)
        out.residual(f"{block.name} residual")


def passes(blocks: Blocks) -> bool:
    """Return whether gradients pass through a layer: something in it learns, or something below it."""
    return blocks[0].has_backward


@lru_cache(maxsize=4096)
def backward(rank: Rank, blocks: Blocks) -> Program:
    """Return the backward of one layer, without what is recomputed before it."""
    out, values = Writer(rank), rank.scattered * rank.model.hidden
    if not passes(blocks):
        return out.program()
    ahead, behind = norms(rank.model, blocks)
    for place, block in reversed(tuple(enumerate(blocks))):
        out.residual(f"{block.name} residual backward", backward=True)
        for extra in range(behind if block is blocks[-1] else 0):
            out.norm(f"output norm {2 + extra} backward", values, backward=True)
        block.backward(out)
        if place < ahead:
            out.norm(f"{block.name} norm backward", values, backward=True)
    return out.program()


@lru_cache(maxsize=1024)
def end(rank: Rank, block: Block, way: Literal["forward", "backward"]) -> Program:
    """Return one way through an end of the model, the embedding or the head."""
    out = Writer(rank)
    (block.forward if way == "forward" else block.backward)(out)
    return out.program()


@lru_cache(maxsize=4096)
def recomputed(rank: Rank, blocks: Blocks, recompute: Recompute) -> Program:
    """Return what is computed again before the backward of one layer, by the kind of recompute.

    Selective recompute means the core of unfused attention in Megatron (Korthikanti et al. 2022, 5.1), so that
    it costs nothing on top of flash attention, and every other matrix product in torchtitan.
    """
    out = Writer(rank, recompute=True)
    modules = recompute.modules
    if not passes(blocks):
        return out.program()
    if recompute.kind in WHOLE:
        _forward(out, blocks)
        if rank.stack.recompute_stops and blocks[-1].ends_in_product:
            return _until_saved(out.program())
    elif recompute.kind == "selective":
        if not modules and rank.stack.selective == "operations":
            return _every_other(rank, blocks)
        for place, block in enumerate(blocks):
            if "layernorm" in modules and place < norms(rank.model, blocks)[0]:
                out.norm(f"{block.name} norm", rank.scattered * rank.model.hidden)
            listed = modules or (("core_attention",) if block.unfused(rank) else ())
            for module in block.recomputed(listed):
                block.recompute(out, module)
    return out.program()


def _until_saved(forward: Program) -> Program:
    """Return a layer's forward up to its last product, whose input is the last tensor that the backward needs."""
    last = next(operation.name for operation in reversed(forward) if isinstance(operation.work, Gemm))
    return forward[: next(place for place, operation in enumerate(forward) if operation.name == last)]


def _every_other(rank: Rank, blocks: Blocks) -> Program:
    """Recompute norms, activations, every second matrix product and all of those not listed (torchtitan's policy)."""
    unlisted = {name for block in blocks for name in block.unlisted(rank)}
    out, products = Writer(rank, recompute=True), 0
    for operation in forward(rank, blocks):
        if isinstance(operation.work, Gemm) and operation.name not in unlisted:
            products += 1
            if products % 2:
                continue
        if isinstance(operation.work, Gemm | Traffic):
            out.compute(operation.name, operation.work, share=operation.share)
    return out.program()


@lru_cache(maxsize=4096)
def kept(rank: Rank, blocks: Blocks, recompute: Recompute = NOTHING) -> Terms:
    """Return what one layer keeps where it is recomputed so, term by term in the order of the forward."""
    terms = _kept(rank, blocks) if passes(blocks) else {}
    if recompute.kind == "none" or not terms:
        return terms
    if recompute.kind in WHOLE:
        return {"layer input": rank.stream}
    if not recompute.modules and rank.stack.selective == "operations":
        listed = {"layer input": rank.stream}
        for block in blocks:
            listed |= block.listed(rank, terms)
        return listed
    modules = recompute.modules or ("core_attention",)
    sources = (NORMS, *(block.modules for block in blocks))
    gone = {name for source in sources for module in modules for name in source.get(module, ())}
    return {name: nbytes for name, nbytes in terms.items() if name not in gone}


@lru_cache(maxsize=4096)
def kept_bytes(rank: Rank, blocks: Blocks, recompute: Recompute = NOTHING) -> Bytes:
    """Return the sum of what one layer keeps."""
    return added(kept(rank, blocks, recompute).values())


@lru_cache(maxsize=4096)
def _kept(rank: Rank, blocks: Blocks) -> Terms:
    """Return what one layer keeps without recompute."""
    model, stack = rank.model, rank.stack
    count = sum(norms(model, blocks))
    terms: Terms = {"norm inputs": count * rank.stream}
    if stack.norm == "eager" and rank.value < 4:
        terms["norm copies"] = count * 4 * model.hidden * rank.scattered
    width = rank.operand if blocks[0].trains_base else rank.value
    inputs = [block for block in blocks if block.keeps_input(rank)]
    read = min(len(inputs), 1 if model.parallel else len(blocks))
    terms["norm outputs"] = read * width * model.hidden * rank.saved
    for block in blocks:
        terms |= block.kept(rank)
        if model.dropout and stack.saves_dropout_mask:
            terms["dropout masks"] = terms.get("dropout masks", 0.0) + model.hidden * rank.scattered
    return {name: nbytes for name, nbytes in terms.items() if nbytes}


@lru_cache(maxsize=4096)
def gradients(rank: Rank, blocks: Blocks) -> Bytes:
    """Return the most that gradients inside one layer take in its backward, beyond what that frees meanwhile.

    When the backward comes to a block, the terms of those behind it are gone.
    """
    most = freed = 0.0
    if not passes(blocks):
        return 0.0
    for block in reversed(blocks):
        most = max(most, block.gradients(rank) - freed)
        freed += added(block.kept(rank).values())
    return most + rank.stream
