"""The weight matrices that one rank of a layout holds, and with whom it shares out their state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from simulator.workload.blocks.base import Part
from simulator.workload.matrices import Matrices, Matrix, Owners
from simulator.workload.parameters import layer_parts, mtp_parts
from simulator.workload.rank import Division, Rank
from simulator.workload.replica import Content
from simulator.workload.stack import WIDTH

EXPERTS: tuple[Division, ...] = ("expert", "expert_replicated")


@lru_cache(maxsize=1024)
def matrices_on_rank(rank: Rank, held: tuple[Content, ...]) -> Matrices:
    """Return the matrices of a stage on one rank; tables of the embedding and the head are not among them."""
    found: Counter[Matrix] = Counter()
    for chunk in held:
        for blocks, count in chunk.layers:
            _add(found, layer_parts(rank.model, blocks), rank, count)
    if any(chunk.head for chunk in held):
        _add(found, mtp_parts(rank.model), rank, rank.model.mtp)
    return tuple((matrix, count) for matrix, count in found.items() if count)


def _add(found: Counter[Matrix], parts: Iterable[Part], rank: Rank, times: int) -> None:
    for part in parts:
        if part.matrix is None:
            continue
        whole, split = part.matrix
        experts = part.division in EXPERTS
        count = part.size // (whole * split) // (rank.expert if experts else 1)
        found[Matrix(whole, split, _ways(part.division, rank), experts)] += times * count


def _ways(division: Division, rank: Rank) -> int:
    """Return how many ranks share the split side of a matrix."""
    ways: dict[Division, int] = {
        "tensor": rank.tensor,
        "key_value": min(rank.tensor, rank.model.kv_heads),
        "expert": rank.expert_tensor,
    }
    return ways.get(division, 1)


def owners(rank: Rank) -> Owners:
    """Return who shares out the matrices of a rank: nobody, where every replica has all of the state."""
    alone = rank.shard.level == "none"
    return Owners(
        dense=1 if alone else rank.sharers,
        experts=1 if alone else rank.expert_sharers,
        sharded=rank.layer_by_layer,
        data=rank.stack.muon_data,
        tensor=rank.stack.muon_tensor,
        momentum=WIDTH[rank.states.moments],
        dtype="fp16" if rank.precision.kind == "fp16" else "bf16",
    )
