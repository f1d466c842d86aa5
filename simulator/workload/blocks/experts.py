"""A mixture-of-experts MLP: route, dispatch, grouped products, combine.

Megatron-Core's token dispatchers: a rank routes the tokens it holds (scattered over the tensor axis under
sequence parallelism), sends each to its experts over the expert axis, gathers over the expert-tensor axis,
multiplies, and returns them. All counts are means times the imbalance, the load of the fullest rank over the
mean; published throughput is measured with routing forced to balance. With a capacity every expert has as many
rows of every rank, padded or cut off, so that all ranks do the same whatever the imbalance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from simulator.units import Bytes, Seconds
from simulator.workload import capacity
from simulator.workload.blocks.base import Block, Part, Terms
from simulator.workload.blocks.mlp import Mlp, inner_gradients, kept_inner
from simulator.workload.methods.base import Linear
from simulator.workload.model import Experts, Model
from simulator.workload.operations import Exchange, Gemm, Traffic
from simulator.workload.rank import QUANTIZED, Rank
from simulator.workload.writer import Writer

ROUTER_PASSES = 6
"""Passes over the fp32 scores: softmax or sigmoid, top-k, normalise, histogram, auxiliary loss (Megatron-Core)."""
ROUTER = 9.0
"""Bytes of router scores kept a token and expert: fp32 logits and probabilities, and one byte of the choice."""

BLOCK_SCALE = 4 / 128
"""Bytes that scales add to a value on the wire: one in fp32 for each 128 (DeepEP, `tests/legacy/test_internode.py`)."""

BIAS_KERNELS, BIAS_KERNELS_BACKWARD = 2, 5
"""Kernels an expert that add the bias of its last product, and that take it apart again."""
SHARED = ("shared expert inner", "shared expert activation")
"""What shared experts keep."""


@dataclass(frozen=True)
class ExpertMlp(Block):
    name = "mlp"
    modules: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "moe": ("router", "expert inputs", "expert inner", "expert activation", "expert outputs", *SHARED),
        "moe_activation": ("expert activation",),
        "shared_experts": SHARED,
    }

    experts: Experts

    @property
    def _shared(self) -> tuple[Mlp, ...]:
        return (Mlp(self.experts.shared * self.experts.ffn, "shared expert"),) if self.experts.shared else ()

    def parts(self, model: Model) -> tuple[Part, ...]:
        matrix, biased = model.hidden * self.experts.ffn, model.bias == "all"
        return (
            Part("router", model.hidden * self.experts.count, "replicated", matrix=(model.hidden, self.experts.count)),
            Part("router_bias", (biased or self.experts.router_bias) * self.experts.count, "replicated"),
            self._of_each("experts", (2 + model.gated) * matrix, "expert")._replace(
                matrix=(model.hidden, self.experts.ffn)
            ),
            self._of_each("expert_up_bias", biased * (1 + model.gated) * self.experts.ffn, "expert"),
            self._of_each("expert_down_bias", biased * model.hidden, "expert_replicated"),
            *(part for mlp in self._shared for part in mlp.parts(model)),
        )

    def linears(self, model: Model) -> tuple[Linear, ...]:
        """Return the products of the experts that every token passes; adapters of routed ones are not modelled."""
        return tuple(linear for mlp in self._shared for linear in mlp.linears(model))

    def _of_each(self, name: str, size: int, division: Literal["expert", "expert_replicated"]) -> Part:
        return Part(name, self.experts.count * size, division, idle=(self.experts.count - self.experts.active) * size)

    # Operations.

    def forward(self, out: Writer) -> None:
        rank, (up, down, rows) = out.rank, self._products(out.rank)
        width = self.experts.ffn / rank.expert_tensor
        out.compute("router", self._router(rank))
        out.compute("routing", Traffic(rank.scattered * self.experts.count * 4.0 * ROUTER_PASSES, ROUTER_PASSES))
        self._permute(out, "permute", self._sent(rank))
        self._send(out, "dispatch", beside=[mlp.up for mlp in self._shared])
        self._sort(out, "sort", rows)
        out.cast("expert up", rows * out.model.hidden)
        out.multiply("expert up", up)
        out.activation("expert activation", rows * width)
        out.cast("expert down", rows * width)
        out.multiply("expert down", down)
        self._bias(out, rows)
        self._sort(out, "unsort", rows)
        self._send(out, "combine", back=True, beside=[mlp.down for mlp in self._shared])
        self._permute(out, "unpermute", self._sent(rank))
        for mlp in () if out.stack.shared_expert_overlap else self._shared:
            mlp.forward(out)

    def backward(self, out: Writer) -> None:
        rank, (up, down, rows) = out.rank, self._products(out.rank)
        width = self.experts.ffn / rank.expert_tensor
        for mlp in () if out.stack.shared_expert_overlap else self._shared:
            mlp.backward(out)
        self._permute(out, "unpermute backward", self._sent(rank))
        self._send(out, "combine backward", beside=[mlp.down_backward for mlp in self._shared])
        self._sort(out, "unsort backward", rows)
        self._bias(out, rows, backward=True)
        out.cast("expert down grad", rows * out.model.hidden)
        out.input_product("expert down", down)
        out.weight("expert down", down)
        out.activation("expert activation backward", rows * width, backward=True)
        out.cast("expert up grad", rows * up.n)
        out.input_product("expert up", up)
        out.weight("expert up", up)
        self._sort(out, "sort backward", rows)
        self._send(out, "dispatch backward", back=True, beside=[mlp.up_backward for mlp in self._shared])
        self._permute(out, "permute backward", self._sent(rank))
        out.compute("router dgrad", out.input_gradient(self._router(rank)))
        out.weight("router", self._router(rank))

    def recomputed(self, modules: Sequence[str]) -> tuple[str, ...]:
        return ("moe",) if "moe" in modules else super().recomputed(modules)

    def recompute(self, out: Writer, module: str) -> None:
        match module:
            case "moe":
                self.forward(out)
            case "moe_activation":
                out.activation("expert activation", self._received(out.rank) * self.experts.ffn)
            case "shared_experts":
                for mlp in self._shared:
                    mlp.forward(out)

    def launch(self, rank: Rank) -> Seconds:
        padded = None if rank.moe.capacity is None else rank.stack.cpu_layer_capacity
        return rank.stack.cpu_layer_expert if padded is None else padded

    def _sent(self, rank: Rank) -> float:
        """Rows a rank sends: each of its tokens once for every expert it goes to, or what experts have room for."""
        return capacity.rows(self.experts, rank.scattered, rank.moe.capacity)

    def _received(self, rank: Rank) -> float:
        """Rows that the fullest rank of a group receives: all wait for it, and its memory decides."""
        return self._sent(rank) * (rank.moe.imbalance if rank.moe.capacity is None else 1)

    def _router(self, rank: Rank) -> Gemm:
        return Gemm(rank.scattered, self.experts.count, rank.model.hidden, 1, rank.wide)

    def _products(self, rank: Rank) -> tuple[Gemm, Gemm, float]:
        """Up and down products of the experts on one rank, and the rows of all of them together."""
        hidden, dtype, local = rank.model.hidden, rank.precision.products, self.experts.count // rank.expert
        rows = self._received(rank) * rank.expert_tensor
        width = self.experts.ffn / rank.expert_tensor
        groups, count = (local, 1) if rank.stack.grouped_gemm else (1, local)
        up = Gemm(rows / local, int(width * (1 + rank.model.gated)), hidden, groups, dtype, False, count)
        down = Gemm(rows / local, hidden, int(width), groups, dtype, False, count)
        return up, down, rows

    def _send(self, out: Writer, name: str, *, back: bool = False, beside: Sequence[Callable[[Writer], None]]) -> None:
        """Rows to their experts, or back, with the shared expert beside them where the software does so.

        The exchange lasts until the fullest rank has its rows.
        """
        rank, hidden = out.rank, out.model.hidden
        rows = self._received(rank)
        routing = self.experts.routing if out.stack.moe_dispatcher == "fused" else None
        row = hidden * wire_width(rank, back=back)
        around = Exchange("expert", "all_to_all", rows * row, routing, row if routing else 0.0, back)
        gathered = rows * rank.expert_tensor * hidden * rank.value
        over = Exchange("expert_tensor", "reduce_scatter" if back else "all_gather", gathered)
        exchanges = [(around, rank.expert > 1), (over, rank.expert_tensor > 1)]
        wanted = [exchange for exchange, wide in exchanges if wide]
        sent = out.one_by_one(name, reversed(wanted) if back else wanted)
        if out.stack.shared_expert_overlap:
            for piece in beside:
                piece(out)
        if sent is not None:
            out.wait(sent)

    def _permute(self, out: Writer, name: str, rows: float) -> None:
        """Copy tokens into a row for each expert ahead of a plain all-to-all, or add up the rows that came back."""
        if out.stack.moe_dispatcher != "fused":
            out.compute(name, Traffic(2 * rows * out.model.hidden * out.rank.value, 2))

    def _sort(self, out: Writer, name: str, rows: float) -> None:
        """Copy what came in into the order of the experts, or back.

        Of a fused dispatcher a token comes in once, however many of its experts are here, and gets its rows only now.
        """
        nbytes = rows * out.model.hidden * out.rank.value
        if out.stack.moe_dispatcher != "fused":
            out.compute(name, Traffic(2 * nbytes, 2))
            return
        arrived = self.experts.routing.places(self.experts.count // out.rank.expert) / self.experts.active
        out.compute(name, Traffic((1 + arrived) * nbytes))

    def _bias(self, out: Writer, rows: float, *, backward: bool = False) -> None:
        """The bias of the last product: grouped products return it to be added outside, weighted as its rows are."""
        if out.model.bias != "all" or out.stack.expert_bias == "fused":
            return
        forward, back = bias_bytes(out.rank.value, 4 if out.stack.moe_dispatcher == "fused" else 2)
        kernels = BIAS_KERNELS_BACKWARD if backward else BIAS_KERNELS
        nbytes = rows * out.model.hidden * (back if backward else forward)
        work = Traffic(nbytes, kernels * (self.experts.count // out.rank.expert) + 1)
        out.compute("expert bias backward" if backward else "expert bias", work)

    # Memory.

    def kept(self, rank: Rank) -> Terms:
        """What the fullest rank keeps."""
        rows = self._received(rank)
        terms = {
            "router": ROUTER * self.experts.count * rank.scattered,
            "expert inputs": rank.operand * rank.model.hidden * (rows * rank.expert_tensor),
        }
        terms |= kept_inner(rank, "expert", self._inner(rank))
        if rank.stack.keeps_expert_outputs:
            terms["expert outputs"] = rank.value * rank.model.hidden * rows
        for mlp in self._shared:
            terms |= mlp.kept(rank)
        return terms

    def unlisted(self, rank: Rank) -> tuple[str, ...]:
        return "expert up", "expert down"

    def listed(self, rank: Rank, terms: Terms) -> Terms:
        """Return halves of the shared experts, and the rows that exchanges bring to the routed ones and back.

        Grouped products are not on the list (`_op_sac_save_list`: `mm`, attention, `all_to_all_single`).
        """
        found = {name: nbytes / 2 for name, nbytes in terms.items() if name.startswith("shared")}
        if rank.expert > 1:
            rows = self._sent(rank) + self._received(rank)
            found["exchanged rows"] = rank.value * rank.model.hidden * rows
        return found

    def _inner(self, rank: Rank) -> float:
        """Return the inner values of a rank's experts."""
        return self.experts.ffn / rank.expert_tensor * (self._received(rank) * rank.expert_tensor)

    def gradients(self, rank: Rank) -> Bytes:
        return inner_gradients(rank, self._inner(rank))


def wire_width(rank: Rank, *, back: bool) -> Bytes:
    """Return the bytes of a value on its way to an expert, or back."""
    eight = rank.stack.quantized_combine if back else rank.stack.quantized_dispatch
    if not eight or rank.precision.kind not in QUANTIZED:
        return rank.value
    return QUANTIZED[rank.precision.kind] + (BLOCK_SCALE if rank.precision.kind == "fp8" else 0.0)


def bias_bytes(value: Bytes, probability: Bytes) -> tuple[Bytes, Bytes]:
    """Return the bytes a value that kernel by kernel the bias of the last product takes, forward and backward.

    `TEGroupedMLP._apply_bias` of Megatron-Core 0.15: forward, bias times probability is written, read, added to the
    value and written, and the experts are joined; backward, the gradient is multiplied with probability and with bias,
    each product is written and summed, and the experts are joined. Probabilities wider than values (fused dispatchers
    take fp32 only, `token_dispatcher.py`) widen all of it, and it is cast there and back.

    >>> bias_bytes(2, 2), bias_bytes(2, 4)
    ((12, 16), (28, 40))
    """
    wide = max(value, probability)
    casts = value + wide if wide > value else 0
    return 5 * wide + value + casts, 6 * wide + 2 * value + 2 * casts
