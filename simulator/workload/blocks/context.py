"""Attention over a sequence that is split over the context axis, by kind of exchange.

A causal sequence is cut into twice as many chunks as there are ranks, and rank i holds chunks i and 2n - 1 - i, so that
every rank computes the same (`local_seq_chunk_ids` of Transformer Engine's ``context_parallel.py``, the round-robin
balancing of PyTorch's ``_templated_ring_attention``). A rank computes a set of blocks of that one causal square:

- ``all-gather`` collects all keys and values first (Llama 3, arXiv 2407.21783, section 3.3.2). The two chunks of the
  middle rank lie side by side, so its work is one block of s/n queries that ends at key (s + s/n) / 2; with one rank
  that is the whole square. A window hides keys from the first chunks, so the middle rank has the most to do, and the
  others wait for it in the next gather.
- ``ring`` passes keys and values on, rank by rank (Liu et al. 2023, arXiv 2310.01889). A rank computes its own chunks,
  causal, and then meets the chunks of each other rank with half of its queries or half of their keys, in a kernel of
  its own whose result is merged into the running output. A step lasts as long as the slower of its kernels and its hop.
  PyTorch goes through the keys in the same way after an all-gather.
- With contiguous tokens (PyTorch without its load balancer) the last rank sees all keys, and the others wait for it.
- ``ulysses`` exchanges tokens for heads (DeepSpeed-Ulysses, arXiv 2309.14509), alone or inside one of the others.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.units import Bytes, Count
from simulator.workload.operations import Core, Exchange, Traffic
from simulator.workload.rank import UNFUSED, Rank
from simulator.workload.writer import Writer

MERGED = 0.75
"""Share of a tensor that a piece of a zigzag adds to: on half of the ranks all queries and half of the keys, on the
others half of the queries and all keys."""

Passes = tuple[float, float, float]
"""Passes of 16 bits over the context, and backward over the gradients of queries and over those of keys and values."""
MERGE: dict[str, Passes] = {"fused": (3.0, 3.0, 3.0), "eager": (19.0, 5.0, 9.0)}
"""Of a merge. In one kernel: read the running output and the new piece, write their sum. Eager works in fp32: a cast
(2 + 4 bytes), a difference (4 + 4 + 4), a product (4 + 4) and a difference; gradients are added (4 + 2 + 4), those of
keys and values also joined to be sent on (4 + 4). Source: `_SDPAMerger` and `_templated_ring_attention_backward` of
PyTorch."""
CASTS: dict[str, Passes] = {"fused": (0.0, 0.0, 0.0), "eager": (6.0, 5.0, 3.0)}
"""Eager merges also cast the first partial result to fp32 (2 + 4) and the final one back (4 + 2); a gradient of queries
begins with zeros (4), and all are cast."""
GRADIENT = 4.0
"""Bytes of a gradient of keys and values on an eager ring (`accum_dtype` of PyTorch); a fused one sends 16 bits."""


def attend(out: Writer, core: Core) -> None:
    """Write the core of attention and what the context axis exchanges around it."""
    context, name = out.rank.context, "attention backward" if core.backward else "attention"
    if context.over_heads > 1:
        _to_heads(out, core, name)
    if context.over_tokens == 1:
        out.compute(name, core)
    elif _whole(out.rank, core):
        _all_gather(out, core, name)
    else:
        _blocks(out, core, name)
    if context.over_heads > 1:
        _to_tokens(out, core, name)


def keys(rank: Rank, kernel: str) -> Count:
    """Return where the queries of the rank that others wait for end: those of the middle rank, or of the last one.

    Unfused kernels skip no keys: they mask the scores of all.
    """
    sequence, context = rank.sequence_length, rank.context
    if kernel in UNFUSED or context.tokens == "contiguous":
        return sequence
    return -(-(sequence + sequence // context.over_tokens) // 2)


def dealt_keys(rank: Rank) -> Count:
    """Return the key and value heads that a rank's tokens have; Ulysses copies them where it has more ranks."""
    over_heads = rank.context.over_heads
    return rank.kv_heads if over_heads == 1 else max(rank.kv_heads, over_heads)


def buffer(rank: Rank, core: Core) -> Bytes:
    """Return what a rank holds of other ranks' keys and values of one layer: the ring's next block, or all of them."""
    context, block = rank.context, _row(rank) * dealt_keys(rank) * (core.head_size + core.value_size)
    if context.over_tokens == 1:
        return 0.0
    return (context.over_tokens if context.kind == "all-gather" or _windowed(rank, core) else 2) * block


def _windowed(rank: Rank, core: Core) -> bool:
    return core.window is not None and core.window < rank.sequence_length


def _whole(rank: Rank, core: Core) -> bool:
    """Return whether one kernel takes all keys at once, which windows need.

    Transformer Engine refuses sliding windows with ``p2p``, and PyTorch has them in FlexAttention only, which gathers
    (`flex_cp_allgather`). Otherwise PyTorch goes through the keys rank by rank even after an all-gather.
    """
    return _windowed(rank, core) or (rank.context.kind == "all-gather" and rank.stack.context_merge == "fused")


def _row(rank: Rank) -> float:
    """Return the bytes of one value of each token on a rank."""
    return rank.tokens * rank.value


def _key_heads(rank: Rank) -> Count:
    """Return the key heads that travel; stacks that copy them to every query head send the copies."""
    return rank.heads if rank.stack.repeats_keys else dealt_keys(rank)


def _keys_and_values(rank: Rank, core: Core) -> Bytes:
    return _row(rank) * _key_heads(rank) * (core.head_size + core.value_size)


# Exchanges of tokens for heads.


def _to_heads(out: Writer, core: Core, name: str) -> None:
    """Exchange queries, keys and values, each in a call of its own; backward, the gradient of the output."""
    if core.backward:
        _deal(out, f"{name} scatter heads", out.rank.heads * core.value_size)
        return
    _deal_inputs(out, core, f"{name} scatter heads")


def _to_tokens(out: Writer, core: Core, name: str) -> None:
    if core.backward:
        _deal_inputs(out, core, f"{name} gather heads")
        return
    _deal(out, f"{name} gather heads", out.rank.heads * core.value_size)


def _deal_inputs(out: Writer, core: Core, name: str) -> None:
    key_heads = _key_heads(out.rank)
    for width in (out.rank.heads * core.head_size, key_heads * core.head_size, key_heads * core.value_size):
        _deal(out, name, width)


def _deal(out: Writer, name: str, width: Count) -> None:
    out.exchange(name, Exchange(out.rank.context.axis("heads"), "all_to_all", _row(out.rank) * width))


# Exchanges of keys and values.


def _gather(rank: Rank, core: Core, operation: str) -> Exchange:
    whole = _keys_and_values(rank, core) * rank.context.over_tokens
    return Exchange(rank.context.axis("tokens"), operation, whole)


def _all_gather(out: Writer, core: Core, name: str) -> None:
    out.exchange("key gather", _gather(out.rank, core, "all_gather"))
    out.compute(name, core)
    if core.backward:
        out.exchange("key gradient scatter", _gather(out.rank, core, "reduce_scatter"))


class _Step(NamedTuple):
    """Kernels over one piece of the keys, and what travels meanwhile."""

    sends: tuple[Exchange, ...] = ()
    own: bool = False
    """Whether these are the keys of the rank itself."""
    times: int = 1
    """Steps like this one that follow one another."""


def _blocks(out: Writer, core: Core, name: str) -> None:
    """Write attention in one kernel for the keys of each rank, beside what brings the next ones."""
    kind = out.stack.context_merge
    own = core._replace(keys=core.queries)
    zigzag = out.rank.context.tokens == "zigzag"
    seen = core._replace(keys=-(-core.queries // 2) if zigzag else core.queries, causal=False, piece=True)
    other = own if core.kernel in UNFUSED else seen
    merge = Traffic((MERGED if zigzag else 1.0) * _passed(out.rank, core, MERGE[kind]), 2 if core.backward else 1)
    for step in _steps(out.rank, core):
        sent = [out.background(f"{name} ring", exchange, share=step.times) for exchange in step.sends]
        out.compute(name, own if step.own else other, share=step.times)
        if not step.own:
            out.compute(f"{name} merge", merge, share=step.times)
        for exchange in sent:
            out.wait(exchange)
    if kind == "eager":
        if core.backward:
            out.exchange(f"{name} ring", _gradient_hop(out.rank, core))
        out.compute(f"{name} casts", Traffic(_passed(out.rank, core, CASTS[kind]), 2))


def _steps(rank: Rank, core: Core) -> tuple[_Step, ...]:
    """Return the steps in the order in which the software takes them.

    Forward, each step but the last sends on the keys and values that it works on. Backward, Transformer Engine starts
    with the keys that its forward ended with, sends gradients in the message of the next keys, and ends with the rank's
    own ones. PyTorch starts with those and sends gradients, in fp32, in messages of their own: the last one behind all
    kernels. Its all-gather brings the keys beside the first step.
    """
    pieces, hop = rank.context.over_tokens, _hop(rank, _keys_and_values(rank, core))
    if rank.stack.context_merge == "fused" and core.backward:
        both = _hop(rank, 2 * hop.nbytes)
        steps: tuple[_Step, ...] = (_Step((hop,)), _Step((both,), times=pieces - 2), _Step((hop,), own=True))
    else:
        gradient = (_gradient_hop(rank, core),) if core.backward else ()
        if rank.context.kind == "all-gather":
            steps = (_Step((_gather(rank, core, "all_gather"),), own=True), _Step(gradient, times=pieces - 1))
        else:
            steps = (_Step((hop,), own=True), _Step((hop, *gradient), times=pieces - 2), _Step(gradient))
    return tuple(step for step in steps if step.times)


def _hop(rank: Rank, nbytes: Bytes) -> Exchange:
    return Exchange(rank.context.axis("tokens"), "send", nbytes)


def _gradient_hop(rank: Rank, core: Core) -> Exchange:
    """Return the send of the gradients of keys and values that an eager ring adds up in fp32."""
    return _hop(rank, _keys_and_values(rank, core) * GRADIENT / rank.value)


def _passed(rank: Rank, core: Core, passes: Passes) -> Bytes:
    """Return what so many passes over the context move, or backward over the gradients of queries, keys and values."""
    context, queries, keys = passes
    heads = _row(rank) * rank.heads
    if not core.backward:
        return context * heads * core.value_size
    return queries * heads * core.head_size + keys * _keys_and_values(rank, core)
