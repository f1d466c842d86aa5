"""What a stage holds, piece by piece: layers by kind, the embedding, the head, each priced once."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache

from simulator.engine.prices.durations import Durations
from simulator.engine.prices.paired import paired, share
from simulator.engine.step.pieces import Piece
from simulator.engine.step.work import BESIDE, Unit
from simulator.units import Seconds, Share
from simulator.workload import layer, learning
from simulator.workload.blocks.base import Block, Blocks
from simulator.workload.blocks.embedding import Embedding
from simulator.workload.blocks.head import Head
from simulator.workload.frozen import embedding_bytes, head_bytes, layer_bytes
from simulator.workload.layers import blocks_of
from simulator.workload.operations import Program
from simulator.workload.parameters import embedding_on_rank, head_on_rank, layer_on_rank, mtp_on_rank
from simulator.workload.rank import Rank
from simulator.workload.replica import Content
from simulator.workload.training import Recompute

BACKWARD_LAUNCHES = 1.6
"""Kernels of a backward over those of its forward, as the host launches them (two products for one, fewer casts)."""
LAYER_CALLS = 22
"""PyTorch calls in the forward of a layer: two norms, four products, two batched ones, softmax, two dropouts with their
residuals, an activation, copies of queries, keys, values and the context, two reductions (Megatron-LM's
`ParallelTransformerLayer`)."""
SOFTMAX_CALLS = 7
"""The same of a softmax that no fused kernel takes, beyond one: cast to fp32, scale, a mask of three, fill, cast back
(`FusedScaleMaskSoftmax.forward_torch_softmax`)."""
WEIGHT_SHARE = 1 / 3
"""Of the launches of a backward, those of weight gradients."""


def recomputed(unit: Unit, again: Piece | None, share: Share) -> Unit:
    """Return the unit with a piece that is computed again ahead of this share of its backwards."""
    if again is None or not again.items or not share:
        return unit
    piece = again.scaled(share)
    pieces = {kind: (piece, *those) if kind[0] in "BI" else those for kind, those in unit.pieces.items()}
    return replace(unit, pieces=pieces)


class Units:
    """Prices the units of a rank, each kind once; `splits` where weight gradients run on their own."""

    def __init__(self, rank: Rank, recompute: Recompute, durations: Durations, *, splits: bool) -> None:
        self.rank = rank
        self.recompute = recompute
        self.durations = durations
        self.splits = splits
        self._layers: dict[Blocks, tuple[Unit, Piece | None]] = {}
        self.held: dict[tuple[Content, Share, bool], tuple[Unit, ...]] = {}
        """What chunks hold that recompute this share of their layers, beside both ends of the model or not."""

    def layer(self, blocks: Blocks, recompute: Share = 1.0) -> Unit:
        """Return a layer of which this share is recomputed: the longer of what the GPU and what the host needs."""
        if blocks not in self._layers:
            self._layers[blocks] = self._layer(blocks)
        return recomputed(*self._layers[blocks], recompute)

    def _layer(self, blocks: Blocks) -> tuple[Unit, Piece | None]:
        rank, weights, host = self.rank, layer_on_rank(self.rank, blocks), self._host(blocks)
        unit = self._unit(layer.forward(rank, blocks), layer.backward(rank, blocks), host)
        fixed = layer_bytes(rank, blocks)
        unit = replace(
            unit,
            dense=weights.dense,
            experts=weights.experts,
            frozen_dense=fixed.dense,
            frozen_experts=fixed.experts,
        )
        if "recompute" in self.durations.without:
            return unit, None
        again = layer.recomputed(rank, blocks, self.recompute)
        return unit, self.durations.piece(again, host if self.recompute.kind in layer.WHOLE else 0.0)

    @cached_property
    def embedding(self) -> Unit:
        unit = self._end(learning.embedding(self.rank.tuning), Embedding.calls)
        return replace(unit, dense=embedding_on_rank(self.rank), frozen_dense=embedding_bytes(self.rank))

    def head(self, *, beside_embedding: bool) -> Unit:
        """Return the head; a tied one is the embedding's own matrix where both are on one stage."""
        return replace(
            self._head,
            dense=head_on_rank(self.rank, beside_embedding=beside_embedding),
            frozen_dense=head_bytes(self.rank, beside_embedding=beside_embedding),
        )

    @cached_property
    def _head(self) -> Unit:
        return self._end(learning.head(self.rank.tuning), Head.calls)

    def mtp(self) -> Unit | None:
        """Return one multi-token-prediction module: a layer and the shared head once more."""
        model = self.rank.model
        if not model.mtp:
            return None
        one, head = self.layer(blocks_of(model, model.layers)), self._head
        weights = mtp_on_rank(self.rank)
        return Unit(
            pieces={
                kind: (*one.pieces[kind], *head.pieces[kind])
                if kind[0] == "F"
                else (*head.pieces[kind], *one.pieces[kind])
                for kind in one.pieces
            },
            count=model.mtp,
            dense=weights.dense / model.mtp,
            experts=weights.experts / model.mtp,
        )

    def _end(self, block: Block, calls: int) -> Unit:
        if "ends" in self.durations.without:
            return self._unit((), (), 0.0)
        host = self._host((block,)) * calls / LAYER_CALLS
        return self._unit(layer.end(self.rank, block, "forward"), layer.end(self.rank, block, "backward"), host)

    def _unit(self, forward: Program, backward: Program, host: Seconds) -> Unit:
        """Return a unit whose forward takes the host so long to launch."""
        piece, back = self.durations.piece, BACKWARD_LAUNCHES * host
        pieces = {"F": (piece(forward, host),), "B": (piece(backward, back),)}
        if self.splits:
            weight, rest = split(backward)
            pieces["I"] = (piece(rest, back * (1 - WEIGHT_SHARE)),)
            pieces["W"] = (piece(weight, back * WEIGHT_SHARE),)
        if self.rank.pairs_microbatches:
            (one,), (other,) = pieces["F"], pieces["B"]
            ahead = share(one, other)
            pieces["F" + BESIDE] = (paired(one, other, ahead),)
            for kind in ("B", "I") if self.splits else ("B",):
                pieces[kind + BESIDE] = (paired(pieces[kind][0], one, 1 - ahead),)
        return Unit(pieces=pieces)

    def _host(self, blocks: Blocks) -> Seconds:
        """Return what the host needs to launch the forward of a layer; nothing where CUDA graphs do so in one call."""
        stack = self.rank.stack
        if stack.cuda_graphs or "host" in self.durations.without:
            return 0.0
        for block in blocks:
            if (own := block.launch(self.rank)) is not None:
                return own
        host = stack.cpu_layer_tensor if self.rank.tensor > 1 else stack.cpu_layer
        plain = self.rank.kernel == "eager" and stack.softmax == "fused"
        more = SOFTMAX_CALLS * plain + sum(block.more_calls(self.rank) for block in blocks)
        gathers = stack.cpu_gather if self.rank.reduced else 0.0
        return host * (1 + more / LAYER_CALLS) + gathers


@lru_cache(maxsize=1024)
def units_of(rank: Rank, recompute: Recompute, durations: Durations, splits: bool) -> Units:
    """Return the units of a rank; layouts that do the same in a layer share them."""
    return Units(rank, recompute, durations, splits=splits)


@lru_cache(maxsize=4096)
def split(program: Program) -> tuple[Program, Program]:
    """Return the weight gradients of a backward, and the rest, each as a program of its own."""
    weight = tuple(operation._replace(waits=()) for operation in program if operation.weight_gradient)
    kept = [index for index, operation in enumerate(program) if not operation.weight_gradient]
    renumbered = {old: new for new, old in enumerate(kept)}
    carried: tuple[int, ...] = ()
    rest = []
    for operation in program:
        if operation.weight_gradient:
            carried += operation.waits
            continue
        waits = tuple(renumbered[position] for position in (*operation.waits, *carried) if position in renumbered)
        carried = ()
        rest.append(operation._replace(waits=waits))
    return weight, tuple(rest)
