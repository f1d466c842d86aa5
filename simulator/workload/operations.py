"""What one rank does for one microbatch in one layer: matrix products, attention, memory traffic, exchanges.

A program is a list of operations in the order the framework issues them. Compute is one stream; each axis
of the mesh is another. An operation starts when its stream is free and what it `waits` for is done; an
exchange also waits for the compute operation issued before it, whose output it sends. That is how CUDA
streams work, and it is all that overlap is: nothing here says how long anything takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.workload.routing import Routing


class Gemm(NamedTuple):
    """C[m, n] += A[m, k] B[k, n], `groups` products in one kernel, `kernels` of them one after the other."""

    m: float
    n: int
    k: float
    groups: int = 1
    dtype: str = "bf16"
    accumulate: bool = False
    """Adds into an fp32 main gradient."""
    kernels: int = 1


class Core(NamedTuple):
    """Softmax(Q K^T) V, the attention proper."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    head_size: int
    value_size: int
    window: int | None
    kernel: str
    dtype: str
    causal: bool = True
    piece: bool = False
    """A block beside the diagonal of a causal sequence: it has no mask, and is no faster than a masked kernel."""
    backward: bool = False
    dropout: bool = False


class Traffic(NamedTuple):
    """Elementwise work, bound by what it reads and writes."""

    nbytes: float
    kernels: int = 1


class Exchange(NamedTuple):
    """A collective over an axis of the mesh; `nbytes` is the full buffer."""

    axis: str
    operation: str
    nbytes: float
    routing: Routing | None = None
    """How tokens find experts, in a dispatch that sends a token once to each host and rank (fused dispatchers)."""
    row: float = 0.0
    """Bytes of one row of such a dispatch."""
    adds: bool = False
    """Whether rows come back from experts and are added up, a combine."""


Work = Gemm | Core | Traffic | Exchange


class Operation(NamedTuple):
    name: str
    work: Work
    waits: tuple[int, ...] = ()
    """Positions in the program of the exchanges that must be done before."""
    share: float = 1.0
    """The part of the work that this piece of it is, where a kernel is cut to run beside an exchange."""
    recompute: bool = False
    weight_gradient: bool = False


Program = tuple[Operation, ...]


class Builder:
    """Writes a program line by line; a blocking exchange holds up the next compute operation."""

    def __init__(self, recompute: bool = False) -> None:
        self.operations: list[Operation] = []
        self._pending: list[int] = []
        self._recompute = recompute

    def compute(self, name: str, work: Work, *, share: float = 1.0, weight_gradient: bool = False) -> None:
        waits = tuple(self._pending)
        self.operations.append(Operation(name, work, waits, share, self._recompute, weight_gradient))
        self._pending.clear()

    def background(self, name: str, work: Exchange, *, share: float = 1.0) -> int:
        """Start an exchange beside what follows; give its position to `wait` where its result is needed."""
        waits = tuple(self._pending)
        self.operations.append(Operation(name, work, waits, share, self._recompute))
        return len(self.operations) - 1

    def wait(self, position: int) -> None:
        self._pending.append(position)

    def exchange(self, name: str, work: Exchange, *, share: float = 1.0) -> None:
        position = self.background(name, work, share=share)
        self._pending[:] = [position]

    def one_by_one(self, name: str, works: Iterable[Exchange]) -> int | None:
        """Start exchanges of which each waits for the one before; return the position of the last, if there is one."""
        position = None
        for work in works:
            if position is not None:
                self._pending[:] = [position]
            position = self.background(name, work)
            self._pending.clear()
        return position

    def gather_beside(self, name: str, exchange: Exchange, product: Gemm, pieces: int) -> None:
        """A ring gather whose pieces are multiplied as they arrive (asynchronous tensor parallelism)."""
        self.exchange(f"{name} gather", exchange, share=1 / pieces)
        rest = self.background(f"{name} gather", exchange, share=1 - 1 / pieces)
        self.compute(name, product, share=1 - 1 / pieces)
        self.wait(rest)
        self.compute(name, product, share=1 / pieces)

    def scatter_beside(self, name: str, product: Gemm, exchange: Exchange, pieces: int) -> None:
        """A ring scatter of pieces as they are multiplied."""
        self.compute(name, product, share=1 / pieces)
        first = self.background(f"{name} scatter", exchange, share=1 - 1 / pieces)
        self.compute(name, product, share=1 - 1 / pieces)
        self.wait(first)
        self.exchange(f"{name} scatter", exchange, share=1 / pieces)

    def extend(self, program: Program) -> None:
        """Append another program, after everything so far."""
        offset = len(self.operations)
        for index, operation in enumerate(program):
            waits = tuple(position + offset for position in operation.waits)
            if index == 0:
                waits += tuple(self._pending)
            self.operations.append(operation._replace(waits=waits))
        self._pending.clear()
        if program and isinstance(program[-1].work, Exchange):
            self._pending.append(len(self.operations) - 1)

    def program(self) -> Program:
        return tuple(self.operations)
