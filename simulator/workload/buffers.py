"""Gather and reduce buffers that live beside state and activations."""

from __future__ import annotations

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload import activations, states
from simulator.workload.parameters import padded_vocabulary
from simulator.workload.stages import Case, Content, end_parameters, layer_parameters


def buffers(case: Case, held: tuple[Content, ...]) -> Bytes:
    """Return gather and reduce buffers that live beside everything else.

    FSDP and ZeRO 3 gather the weights of the layer at work and of those prefetched, and those of embedding and
    head; a layer's gradients are whole until they are reduced, as they are at level 2. Without fused accumulation
    the gradient of the largest matrix is whole before it is added. Sequence parallelism gathers one layer's input.
    Megatron hands the product of queries and keys a buffer that it keeps.
    """
    model, stack, p = case.model, case.stack, case.parallelism
    s, width = case.setting, case.widths
    stream, total = activations.stream(s), 0.0
    shares = case.shares.dense
    level = case.parallelism.shard.level
    size = (p.tensor, p.expert, p.expert_tensor)
    unit = max((added(layer_parameters(model, *size, experts)) for experts in _kinds(held)), default=0.0)
    embedding, head = (any(getattr(chunk, end) for chunk in held) for end in ("embedding", "head"))
    ends = embedding * end_parameters(model, p.tensor, False) + head * end_parameters(model, p.tensor, True)
    if model.tied and embedding and head:
        ends -= padded_vocabulary(model.vocabulary, p.tensor) * model.hidden / p.tensor
    reduced = states.WIDTH[stack.gradient_reduce]
    unsharded = stack.keep_unsharded and p.pipeline > 1
    if shares > 1 and level in ("gradients", "parameters"):
        total += unit * (s.value + reduced)
        if level == "parameters" and not unsharded:
            total += ((1 + stack.prefetch) * unit + ends) * width.compute
    elif not stack.gradient_accumulation_fusion:
        total += s.value * model.hidden * max(model.ffn, 1) / p.tensor
    if p.pipeline > 1:
        total += 2 * stream
    elif shares > 1:
        total += stack.bucket
    if s.sequence and not stack.saved_gathers:
        total += s.value * model.hidden * s.tokens
    if stack.attention_of(sinks=model.sinks) == "unfused" and stack.keeps_scores_buffer:
        total += s.value * model.heads / p.tensor * s.tokens * s.keys
    if p.context.size > 1:
        total += _context_buffers(case)
    return total


def _kinds(held: tuple[Content, ...]) -> set[bool]:
    return {experts for chunk in held for count, experts in ((chunk.dense, False), (chunk.experts, True)) if count}


def _context_buffers(case: Case) -> Bytes:
    """Return what context parallelism holds of one layer: the ring's next block, or all keys and values."""
    model, p, s = case.model, case.parallelism, case.setting
    block = s.value * max(model.kv_heads / p.tensor, 1.0) * (model.query_size + model.value_size) * s.tokens
    if p.context.kind == "ring":
        return 2 * block
    return p.context.size * block if p.context.kind == "all-gather" else 0.0
