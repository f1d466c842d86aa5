"""What every block of a layer says of itself: its parameters, its operations, what it keeps, and its FLOPs.

A layer is a list of blocks, and each end of a model is one. Time, memory, parameters, FLOPs and the load of links are
readings of that list; a new block is one file, and a new kind of mixer is found by its `kind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from simulator.units import Bytes, Flops, Seconds
from simulator.workload.layout import Parallelism
from simulator.workload.methods.base import Linear
from simulator.workload.model import Model
from simulator.workload.rank import Division, Rank
from simulator.workload.writer import Writer

Convention = Literal["6n", "causal", "full"]
"""How FLOPs are counted (`simulator.workload.flops`)."""
Terms = dict[str, Bytes]
"""Bytes by name, in the order of the forward."""
Misfit = tuple[tuple[str, str], str]
"""A key of the scenario, and what is wrong with it."""


class Part(NamedTuple):
    """A named part of a block: how many parameters, and what divides them."""

    name: str
    size: int
    division: Division
    idle: int = 0
    """Of them, those that a token does not use: experts it is not sent to."""
    matrix: tuple[int, int] | None = None
    """Shape of the matrices that the part is made of, all alike: the side that every rank has whole, and the side that
    its division splits. None for vectors, and for tables that are looked up."""


class Block(ABC):
    """One piece of a layer between two residuals, or an end of the model; frozen, equal where all it does is."""

    name: ClassVar[str]
    """What its norm and its residual are called."""
    modules: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What recomputing a module gives back of the kept terms; a module comes ahead of those that are part of it."""
    ends_in_product: ClassVar[bool] = False
    """Whether nothing that the backward needs comes after the last product of its forward."""

    @abstractmethod
    def parts(self, model: Model) -> tuple[Part, ...]:
        """Return its parameters; parts without any may be among them."""

    @property
    def trains_base(self) -> bool:
        """Whether its own weights learn, and those of the norm ahead of it."""
        return True

    @property
    def has_backward(self) -> bool:
        """Whether gradients pass through it."""
        return True

    def frozen(self, model: Model) -> tuple[Part, ...]:
        """Return its parameters that do not learn."""
        return ()

    def linears(self, model: Model) -> tuple[Linear, ...]:
        """Return the products with its matrices that adapters may stand beside."""
        return ()

    def keeps_input(self, rank: Rank) -> bool:
        """Return whether its backward needs what the norm ahead of it gives."""
        return True

    def dequantised(self, rank: Rank) -> Bytes:
        """Return what its largest matrix takes while a pass has it in 16 bits, if it is stored in fewer."""
        return 0.0

    def more_calls(self, rank: Rank) -> int:
        """Return the PyTorch calls that its forward takes beyond those of a layer that is trained whole."""
        return 0

    @abstractmethod
    def forward(self, out: Writer) -> None:
        """Write its operations for one microbatch, without the norm ahead and the residual behind."""

    @abstractmethod
    def backward(self, out: Writer) -> None:
        """Write the gradients of its inputs and, marked so, of its weights."""

    @abstractmethod
    def kept(self, rank: Rank) -> Terms:
        """Return the bytes that it keeps of one microbatch for its backward, without recompute."""

    def unlisted(self, rank: Rank) -> tuple[str, ...]:
        """Return its products that are not on torchtitan's list of operations whose output is kept."""
        return ()

    def listed(self, rank: Rank, terms: Terms) -> Terms:
        """Return what of its kept terms stays where every other product is recomputed (torchtitan)."""
        return {}

    def gradients(self, rank: Rank) -> Bytes:
        """Return the most that gradients inside it take in its backward, beyond what that frees meanwhile."""
        return 0.0

    def recomputed(self, modules: Sequence[str]) -> tuple[str, ...]:
        """Return its modules that are among `modules`, without those that are part of another one."""
        return tuple(module for module in self.modules if module in modules)

    def recompute(self, out: Writer, module: str) -> None:  # noqa: B027 - most blocks have no such module
        """Write what is computed again where this one of its modules is."""

    def flops(self, model: Model, sequence: int, convention: Convention) -> Flops:
        """Return the FLOPs a token, forward and backward, that do not follow from the count of parameters."""
        return 0.0

    def keeps_scores(self, rank: Rank) -> bool:
        """Return whether it keeps the scores of every query and key."""
        return False

    def unfused(self, rank: Rank) -> bool:
        """Return whether it writes the scores of every query and key, so that selective recompute pays."""
        return False

    def buffers(self, rank: Rank) -> Bytes:
        """Return buffers that stay allocated beside everything else, for one layer at a time."""
        return 0.0

    def check(self, model: Model, parallelism: Parallelism) -> Misfit | None:
        """Return what the axes cannot divide: the key of the scenario, and why; None where they divide all."""
        return None

    def launch(self, rank: Rank) -> Seconds | None:
        """Return the host's time for the forward of a layer with this block, where it is not that of a dense one."""
        return None


def norm_size(model: Model, width: int | None = None) -> int:
    """Return the parameters of one norm of `width`: a scale, and a bias where it is a layer norm with one."""
    return (width or model.hidden) * (2 if model.norm == "layernorm" and model.norm_bias else 1)


Blocks = tuple[Block, ...]
"""The blocks of one layer, in the order of the forward."""


def norms(model: Model, blocks: Blocks) -> tuple[int, int]:
    """Return how many norms stand ahead of the blocks of a layer, and how many more are at its end."""
    return min(model.norms, len(blocks)), max(model.norms - 2, 0)
