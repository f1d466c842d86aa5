"""A block that is frozen, wholly or beside adapters; what it computes is its own, what it trains and saves is less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

from simulator.sums import added
from simulator.units import Bytes, Flops, Seconds
from simulator.workload import adapters
from simulator.workload.blocks.base import Block, Convention, Misfit, Part, Terms
from simulator.workload.layout import Parallelism
from simulator.workload.methods.base import Adapter
from simulator.workload.model import Model
from simulator.workload.rank import Rank
from simulator.workload.tuning import Learning, Tuning
from simulator.workload.writer import Writer


@dataclass(frozen=True)
class Tuned(Block):
    """A block with what of it learns under a method of training."""

    block: Block
    tuning: Tuning
    learning: Learning

    def __post_init__(self) -> None:
        """Take over what a block says once for all."""
        for name in ("name", "modules", "ends_in_product"):
            object.__setattr__(self, name, getattr(self.block, name))

    @property
    def trains_base(self) -> bool:
        return self.learning == "whole" or (self.learning == "learns" and self.tuning.method.trains_base)

    @property
    def has_backward(self) -> bool:
        return self.learning != "still"

    def adapters(self, model: Model) -> dict[str, tuple[Adapter, ...]]:
        """Return the adapters beside each of its products, by the name of that operation."""
        return _adapters(self, model) if self.learning == "learns" else {}

    def parts(self, model: Model) -> tuple[Part, ...]:
        if self.trains_base:
            return tuple(part for part in self.block.parts(model) if self._learns(part))
        found = (adapter for those in self.adapters(model).values() for adapter in those)
        return tuple(Part(adapter.name, adapter.size, adapter.division) for adapter in found)

    def frozen(self, model: Model) -> tuple[Part, ...]:
        if self.trains_base:
            return tuple(part for part in self.block.parts(model) if not self._learns(part))
        return self.block.parts(model)

    def _learns(self, part: Part) -> bool:
        """Return whether a part of a block that is trained whole learns.

        Beside adapters only its table of the vocabulary does (`embed_tokens`, `lm_head`), not norms and positions.
        """
        return self.tuning.method.trains_base or part.division == "vocabulary"

    @contextmanager
    def _told(self, out: Writer) -> Iterator[None]:
        """Tell the writer what of its products learns, as long as this block writes them."""
        before = out.frozen, out.adapters
        out.frozen, out.adapters = not self.trains_base, self.adapters(out.model)
        yield
        out.frozen, out.adapters = before

    def forward(self, out: Writer) -> None:
        with self._told(out):
            self.block.forward(out)

    def backward(self, out: Writer) -> None:
        if self.has_backward:
            with self._told(out):
                self.block.backward(out)

    def recompute(self, out: Writer, module: str) -> None:
        with self._told(out):
            self.block.recompute(out, module)

    def kept(self, rank: Rank) -> Terms:
        """Return what its backward needs: inputs of frozen products only where an adapter multiplies by them."""
        if not self.has_backward:
            return {}
        if self.trains_base:
            return self.block.kept(rank)
        terms, beside = dict(self.block.kept(_without_casts(rank))), self.adapters(rank.model)
        for linear in self.block.linears(rank.model):
            if linear.saved and not self._wants(rank, beside.get(linear.product, ())):
                terms.pop(linear.saved, None)
        added_by = added(adapters.saved(rank, adapter) for those in beside.values() for adapter in those)
        return terms | ({f"{self.name} adapters": added_by} if added_by else {})

    def keeps_input(self, rank: Rank) -> bool:
        if self.trains_base:
            return self.block.keeps_input(rank)
        beside = self.adapters(rank.model)
        first = (linear.product for linear in self.block.linears(rank.model) if not linear.saved and not linear.row)
        return self.has_backward and any(self._wants(rank, beside.get(product, ())) for product in first)

    @staticmethod
    def _wants(rank: Rank, those: Sequence[Adapter]) -> bool:
        return any(adapters.needs_input(rank, adapter) for adapter in those)

    def dequantised(self, rank: Rank) -> Bytes:
        """Return the largest matrix of it on a rank in 16 bits, where every pass dequantises it."""
        if self.trains_base or not adapters.dequantises(rank):
            return 0.0
        sizes = (
            adapters.DEQUANTISED * matrix.ins * matrix.outs / (1 if matrix.division == "replicated" else rank.tensor)
            for linear in self.block.linears(rank.model)
            for matrix in linear.matrices
        )
        return max(sizes, default=0.0)

    def more_calls(self, rank: Rank) -> int:
        """Return the PyTorch calls that its forward takes beyond those of the block."""
        found = added(len(those) for those in self.adapters(rank.model).values()) * adapters.CALLS
        if not self.trains_base and adapters.dequantises(rank):
            matrices = added(len(linear.matrices) for linear in self.block.linears(rank.model))
            found += adapters.DEQUANTISE_CALLS * matrices
        return int(found)

    # What is the same whatever learns.

    def unlisted(self, rank: Rank) -> tuple[str, ...]:
        thin = (f"{name} adapter {way}" for name in self.adapters(rank.model) for way in ("down", "up"))
        return (*self.block.unlisted(rank), *thin)

    def listed(self, rank: Rank, terms: Terms) -> Terms:
        return self.block.listed(rank, self.block.kept(rank)) if self.has_backward else {}

    def gradients(self, rank: Rank) -> Bytes:
        return self.block.gradients(rank) if self.has_backward else 0.0

    def recomputed(self, modules: Sequence[str]) -> tuple[str, ...]:
        return self.block.recomputed(modules) if self.has_backward else ()

    def flops(self, model: Model, sequence: int, convention: Convention) -> Flops:
        return self.block.flops(model, sequence, convention)

    def keeps_scores(self, rank: Rank) -> bool:
        return self.block.keeps_scores(rank)

    def unfused(self, rank: Rank) -> bool:
        return self.block.unfused(rank)

    def buffers(self, rank: Rank) -> Bytes:
        return self.block.buffers(rank)

    def check(self, model: Model, parallelism: Parallelism) -> Misfit | None:
        return self.block.check(model, parallelism)

    def launch(self, rank: Rank) -> Seconds | None:
        return self.block.launch(rank)


@lru_cache(maxsize=1024)
def _without_casts(rank: Rank) -> Rank:
    """Return the rank without copies of products' inputs in eight bits, which gradients of their weights would take."""
    return replace(rank, stack=replace(rank.stack, quantized_saves=False))


@lru_cache(maxsize=4096)
def _adapters(tuned: Tuned, model: Model) -> dict[str, tuple[Adapter, ...]]:
    found = {linear.product: tuned.tuning.method.adapters(linear) for linear in tuned.block.linears(model)}
    return {product: those for product, those in found.items() if those}


def tuned(block: Block, tuning: Tuning, learning: Learning) -> Block:
    """Return the block under a method of training; itself where every weight of the model learns."""
    return block if tuning.everything else Tuned(block, tuning, learning)
