"""Writes the operations of blocks on one rank: products with their exchanges, and passes over bytes between them.

Sources: Megatron-LM's layer (Narayanan et al. 2021; Korthikanti et al. 2022 for sequence parallelism),
Transformer Engine for fp8 casts and overlapped tensor parallelism. Bytes of elementwise work are what the kernels read
and write, two bytes a value in 16 bit: a fused norm reads and writes the residual stream once and its backward moves
twice as much, a bias-dropout-residual kernel reads two tensors and writes one, an activation reads its inputs and
writes its output. Backward, the gradients of the two branches are added, dropout masks one of them, and each bias sums
its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.workload import adapters
from simulator.workload.methods.base import Adapter
from simulator.workload.operations import Builder, Exchange, Gemm, Traffic
from simulator.workload.rank import LOW_PRECISION, Rank
from simulator.workload.stack import WIDTH

EAGER_NORM_BYTES = 60.0
"""Bytes a value of an RMSNorm written in separate PyTorch kernels with an fp32 upcast: 18 to 20 times the
minimal traffic at the bandwidth of STREAM, measured for the Hugging Face kernel (Liger-Kernel benchmarks)."""

ACTIVATION_PASSES = {(False, False): (2, 3), (True, False): (3, 5), (True, True): (5, 9)}
"""Passes over the width of an MLP, forward and backward, by whether it is gated and written in separate kernels: read
the input and write the output; the backward reads both inputs and the gradient and writes a gradient for each input."""

CAST_BYTES = {"delayed": 4.0, "block": 4.0, "current": 6.0}
"""Bytes a value of a GEMM input to quantise: read 2, write it and its transpose 1 each; current scaling reads
it once more for the maximum (Transformer Engine)."""
NORM_CAST_BYTES = 1.0
"""The same where the norm ahead writes eight bits: it saves the write of 16 bits and their reading, and only the
transpose is left to read and write (`layernorm_fwd_fp8` of Transformer Engine)."""


class Writer(Builder):
    def __init__(self, rank: Rank, *, recompute: bool = False) -> None:
        super().__init__(recompute)
        self.rank = rank
        self.model = rank.model
        self.stack = rank.stack
        self.tensor = rank.tensor
        self.dtype = rank.precision.products
        self.ring = rank.stack.async_tensor == "ring" and rank.sequence
        self.asynchronous = rank.stack.async_tensor != "none"
        self.frozen = False
        """Whether the matrices of the block that writes are frozen."""
        self.adapters: Mapping[str, tuple[Adapter, ...]] = {}
        """Its adapters, by the product that they stand beside."""

    def beside_itself(self, *, recompute: bool = False) -> Writer:
        """Return an empty writer for the same block."""
        other = Writer(self.rank, recompute=recompute)
        other.frozen, other.adapters = self.frozen, self.adapters
        return other

    # Elementwise pieces: bytes.

    def norm(self, name: str, values: float, *, backward: bool = False) -> None:
        eager = self.stack.norm == "eager"
        nbytes = values * (EAGER_NORM_BYTES * self.rank.value / 2 if eager else 2 * self.rank.value)
        self.compute(name, Traffic(nbytes * (1.6 if eager else 2) if backward else nbytes, 8 if eager else 1))

    def residual(self, name: str, *, backward: bool = False) -> None:
        """Add a branch to the residual stream, or add up the gradients of both and take the dropout and bias back."""
        e, dropped = self.rank.value, bool(self.model.dropout)
        eager, biased = self.stack.elementwise == "eager", self.model.bias == "all"
        nbytes, kernels = 3 * e, 1
        if dropped and (eager or backward):
            nbytes, kernels = nbytes + 2 * e + 1, kernels + 1
        elif dropped:
            nbytes += 1
        if biased and backward:
            nbytes, kernels = nbytes + e, kernels + 1
        elif biased and eager and self.stack.row_bias == "apart":
            nbytes, kernels = nbytes + 2 * e, kernels + 1
        self.compute(name, Traffic(nbytes * self.rank.scattered * self.model.hidden, kernels))

    def activation(self, name: str, values: float, *, backward: bool = False) -> None:
        eager = self.stack.mlp == "eager"
        forward, back = ACTIVATION_PASSES[self.model.gated, self.model.gated and eager]
        self.compute(name, Traffic(values * (back if backward else forward) * self.rank.value, 2 if eager else 1))

    def bias_gradient(self, name: str, values: float) -> None:
        """Sum an output gradient over its tokens, in a kernel that reads it once more."""
        if self.frozen:
            return
        if self.model.bias == "all" or (self.model.bias == "qkv" and name == "qkv"):
            self.compute(f"{name} bias", Traffic(values * self.rank.value), weight_gradient=True)

    def cast(self, name: str, values: float, *, normed: bool = False) -> None:
        """Quantise an operand; a norm ahead of the product may write it so where the scale is known before."""
        if self.rank.precision.kind not in LOW_PRECISION:
            return
        scaling = self.rank.precision.scaling
        fused = normed and self.stack.norm_casts and scaling == "delayed"
        self.compute(f"{name} cast", Traffic(values * (NORM_CAST_BYTES if fused else CAST_BYTES[scaling])))

    # Matrix products with their exchanges.

    def product(self, rows: float, columns: float, depth: float) -> Gemm:
        """Return a product in the number format of the run."""
        return Gemm(rows, int(columns), depth, 1, self.dtype)

    def gather(self) -> Exchange:
        return Exchange("tensor", "all_gather", self.rank.gathered_bytes)

    def scatter(self) -> Exchange:
        """Add up the ranks' parts of the residual stream: each rank gets its tokens, or all of them."""
        return Exchange("tensor", "reduce_scatter" if self.rank.sequence else "all_reduce", self.rank.gathered_bytes)

    def column(self, name: str, width: float) -> None:
        """A product whose output is split over the tensor axis; its input is gathered first."""
        product = self.product(self.rank.tokens, width, self.model.hidden)
        self.cast(name, self.rank.scattered * self.model.hidden, normed=True)
        if self.ring:
            self._dequantise(name, product)
            self.gather_beside(name, self.gather(), product, self.tensor)
            self._adapt(name, product)
            return
        if self.rank.sequence:
            self.exchange(f"{name} gather", self.gather())
        self.multiply(name, product)

    def row(self, name: str, depth: float, *, reduced: bool = True) -> None:
        """A product whose input is split over the tensor axis; its partial outputs are added up."""
        self.cast(name, self.rank.tokens * depth)
        product = self.product(self.rank.tokens, self.model.hidden, int(depth))
        if self.ring and reduced:
            self._dequantise(name, product)
            self.scatter_beside(name, product, self.scatter(), self.tensor)
            self._adapt(name, product)
            return
        self.multiply(name, product)
        if self.tensor > 1 and reduced:
            self.exchange(f"{name} reduce", self.scatter())

    def multiply(self, name: str, product: Gemm) -> None:
        """Write a product with a weight matrix, and what adapters beside it add."""
        self._dequantise(name, product)
        self.compute(name, product)
        self._adapt(name, product)

    def input_product(self, name: str, product: Gemm) -> None:
        """Write the gradient of the input of `product`."""
        self._dequantise(name, product)
        self.compute(f"{name} dgrad", self.input_gradient(product))

    def _dequantise(self, name: str, product: Gemm) -> None:
        if self.frozen:
            adapters.dequantise(self, self.rank, name, product)

    def _adapt(self, name: str, product: Gemm) -> None:
        for adapter in self.adapters.get(name, ()):
            adapters.forward(self, self.rank, name, product, adapter)

    def weight(self, name: str, product: Gemm) -> None:
        """The weight gradient of C[m, n] = A[m, k] B[k, n]: n x k from m, added to the main gradient.

        Added apart, it is read once more, and the main gradient read and written in its own format.
        """
        for adapter in self.adapters.get(name, ()):
            adapters.backward(self, self.rank, name, product, adapter)
        if self.frozen:
            return
        fused = self.stack.gradient_accumulation_fusion
        self.compute(
            f"{name} wgrad",
            Gemm(product.k, product.n, product.m, product.groups, product.dtype, fused, product.kernels),
            weight_gradient=True,
        )
        if not fused and not self.rank.reduced:
            values = product.k * product.n * product.groups * product.kernels
            width = self.rank.value + 2 * WIDTH[self.rank.states.gradients]
            self.compute(f"{name} accumulate", Traffic(values * width), weight_gradient=True)

    def column_backward(self, name: str, width: float, *, reduced: bool = True) -> None:
        product = self.product(self.rank.tokens, width, self.model.hidden)
        self.cast(f"{name} grad", self.rank.tokens * width)
        gathered = None
        if self.rank.sequence and not self.stack.saved_gathers:
            gathered = self.beside(f"{name} gather", self.gather())
        self._dequantise(name, product)
        self.compute(f"{name} dgrad", product._replace(n=self.model.hidden, k=width))
        reduced = self.tensor > 1 and reduced
        scattered = self.beside(f"{name} reduce", self.scatter()) if reduced else None
        if gathered is not None:
            self.wait(gathered)
        self.weight(name, product)
        self.bias_gradient(name, self.rank.tokens * width)
        if scattered is not None and self.asynchronous:
            self.wait(scattered)

    def beside(self, name: str, exchange: Exchange) -> int:
        """Start an exchange beside the next operation, or ahead of it where the software waits for it at once."""
        started = self.background(name, exchange)
        if not self.asynchronous:
            self.wait(started)
        return started

    def row_backward(self, name: str, depth: float) -> None:
        product = Gemm(self.rank.tokens, self.model.hidden, depth, 1, self.dtype)
        input_gradient = self.input_gradient(product)
        self.cast(f"{name} grad", self.rank.scattered * self.model.hidden)
        self._dequantise(name, product)
        if self.ring:
            self.gather_beside(f"{name} dgrad", self.gather(), input_gradient, self.tensor)
        else:
            if self.rank.sequence:
                self.exchange(f"{name} grad gather", self.gather())
            self.compute(f"{name} dgrad", input_gradient)
        self.weight(name, product)

    @staticmethod
    def input_gradient(product: Gemm) -> Gemm:
        """Return the product that gives the gradient of the input of `product`."""
        return product._replace(n=int(product.k), k=product.n)
