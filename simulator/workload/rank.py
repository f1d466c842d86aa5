"""What one rank of a layout is: the tokens, heads and experts it holds, with whom it shares them, in which formats.

Made once for a layout and read by all who ask what a rank does, holds or sends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from simulator.units import Bytes, Count
from simulator.workload.capacity import EVEN, Moe
from simulator.workload.layout import Context, Parallelism, Shard
from simulator.workload.model import Model
from simulator.workload.optimizers.base import Optimizer
from simulator.workload.stack import Stack, States
from simulator.workload.training import Precision, Training
from simulator.workload.tuning import EVERYTHING, Tuning

UNFUSED = ("unfused", "eager", "sinks")
"""Kernels of attention that write the scores of every query and key."""
LOW_PRECISION = ("fp8", "mxfp8", "nvfp4")
QUANTIZED = {"fp8": 1.0, "mxfp8": 1.0 + 1 / 32, "nvfp4": 0.5 + 1 / 16}
"""Bytes of a value with the scale of its block (OCP MX: 32 values a scale; NVFP4: 16)."""
VOCABULARY_MULTIPLE = 128
"""Rows of the embedding that each tensor rank has a multiple of."""

Division = Literal["tensor", "key_value", "vocabulary", "replicated", "expert", "expert_replicated"]
"""What splits a part of the parameters:

- ``tensor``: all tensor ranks;
- ``key_value``: tensor ranks, up to one head each; further ranks hold copies;
- ``vocabulary``: all tensor ranks, after the vocabulary is padded;
- ``replicated``: nothing; every tensor rank holds it whole (norms, router, latent down-projections, output biases);
- ``expert``: expert and expert-tensor ranks;
- ``expert_replicated``: expert ranks only.
"""


@dataclass(frozen=True)
class Rank:
    model: Model
    stack: Stack
    tensor: int
    context: Context
    expert: int
    expert_tensor: int
    sequence: bool
    """Whether norms and residuals are split over the tensor axis."""
    pipeline: int
    data: int
    shard: Shard
    reduced: bool
    """Whether gradients are reduced after every microbatch, instead of added up."""
    sequence_length: int
    microbatch: int
    precision: Precision
    states: States
    optimizer: Optimizer
    moe: Moe
    kernel: str
    """Attention kernel that runs."""
    tuning: Tuning = EVERYTHING
    """What of the model learns."""

    @classmethod
    def of(
        cls,
        model: Model,
        stack: Stack,
        parallelism: Parallelism,
        training: Training,
        *,
        data: int = 1,
        moe: Moe = EVEN,
    ) -> Rank:
        """Return a rank of this layout, on which the software's own attention kernel runs."""
        p, sharded = parallelism, layer_by_layer(stack, parallelism.shard)
        return cls(
            model=model,
            stack=stack,
            tensor=p.tensor,
            context=p.context,
            expert=p.expert,
            expert_tensor=p.expert_tensor,
            sequence=p.sequence and p.tensor > 1,
            pipeline=p.pipeline,
            data=data,
            shard=p.shard,
            reduced=sharded and not (stack.keep_unsharded and p.pipeline > 1),
            sequence_length=training.sequence_length,
            microbatch=training.microbatch,
            precision=training.precision,
            states=training.states,
            optimizer=training.optimizer,
            moe=moe,
            tuning=training.tuning,
            kernel=attention_kernel(model, stack, training.microbatch * model.heads / p.tensor),
        )

    def __hash__(self) -> int:
        """Return a hash of what layouts differ in; that of a whole stack would take longer than what it saves."""
        size = self.tensor, self.context.size, self.expert, self.expert_tensor, self.pipeline, self.data
        what = self.shard.level, self.reduced, self.sequence_length, self.microbatch, self.precision.kind
        return hash((self.model.hidden, self.model.layers, *size, *what))

    @cached_property
    def alone(self) -> Rank:
        """The rank as if its replica were the only one."""
        return replace(self, data=1, shard=Shard())

    @cached_property
    def inside(self) -> Rank:
        """The rank as its layers see it, so that layers that do the same are priced once."""
        return replace(self.alone, pipeline=1)

    # Whom it shares state with.

    @cached_property
    def sharers(self) -> int:
        """Ranks that share out the state of a dense parameter; replicas of HSDP each shard on their own."""
        return max(self.context.size * self.data // self.shard.replicas, 1)

    @property
    def pairs_microbatches(self) -> bool:
        """Whether a forward runs beside the backward of another microbatch, each under the exchanges of the other."""
        return self.stack.moe_overlap and self.expert > 1

    @cached_property
    def expert_sharers(self) -> int:
        """Ranks that share out the state of an expert, which hold the same ones."""
        block = self.tensor * self.context.size * self.data
        return max(block // (self.expert * self.expert_tensor) // self.shard.replicas, 1)

    @property
    def unsharded(self) -> bool:
        """Whether weights stay gathered and gradients whole between microbatches, as FSDP may do with a pipeline."""
        return self.stack.keep_unsharded and self.pipeline > 1

    @property
    def keeps_gradient_shard(self) -> bool:
        """Whether a rank keeps its share of the gradients alone between microbatches, so that each one is reduced.

        What is reduced once a step has to be there whole until then (DeepSpeed #373: ZeRO 2 reduces in every backward).
        """
        sharded = self.shard.level in ("gradients", "parameters")
        return sharded and not (self.layer_by_layer and self.unsharded)

    @property
    def layer_by_layer(self) -> bool:
        """Whether layers gather their weights for themselves."""
        return layer_by_layer(self.stack, self.shard)

    @property
    def gathers(self) -> Count:
        """How often a layer is gathered for a microbatch: again for the backward where it was let go."""
        return 2 if self.shard.level == "parameters" else 1

    # Tokens.

    @cached_property
    def queries(self) -> int:
        """Tokens of each sequence on this rank."""
        return self.sequence_length // self.context.size

    @cached_property
    def tokens(self) -> int:
        return self.microbatch * self.queries

    @cached_property
    def scattered(self) -> float:
        """Tokens a rank holds between tensor-parallel regions: of the residual stream."""
        return self.tokens / self.tensor if self.sequence else self.tokens

    @cached_property
    def saved(self) -> float:
        """Tokens of a kept input of a column-parallel product."""
        return self.tokens if self.stack.saved_gathers else self.scattered

    # Widths.

    @cached_property
    def heads(self) -> int:
        return self.model.heads // self.tensor

    @cached_property
    def kv_heads(self) -> int:
        """Key and value heads; copied where there are fewer than ranks."""
        return max(1, self.model.kv_heads // self.tensor)

    @cached_property
    def vocabulary(self) -> int:
        """Rows of the embedding on all tensor ranks together."""
        return padded_vocabulary(self.model.vocabulary, self.tensor)

    def share(self, size: int, division: Division) -> float:
        """Return how many of `size` parameters that are divided so this rank holds."""
        if division == "vocabulary":
            return size // self.model.vocabulary * self.vocabulary / self.tensor
        return size / self._ways[division]

    @cached_property
    def _ways(self) -> dict[Division, int]:
        return {
            "tensor": self.tensor,
            "key_value": min(self.tensor, self.model.kv_heads),
            "replicated": 1,
            "expert": self.expert * self.expert_tensor,
            "expert_replicated": self.expert,
        }

    # Number formats.

    @cached_property
    def value(self) -> Bytes:
        """Bytes of a value between kernels."""
        return 4.0 if self.precision.kind in ("fp32", "tf32") else 2.0

    @cached_property
    def operand(self) -> Bytes:
        """Bytes of a kept input of a matrix product."""
        return QUANTIZED.get(self.precision.kind, self.value) if self.stack.quantized_saves else self.value

    @cached_property
    def inner(self) -> Bytes:
        """Bytes of a kept input of an activation function."""
        return QUANTIZED.get(self.precision.kind, self.value) if self.stack.quantized_activations else self.value

    @cached_property
    def wide(self) -> str:
        """The number format of what fp8 recipes leave alone."""
        return "bf16" if self.precision.kind in LOW_PRECISION else self.precision.kind

    # Attention.

    @cached_property
    def keeps_scores(self) -> bool:
        """Whether the software's attention writes its scores, and keeps them."""
        return self.stack.attention_of(sinks=self.model.sinks) == "unfused"

    @cached_property
    def unfused_kernel(self) -> str:
        """The kernel of attention that the software falls back to."""
        return unfused_kernel(self.model, self.softmax)

    @cached_property
    def softmax(self) -> str:
        """Softmax of unfused attention."""
        return self.stack.softmax_of(self.microbatch * self.model.heads / self.tensor)

    # The residual stream.

    @cached_property
    def gathered_bytes(self) -> Bytes:
        """Bytes of the residual stream of all tokens: the buffer of a gather over the tensor axis."""
        return self.tokens * self.model.hidden * self.value

    @cached_property
    def stream(self) -> Bytes:
        """Bytes of the residual stream on this rank, which is what a layer takes in."""
        return self.value * self.model.hidden * self.scattered


def layer_by_layer(stack: Stack, shard: Shard) -> bool:
    """Return whether layers gather their weights for themselves.

    ZeRO-3 and FSDP gather layer by layer (Zhao et al. 2023, arXiv 2304.11277); so does FSDP that shards gradients only
    (``SHARD_GRAD_OP``), but keeps what it gathered for the backward (`Stack.gathers_from`). With a pipeline, some keep
    weights gathered and gradients whole between microbatches (``reshard_after_forward=False`` of torchtitan).
    """
    return shard.level == "parameters" or (shard.level == stack.gathers_from and stack.shard == "parameters")


def attention_kernel(model: Model, stack: Stack, squares: float) -> str:
    """Return the attention kernel of the software over so many squares of scores on a rank (sequences x heads)."""
    kernel = stack.attention_of(sinks=model.sinks)
    return kernel if kernel != "unfused" else unfused_kernel(model, stack.softmax_of(squares))


def unfused_kernel(model: Model, softmax: str) -> str:
    """Return the kernel of unfused attention; with sinks it is plain PyTorch, because no fused softmax takes them."""
    return "sinks" if model.sinks else "eager" if softmax == "eager" else "unfused"


def padded_vocabulary(vocabulary: int, tensor: int = 1, multiple: int = VOCABULARY_MULTIPLE) -> int:
    """Return the rows of the embedding after padding, so that each tensor rank gets a multiple of `multiple`.

    >>> padded_vocabulary(151_936, tensor=8), padded_vocabulary(151_936, tensor=8, multiple=1187)
    (152576, 151936)
    """
    block = tensor * multiple
    return -(-vocabulary // block) * block
