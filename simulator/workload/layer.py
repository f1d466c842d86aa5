"""The operations of one transformer layer on one rank, forward and backward, for one microbatch.

Sources: Megatron-LM's layer (Narayanan et al. 2021; Korthikanti et al. 2022 for sequence parallelism),
Transformer Engine for fp8 casts and overlapped tensor parallelism, DeepSeek-V2/V3 for latent attention
and experts. Bytes of elementwise work are what the kernels read and write, two bytes a value in 16 bit:
a fused norm reads and writes the residual stream once and its backward moves twice as much, a bias-dropout-residual
kernel reads two tensors and writes one, an activation reads its inputs and writes its output. Backward, the gradients
of the two branches are added, dropout masks one of them, and each bias sums its own.
"""

from __future__ import annotations

from functools import lru_cache

from simulator.workload import context
from simulator.workload.experts import experts_backward, experts_forward
from simulator.workload.latent import latent_backward, latent_forward
from simulator.workload.model import Latent
from simulator.workload.operations import Builder, Core, Exchange, Gemm, Program, Traffic
from simulator.workload.shape import LOW_PRECISION, Shape
from simulator.workload.states import WIDTH

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


class Layer:
    """Writes the programs of one kind of layer."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.model = shape.model
        self.tensor = shape.tensor
        self.dtype = shape.precision.kind
        self.sequence = shape.sequence and self.tensor > 1
        self.ring = shape.stack.async_tensor == "ring" and self.sequence
        self.asynchronous = shape.stack.async_tensor != "none"

    # Elementwise pieces: bytes, forward.

    def norm(self, out: Builder, name: str, values: float, backward: bool = False) -> None:
        e = self.shape.value_bytes
        eager = self.shape.stack.norm == "eager"
        nbytes = values * (EAGER_NORM_BYTES * e / 2 if eager else 2 * e)
        out.compute(name, Traffic(nbytes * (1.6 if eager else 2) if backward else nbytes, 8 if eager else 1))

    def residual(self, out: Builder, name: str, backward: bool = False) -> None:
        """Add a branch to the residual stream, or add up the gradients of both and take the dropout and bias back."""
        e, dropped = self.shape.value_bytes, bool(self.model.dropout)
        eager, biased = self.shape.stack.elementwise == "eager", self.model.bias == "all"
        nbytes, kernels = 3 * e, 1
        if dropped and (eager or backward):
            nbytes, kernels = nbytes + 2 * e + 1, kernels + 1
        elif dropped:
            nbytes += 1
        if biased and backward:
            nbytes, kernels = nbytes + e, kernels + 1
        elif biased and eager and self.shape.stack.row_bias == "apart":
            nbytes, kernels = nbytes + 2 * e, kernels + 1
        out.compute(name, Traffic(nbytes * self.shape.scattered * self.model.hidden, kernels))

    def rope(self, out: Builder, name: str, backward: bool = False) -> None:
        if self.model.positions != "rope":
            return
        size = self.model.attention.rope_size if isinstance(self.model.attention, Latent) else self.model.query_size
        heads = (self.model.heads + self.kv_heads * self.tensor) / self.tensor
        eager = self.shape.stack.rope == "eager"
        nbytes = self.shape.tokens * heads * size * self.shape.value_bytes * 2 * (4 if eager else 1)
        out.compute(name, Traffic(nbytes, 8 if eager else 1))

    def activation(self, out: Builder, name: str, values: float, backward: bool = False) -> None:
        e = self.shape.value_bytes
        eager = self.shape.stack.mlp == "eager"
        forward, back = ACTIVATION_PASSES[self.model.gated, self.model.gated and eager]
        out.compute(name, Traffic(values * (back if backward else forward) * e, 2 if eager else 1))

    def bias_gradient(self, out: Builder, name: str, values: float) -> None:
        """Sum an output gradient over its tokens, in a kernel that reads it once more."""
        if self.model.bias == "all" or (self.model.bias == "qkv" and name == "qkv"):
            out.compute(f"{name} bias", Traffic(values * self.shape.value_bytes), weight_gradient=True)

    def cast(self, out: Builder, name: str, values: float, *, normed: bool = False) -> None:
        """Quantise an operand; a norm ahead of the product may write it so where the scale is known before."""
        if self.dtype not in LOW_PRECISION:
            return
        scaling = self.shape.precision.scaling
        fused = normed and self.shape.stack.norm_casts and scaling == "delayed"
        out.compute(f"{name} cast", Traffic(values * (NORM_CAST_BYTES if fused else CAST_BYTES[scaling])))

    # Matrix products with their exchanges.

    @property
    def kv_heads(self) -> int:
        """Key and value heads on one rank; copied where there are fewer than ranks."""
        return max(1, self.model.kv_heads // self.tensor)

    def gather(self) -> Exchange:
        return Exchange("tensor", "all_gather", self.shape.residual_bytes)

    def scatter(self) -> Exchange:
        return Exchange("tensor", "reduce_scatter", self.shape.residual_bytes)

    def reduce(self) -> Exchange:
        return Exchange("tensor", "all_reduce", self.shape.residual_bytes)

    def column(self, out: Builder, name: str, width: float) -> None:
        """A product whose output is split over the tensor axis; its input is gathered first."""
        product = Gemm(self.shape.tokens, int(width), self.model.hidden, 1, self.dtype)
        if not self.sequence:
            self.cast(out, name, self.shape.tokens * self.model.hidden, normed=True)
            out.compute(name, product)
            return
        self.cast(out, name, self.shape.scattered * self.model.hidden, normed=True)
        if self.ring:
            out.gather_beside(name, self.gather(), product, self.tensor)
        else:
            out.exchange(f"{name} gather", self.gather())
            out.compute(name, product)

    def row(self, out: Builder, name: str, depth: float, *, reduced: bool = True) -> None:
        """A product whose input is split over the tensor axis; its partial outputs are added up."""
        self.cast(out, name, self.shape.tokens * depth)
        product = Gemm(self.shape.tokens, self.model.hidden, int(depth), 1, self.dtype)
        if self.tensor == 1 or not reduced:
            out.compute(name, product)
        elif self.ring:
            out.scatter_beside(name, product, self.scatter(), self.tensor)
        else:
            out.compute(name, product)
            out.exchange(f"{name} reduce", self.scatter() if self.sequence else self.reduce())

    def weight(self, out: Builder, name: str, product: Gemm) -> None:
        """The weight gradient of C[m, n] = A[m, k] B[k, n]: n x k from m, added to the main gradient.

        Added apart, it is read once more, and the main gradient read and written in its own format.
        """
        fused = self.shape.stack.gradient_accumulation_fusion
        out.compute(
            f"{name} wgrad",
            Gemm(product.k, product.n, product.m, product.groups, product.dtype, fused, product.kernels),
            weight_gradient=True,
        )
        if not fused and not self.shape.reduced:
            values = product.k * product.n * product.groups * product.kernels
            width = self.shape.value_bytes + 2 * WIDTH[self.shape.gradients]
            out.compute(f"{name} accumulate", Traffic(values * width), weight_gradient=True)

    def column_backward(self, out: Builder, name: str, width: float, *, reduced: bool = True) -> None:
        product = Gemm(self.shape.tokens, int(width), self.model.hidden, 1, self.dtype)
        self.cast(out, f"{name} grad", self.shape.tokens * width)
        gathered = None
        if self.sequence and not self.shape.stack.saved_gathers:
            gathered = out.background(f"{name} gather", self.gather())
            if not self.asynchronous:
                out.wait(gathered)
        out.compute(f"{name} dgrad", product._replace(n=self.model.hidden, k=width))
        if self.tensor > 1 and reduced:
            scattered = out.background(f"{name} reduce", self.scatter() if self.sequence else self.reduce())
            if not self.asynchronous:
                out.wait(scattered)
        else:
            scattered = None
        if gathered is not None:
            out.wait(gathered)
        self.weight(out, name, product)
        self.bias_gradient(out, name, self.shape.tokens * width)
        if scattered is not None and self.asynchronous:
            out.wait(scattered)

    def row_backward(self, out: Builder, name: str, depth: float) -> None:
        product = Gemm(self.shape.tokens, self.model.hidden, depth, 1, self.dtype)
        input_gradient = product._replace(n=int(depth), k=self.model.hidden)
        self.cast(out, f"{name} grad", self.shape.scattered * self.model.hidden)
        if not self.sequence:
            out.compute(f"{name} dgrad", input_gradient)
        elif self.ring:
            out.gather_beside(f"{name} dgrad", self.gather(), input_gradient, self.tensor)
        else:
            out.exchange(f"{name} grad gather", self.gather())
            out.compute(f"{name} dgrad", input_gradient)
        self.weight(out, name, product)

    # Attention.

    @property
    def core(self) -> Core:
        shape = self.shape
        parallel = shape.context
        heads, kv_heads = self.model.heads // self.tensor, self.kv_heads
        if parallel.kind == "ulysses" and parallel.size > 1:
            heads, kv_heads = max(1, heads // parallel.size), max(1, kv_heads // parallel.size)
            queries = shape.sequence_length
        else:
            queries = shape.queries
        whole = queries == shape.sequence_length
        # Context ranks take a piece from each end of the sequence, so that each sees half of the keys in the mean.
        keys = shape.sequence_length if whole else shape.sequence_length // 2
        return Core(
            batch=shape.microbatch,
            heads=heads,
            kv_heads=kv_heads,
            queries=queries,
            keys=keys,
            head_size=self.model.query_size,
            value_size=self.model.value_size,
            window=shape.window,
            kernel=shape.kernel,
            dtype=shape.wide,
            causal=whole,
            dropout=self.model.dropout > 0,
        )

    def attend(self, out: Builder, backward: bool = False) -> None:
        """The attention core and what the context axis exchanges around it."""
        context.attend(self, out, self.core, backward=backward)

    def project(self, out: Builder) -> None:
        """Queries, keys and values of the residual stream."""
        model = self.model
        if isinstance(model.attention, Latent):
            latent_forward(self, out)
        else:
            width = (model.heads / self.tensor + 2 * self.kv_heads) * model.head_size
            self.column(out, "qkv", width)
        if model.qk_norm != "none":
            values = self.shape.tokens * (model.heads / self.tensor + self.kv_heads) * model.query_size
            self.norm(out, "qk norm", values)
        self.rope(out, "rope")

    # The two halves of a layer.

    def attention_forward(self, out: Builder) -> None:
        self.norm(out, "attention norm", self.shape.scattered * self.model.hidden)
        self.project(out)
        self.attend(out)
        self.row(
            out,
            "attention out",
            self.model.heads * self.model.value_size / self.tensor,
            reduced=not self.model.parallel,
        )
        self.residual(out, "attention residual")

    def attention_backward(self, out: Builder) -> None:
        model = self.model
        self.residual(out, "attention residual backward", backward=True)
        self.row_backward(out, "attention out", model.heads * model.value_size / self.tensor)
        self.attend(out, backward=True)
        self.rope(out, "rope backward", backward=True)
        if model.qk_norm != "none":
            values = self.shape.tokens * (model.heads / self.tensor + self.kv_heads) * model.query_size
            self.norm(out, "qk norm backward", values, backward=True)
        if isinstance(model.attention, Latent):
            latent_backward(self, out)
        else:
            self.column_backward(out, "qkv", (model.heads / self.tensor + 2 * self.kv_heads) * model.head_size)
        self.norm(out, "attention norm backward", self.shape.scattered * model.hidden, backward=True)

    def mlp_width(self, ffn: float) -> float:
        return ffn / self.tensor

    def dense_forward(self, out: Builder, ffn: float, prefix: str = "mlp") -> None:
        width = self.mlp_width(ffn)
        self.column(out, f"{prefix} up", width * (2 if self.model.gated else 1))
        self.activation(out, f"{prefix} activation", self.shape.tokens * width)
        self.row(out, f"{prefix} down", width)

    def dense_backward(self, out: Builder, ffn: float, prefix: str = "mlp") -> None:
        width = self.mlp_width(ffn)
        self.row_backward(out, f"{prefix} down", width)
        self.activation(out, f"{prefix} activation backward", self.shape.tokens * width, backward=True)
        self.column_backward(
            out, f"{prefix} up", width * (2 if self.model.gated else 1), reduced=not self.model.parallel
        )

    def mlp_forward(self, out: Builder) -> None:
        if self.model.norms > 1:
            self.norm(out, "mlp norm", self.shape.scattered * self.model.hidden)
        if self.shape.experts:
            experts_forward(self, out)
        else:
            self.dense_forward(out, self.model.ffn)
        for extra in range(2, self.model.norms):
            self.norm(out, f"output norm {extra}", self.shape.scattered * self.model.hidden)
        self.residual(out, "mlp residual")

    def mlp_backward(self, out: Builder) -> None:
        self.residual(out, "mlp residual backward", backward=True)
        for extra in range(2, self.model.norms):
            self.norm(out, f"output norm {extra} backward", self.shape.scattered * self.model.hidden, backward=True)
        if self.shape.experts:
            experts_backward(self, out)
        else:
            self.dense_backward(out, self.model.ffn)
        if self.model.norms > 1:
            self.norm(out, "mlp norm backward", self.shape.scattered * self.model.hidden, backward=True)


@lru_cache(maxsize=4096)
def forward(shape: Shape) -> Program:
    """Return the forward of one layer."""
    layer, out = Layer(shape), Builder()
    layer.attention_forward(out)
    layer.mlp_forward(out)
    return out.program()


@lru_cache(maxsize=4096)
def backward(shape: Shape) -> Program:
    """Return the backward of one layer, without what is recomputed before it."""
    layer, out = Layer(shape), Builder()
    layer.mlp_backward(out)
    layer.attention_backward(out)
    return out.program()
