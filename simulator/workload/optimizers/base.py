"""What every optimizer says of itself: the state it keeps of a parameter, and what a rank does to update its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from simulator.units import Bytes, Number
from simulator.workload.matrices import Matrices, Owners
from simulator.workload.model import Model
from simulator.workload.operations import Work


class Widths(NamedTuple):
    """Bytes a parameter."""

    weights: Bytes
    gradients: Bytes
    optimizer: Bytes
    """Master weights, moments and what the stack adds to them."""
    compute: Bytes
    """Weights as layers use them."""
    extra_gradient: Bytes
    extra_state: Bytes
    """Of `optimizer`, what the stack adds to master weights and moments."""
    updated: Bytes
    """Of weights, what an update writes, and reads where they are their own master."""
    copies: Bytes = 0.0
    """What an update writes beside the state, reads again and lets go."""
    sweeps: Number = 1.0
    """Bytes that the kernels of an update move over those of one sweep over the state."""


class Update(NamedTuple):
    """What one rank does once a step."""

    nbytes: Bytes
    """Read and written by one sweep of a multi-tensor kernel over the state."""
    work: tuple[Work, ...] = ()
    """Products and exchanges beyond that, one after the other."""


class Products(NamedTuple):
    """What one rank does once a step because its weights are matrices."""

    work: tuple[Work, ...] = ()
    """Products and exchanges, one after the other."""
    calls: int = 0
    """PyTorch calls that launch them, which the host makes one by one."""


class Optimizer(ABC):
    kind: ClassVar[str]
    bare: ClassVar[bool] = True
    """One without keys is written as its kind alone."""
    warning: ClassVar[str] = ""
    """What a step with it leaves out, if anything."""
    of_matrices: ClassVar[bool] = False
    """Whether it works on whole matrices, which ranks then share out whole."""

    @abstractmethod
    def moments(self, model: Model, width: Bytes, *, end: bool) -> Bytes:
        """Return the bytes a parameter of its averages, of `width` bytes a value: inside the layers, or at an `end`.

        The ends are the embedding and an untied head.
        """

    def update(self, model: Model, parameters: float, width: Widths) -> Update:
        """Return what a rank does that updates so many of the model's parameters.

        Gradients are read for their norm and for the update, states read and written, weights written; copies are
        written and read.
        """
        swept = 2 * width.gradients + 2 * width.optimizer + width.updated
        return Update(parameters * (width.sweeps * swept + 2 * width.copies))

    def on_matrices(self, matrices: Matrices, owners: Owners) -> Products:
        """Return what a rank does beyond its update because of the shapes of the weight matrices that it holds."""
        return Products()
