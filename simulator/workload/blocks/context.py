"""Attention over a sequence that is split over the context axis, by kind of exchange.

``ring`` passes keys and values on, rank by rank (Liu et al. 2023, arXiv 2310.01889). Each rank holds a piece from each
end of the sequence, so that all see half of the keys in the mean. Its own keys come first, causal; each of the others'
then meets half of its queries or half of their keys, in a kernel of its own, and is merged into what was found before
(Transformer Engine's ``context_parallel.py``, PyTorch's ``_templated_ring_attention``). So a ring does the same work as
one kernel in n pieces, which start and end n times. ``all-gather`` collects all keys and values first (Llama 3,
arXiv 2407.21783, section 3.3.2); ``ulysses`` exchanges tokens for heads (DeepSpeed-Ulysses, arXiv 2309.14509).
"""

from __future__ import annotations

from simulator.units import Bytes
from simulator.workload.operations import Core, Exchange, Traffic
from simulator.workload.rank import Rank
from simulator.workload.writer import Writer

MERGED = 0.75
"""Share of a tensor that a piece adds to: on half of the ranks all queries and half of the keys, on the others half of
the queries and all keys."""

Passes = tuple[float, float, float]
"""Passes of 16 bits over the context, and backward over the gradients of queries and over those of keys and values."""
MERGE: dict[str, Passes] = {"fused": (3.0, 3.0, 3.0), "eager": (19.0, 5.0, 9.0)}
"""Of a merge. In one kernel: read what was found before and the new piece, write their sum. Eager works in fp32: a cast
(2 + 4 bytes), a difference (4 + 4 + 4), a product (4 + 4) and a difference; gradients are added (4 + 2 + 4), those of
keys and values also joined to be sent on (4 + 4). Source: `_SDPAMerger` and `_templated_ring_attention_backward` of
PyTorch."""
CASTS: dict[str, Passes] = {"fused": (0.0, 0.0, 0.0), "eager": (6.0, 5.0, 3.0)}
"""Of what eager merges begin and end with: the first piece is cast (2 + 4) and the result (4 + 2); a gradient of
queries begins with zeros (4), and all are cast."""


def attend(out: Writer, core: Core) -> None:
    """Write the core of attention and what the context axis exchanges around it."""
    context, name = out.rank.context, "attention backward" if core.backward else "attention"
    if context.size == 1:
        out.compute(name, core)
    elif context.kind == "ulysses":
        _ulysses(out, core, name)
    elif context.kind == "all-gather":
        _all_gather(out, core, name)
    else:
        _ring(out, core, name)


def buffer(rank: Rank, core: Core) -> Bytes:
    """Return what a rank holds of other ranks' keys and values of one layer: the ring's next block, or all of them."""
    context, block = rank.context, _row(rank) * rank.kv_heads * (core.head_size + core.value_size)
    if context.size == 1 or context.kind == "ulysses":
        return 0.0
    return (2 if context.kind == "ring" else context.size) * block


def _row(rank: Rank) -> float:
    """Return the bytes of one value of each token on a rank."""
    return rank.tokens * rank.value


def _keys_and_values(rank: Rank, core: Core) -> float:
    """Return the bytes of a rank's keys and values; stacks that copy them to every query head send the copies."""
    heads = rank.heads if rank.stack.repeats_keys else rank.kv_heads
    return _row(rank) * heads * (core.head_size + core.value_size)


def _ulysses(out: Writer, core: Core, name: str) -> None:
    heads = _row(out.rank) * out.rank.heads
    received = heads * core.head_size + _keys_and_values(out.rank, core)
    out.exchange(f"{name} scatter heads", Exchange("context", "all_to_all", received))
    out.compute(name, core)
    out.exchange(f"{name} gather heads", Exchange("context", "all_to_all", heads * core.value_size))


def _all_gather(out: Writer, core: Core, name: str) -> None:
    whole = _keys_and_values(out.rank, core) * out.rank.context.size
    out.exchange("key gather", Exchange("context", "all_gather", whole))
    out.compute(name, core)
    if core.backward:
        out.exchange("key gradient scatter", Exchange("context", "reduce_scatter", whole))


def _ring(out: Writer, core: Core, name: str) -> None:
    size = out.rank.context.size
    hops = (size - 1) * (2 if core.backward else 1)
    ring = out.background(f"{name} ring", Exchange("context", "send", _keys_and_values(out.rank, core) * hops))
    if core.window is not None and core.window < core.keys:
        out.compute(name, core)
        out.wait(ring)
        return
    own = core._replace(keys=core.queries, causal=True)
    other = core._replace(keys=max(1, core.queries // 2), causal=False)
    kind = out.stack.context_merge
    merge = Traffic(MERGED * _passed(out.rank, core, MERGE[kind]), 2 if core.backward else 1)
    casts = Traffic(_passed(out.rank, core, CASTS[kind]), 2)
    out.compute(name, own)
    if size > 2:
        out.compute(name, other, share=size - 2)
        out.compute(f"{name} merge", merge, share=size - 2)
    out.wait(ring)
    out.compute(name, other)
    out.compute(f"{name} merge", merge)
    if casts.nbytes:
        out.compute(f"{name} casts", casts)


def _passed(rank: Rank, core: Core, passes: Passes) -> float:
    """Return what so many passes over the context move, or backward over the gradients of queries, keys and values."""
    context, queries, keys = passes
    heads = _row(rank) * rank.heads
    if not core.backward:
        return context * heads * core.value_size
    return queries * heads * core.head_size + keys * _keys_and_values(rank, core)
