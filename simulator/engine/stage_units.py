"""What a stage holds, piece by piece: layers by kind, the embedding, the head, each priced once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from simulator.engine.contents import Content, Kind, kinds_of
from simulator.engine.durations import Durations
from simulator.engine.streams import Play
from simulator.engine.work import NOTHING, PIECES, Piece
from simulator.machine.hardware import Gpu
from simulator.machine.kernels import attention
from simulator.sums import added
from simulator.units import Seconds, Share
from simulator.workload import ends, layer, recompute
from simulator.workload.operations import Program
from simulator.workload.parameters import embedding_on_rank, head_on_rank, layer_on_rank, mtp_on_rank
from simulator.workload.shape import Shape
from simulator.workload.stack import SOFTMAX_BLOCK, Stack

BACKWARD_LAUNCHES = 1.6
"""Kernels of a backward over those of its forward, as the host launches them (two products for one, fewer casts)."""
LAYER_CALLS = 22
"""PyTorch calls in the forward of a layer: two norms, four products, two batched ones, softmax, two dropouts with their
residuals, an activation, copies of queries, keys, values and the context, two reductions (Megatron-LM's
`ParallelTransformerLayer`)."""
EMBEDDING_CALLS = 6
"""The same of the embedding: two lookups, their sum, a mask of other ranks' rows and its fill, a transposition."""
HEAD_CALLS = 16
"""The same of the final norm, the head and its loss: product, cast, maximum, shift, mask and gather of the targets,
exponent, sum, three reductions, logarithm and mean (Megatron-LM's `vocab_parallel_cross_entropy`)."""
SOFTMAX_CALLS = 7
"""The same of a softmax that no fused kernel takes, beyond one: cast to fp32, scale, a mask of three, fill, cast back
(`FusedScaleMaskSoftmax.forward_torch_softmax`)."""
WEIGHT_SHARE = 1 / 3
"""Of the launches of a backward, those of weight gradients."""
FULL = ("full", "sqrt")


@dataclass(frozen=True)
class Unit:
    """Something that a chunk holds `count` times, with the weights of it that a rank holds."""

    forward: Piece
    backward: Piece
    input_gradient: Piece = NOTHING
    """With `weight_gradient` the halves of the backward; nothing where the schedule leaves it whole."""
    weight_gradient: Piece = NOTHING
    recompute: Piece = NOTHING
    """Ahead of the backward, where it is recomputed."""
    count: int = 1
    dense: float = 0.0
    experts: float = 0.0

    def recomputed(self, share: float) -> Unit:
        """Return the unit with its recompute in this share of its backwards."""
        if not self.recompute.parts:
            return self
        again = self.recompute * share
        return replace(
            self,
            backward=again + self.backward,
            input_gradient=again + self.input_gradient,
            recompute=NOTHING,
        )


@dataclass(frozen=True)
class Held:
    """The units that a chunk holds, in the order of the model, and what they come to."""

    units: tuple[Unit, ...]

    @cached_property
    def pieces(self) -> dict[str, Piece]:
        """Forward, backward and its halves, one unit after the other."""
        return {name: self._added(name) for name in PIECES.values()}

    @cached_property
    def weights(self) -> tuple[float, float]:
        """Parameters on a rank: dense ones, and those of experts."""
        return added(one.count * one.dense for one in self.units), added(one.count * one.experts for one in self.units)

    def _added(self, name: str) -> Piece:
        return sum((getattr(unit, name) * unit.count for unit in self.units), NOTHING)


class Units:
    """Prices the units of a shape, each kind once; `splits` where weight gradients run on their own."""

    def __init__(self, shape: Shape, durations: Durations, *, splits: bool) -> None:
        self.shape = shape
        self.durations = durations
        self.splits = splits
        self.ways = {"tensor": shape.tensor, "expert": shape.expert, "expert_tensor": shape.expert_tensor}
        self._layers: dict[Kind, Unit] = {}
        self.held: dict[tuple[Content, Share], Held] = {}
        """What chunks hold that recompute this share of their layers."""

    def shape_of(self, kind: Kind) -> Shape:
        return replace(self.shape, experts=kind.experts, window=kind.window)

    def layer(self, kind: Kind) -> Unit:
        """Return a layer: the longer of what the GPU and what the host needs."""
        if kind not in self._layers:
            index = kinds_of(self.shape.model).index(kind)
            held = layer_on_rank(self.shape.model, index, **self.ways)
            unit = self._layer(self.shape_of(kind))
            self._layers[kind] = replace(unit, dense=held["dense"], experts=held["experts"])
        return self._layers[kind]

    def _layer(self, shape: Shape) -> Unit:
        host = self._expert_host() if shape.experts else self._dense_host()
        unit = self._unit(layer.forward(shape), layer.backward(shape), host)
        if "recompute" in self.durations.without:
            return unit
        full = shape.recompute.kind in FULL
        return replace(unit, recompute=self._piece(recompute.recomputed(shape), host if full else 0.0))

    @cached_property
    def embedding(self) -> Unit:
        held = embedding_on_rank(self.shape.model, tensor=self.shape.tensor)
        unit = self._end(ends.embedding_forward, ends.embedding_backward, EMBEDDING_CALLS)
        return replace(unit, dense=added(held.values()))

    def head(self, *, beside_embedding: bool) -> Unit:
        """Return the head; a tied one is the embedding's own matrix where both are on one stage."""
        held = head_on_rank(self.shape.model, tensor=self.shape.tensor)
        if self.shape.model.tied and beside_embedding:
            held.pop("head")
        return replace(self._head, dense=added(held.values()))

    @cached_property
    def _head(self) -> Unit:
        return self._end(ends.head_forward, ends.head_backward, HEAD_CALLS)

    def mtp(self) -> Unit | None:
        """Return one multi-token-prediction module: a layer and the shared head once more."""
        model = self.shape.model
        if not model.mtp:
            return None
        one, head = self.layer(kinds_of(model)[model.layers]).recomputed(1.0), self._head
        held = mtp_on_rank(model, **self.ways)
        return Unit(
            forward=one.forward + head.forward,
            backward=one.backward + head.backward,
            input_gradient=one.input_gradient + head.input_gradient,
            weight_gradient=one.weight_gradient + head.weight_gradient,
            count=model.mtp,
            dense=held["dense"] / model.mtp,
            experts=held["experts"] / model.mtp,
        )

    def _end(self, forward: Callable[[Shape], Program], backward: Callable[[Shape], Program], calls: int) -> Unit:
        if "ends" in self.durations.without:
            return Unit(NOTHING, NOTHING)
        return self._unit(forward(self.shape), backward(self.shape), self._dense_host() * calls / LAYER_CALLS)

    def _unit(self, forward: Program, backward: Program, host: Seconds) -> Unit:
        """Return a unit whose forward takes the host so long to launch."""
        weight, rest = self._halves(backward)
        return Unit(
            forward=self._piece(forward, host),
            backward=self._piece(backward, BACKWARD_LAUNCHES * host),
            input_gradient=self._piece(rest, BACKWARD_LAUNCHES * host * (1 - WEIGHT_SHARE)),
            weight_gradient=self._piece(weight, BACKWARD_LAUNCHES * host * WEIGHT_SHARE),
        )

    def _halves(self, program: Program) -> tuple[Program, Program]:
        """Return the halves of a backward where the schedule splits it; nothing asks for them elsewhere."""
        return split(program) if self.splits else ((), ())

    @property
    def _graphs(self) -> bool:
        """Whether the host's time is nothing: CUDA graphs launch a layer in one call."""
        return self.shape.stack.cuda_graphs or "host" in self.durations.without

    def _dense_host(self) -> Seconds:
        """Return what the host needs to launch the forward of a dense layer."""
        stack = self.shape.stack
        if self._graphs:
            return 0.0
        host = stack.cpu_layer_tensor if self.shape.tensor > 1 else stack.cpu_layer
        plain = self.shape.kernel == "eager" and stack.softmax == "fused"
        return host * (1 + SOFTMAX_CALLS / LAYER_CALLS) if plain else host

    def _expert_host(self) -> Seconds:
        """Return the same of a layer with experts."""
        stack = self.shape.stack
        padded = None if self.shape.capacity is None else stack.cpu_layer_capacity
        return 0.0 if self._graphs else stack.cpu_layer_expert if padded is None else padded

    def _piece(self, program: Program, host: Seconds = 0.0) -> Piece:
        return piece(self.durations.play(program), host)


@lru_cache(maxsize=1024)
def units_of(shape: Shape, durations: Durations, splits: bool) -> Units:
    """Return the units of a shape; layouts that do the same in a layer share them."""
    return Units(shape, durations, splits=splits)


def piece(played: Play, host: Seconds = 0.0) -> Piece:
    """Return a play as a piece; what the host takes longer than the GPU is `other`."""
    if host > played.seconds > 0:
        rest = played.parts.get("other", 0.0) + host - played.seconds
        return Piece(host, {**played.parts, "other": rest})
    return Piece(played.seconds, played.parts)


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


def attention_kernel(stack: Stack, gpu: Gpu, *, sinks: bool = False, squares: float = SOFTMAX_BLOCK) -> str:
    """Return the attention kernel of a stack on a GPU: its own, or the GPU's best where that was never written.

    Unfused attention with sinks is plain PyTorch: no fused softmax takes their column.
    """
    kernel = stack.attention_of(sinks=sinks)
    if kernel == "unfused":
        return "sinks" if sinks else "eager" if stack.softmax_of(squares) == "eager" else "unfused"
    return kernel if kernel in gpu.kernels.attention else attention.newest(gpu)
