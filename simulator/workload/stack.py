"""A software stack: what a framework of a given year fuses, saves, shards, overlaps and buffers.

One object, read by time and memory alike; the catalog holds one entry a framework and era.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Annotated, Literal, get_args

from simulator.kinds import NameOf
from simulator.units import Bytes, Count, Number, Seconds, Share
from simulator.workload.schedules import Schedule

Axis = Literal["tensor", "pipeline", "context", "expert"]
Level = Literal["none", "optimizer", "gradients", "parameters"]
ScheduleName = Annotated[str, NameOf(Schedule)]
AXES: tuple[Axis, ...] = get_args(Axis)
LEVELS: tuple[Level, ...] = get_args(Level)
Dtype = Literal["fp32", "bf16", "fp16", "fp8", "int8", "none"]
WIDTH: dict[str, float] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "none": 0}


@dataclass(frozen=True, kw_only=True)
class States:
    """The number format of each state a parameter has; ``none`` where it is not kept."""

    weights: Dtype = "bf16"
    """Weights as they are kept between steps."""
    gradients: Dtype = "fp32"
    """The gradients that microbatches are added up in."""
    master: Dtype = "fp32"
    """A copy of the weights for the optimizer; `none` where weights are their own."""
    moments: Dtype = "fp32"
    """The optimizer's averages, two for Adam."""


COMPILED_LOSS = 10.0
"""Bytes a token and vocabulary entry of a compiled loss: 16-bit logits are read for their maximum, their sum and their
gradient, which is written. Losses in chunks are compiled chunk by chunk (torchtitan, torchtune), or less (6, Liger)."""
SOFTMAX_BLOCK = 4
"""Squares of scores that a block of the fused softmax takes; where they do not divide, plain PyTorch takes over
(`FusedScaleMaskSoftmax.is_kernel_available`, Megatron-LM and Transformer Engine)."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What the software does; each field is a software fact that the catalog entry sources."""

    framework: str = "generic"
    """The framework; with `year`, shared constants and published rows find their stack by it."""
    year: Count = 2024
    """The year whose software it is."""

    # What there is at all.
    axes: tuple[Axis, ...] = AXES
    """Parallel axes that it has besides data; a layout on another one is refused, and never recommended."""
    shards: tuple[Level, ...] = LEVELS
    """Levels of sharding that it has."""
    schedules: tuple[ScheduleName, ...] | None = None
    """Pipeline schedules that it has; all of them where left out. Those of plugins are always allowed."""

    # Kernels.
    attention: Literal["unfused", "triton", "flash-1", "flash-2", "flash-3", "cudnn", "newest"] = "newest"
    """Attention kernel; ``newest`` is the best one the GPU's architecture had (flash-2 on Ampere, cudnn on Hopper)."""
    sinks: Literal["unfused", "triton", "flash-1", "flash-2", "flash-3", "cudnn", "newest"] = "unfused"
    """Attention kernel of models with learned sinks, which a kernel must know; without one it is unfused."""
    norm: Literal["fused", "eager"] = "fused"
    """``eager`` upcasts to fp32 in separate kernels and keeps the copies."""
    norm_casts: bool = False
    """With delayed scaling, norms write their output in eight bits."""
    mlp: Literal["fused", "eager"] = "fused"
    """Activation function and gate in one kernel that keeps 2 ffn values a token, or kernel by kernel."""
    mlp_tile: Count | None = None
    """Tokens of a tile for which a dense MLP is worked out at a time, forward and backward: its input alone is kept and
    each tile's forward is done again ahead of its backward (`TiledMLP` of DeepSpeed, with tiles of `hidden` tokens;
    ALST, arXiv 2506.13996). The whole microbatch at once where left out."""
    softmax: Literal["fused", "eager"] = "fused"
    """Softmax of unfused attention: ``eager`` works in fp32 and keeps that copy as well."""
    rope: Literal["fused", "eager"] = "fused"
    """Rotary positions in one kernel, or kernel by kernel."""
    elementwise: Literal["fused", "eager"] = "fused"
    """Bias, dropout and residual in one kernel, or one kernel each."""
    row_bias: Literal["product", "apart"] = "product"
    """Where ``elementwise`` is eager, bias of a product whose output goes to the residual stream: in the product's
    kernel, or added in one of its own."""
    expert_bias: Literal["fused", "eager"] = "eager"
    """Bias of the last product of an expert, where a model has one: with the product, or kernel by kernel and expert by
    expert."""
    gemm_factor: Number = 1.0
    """GEMM rate of this software on its rigs over the rate of the kernel tables."""
    adapters: Literal["fused", "eager", "fp32"] = "fused"
    """How adapters are computed: scaled and added in one pass (``fused``), kernel by kernel (``eager``), or so around
    fp32 adapters, to which each input is cast (``fp32``, PEFT)."""
    small_weights: Literal["kept", "fp32"] = "kept"
    """What a quantised base leaves in 16 bits (embedding, head, norms): kept so, or cast to fp32 (PEFT's
    `prepare_model_for_kbit_training`, which leaves an `int4` base, as GPTQ makes it, alone)."""
    frozen_gradients: bool = False
    """Under parameter sharding, frozen weights have gradients too, because they share a unit of FSDP with weights that
    learn. The gradients stay whole until the last microbatch of a step."""
    gradient_accumulation_fusion: bool = True
    """The weight-gradient GEMM adds into the main gradient itself; otherwise a separate pass adds it."""

    context_merge: Literal["fused", "eager"] = "fused"
    """How a partial result of split attention is merged into the running output: in one kernel, or kernel by kernel in
    fp32. ``eager`` is PyTorch's context parallelism, which also goes piece by piece after an all-gather."""

    # The host processor.
    cpu_layer: Seconds = 0.3e-3
    """Time the host needs to launch the forward of one layer; the backward takes 1.6 times as much."""
    cpu_layer_tensor: Seconds = 0.3e-3
    """The same where tensor parallelism adds its own calls."""
    cpu_layer_expert: Seconds = 1.0e-3
    """The same of a layer with experts: routing, permuting and dispatching are many small kernels."""
    cpu_layer_capacity: Seconds | None = None
    """The same where experts are padded to a capacity: the host need not wait for counts; as above where left out."""
    cpu_gather: Seconds = 0.0
    """More of it per pass over a layer whose weights are sharded: hooks that gather and release module by module."""
    cpu_step: Seconds = 0.0
    """Host time once a step that nothing hides (optimizer loop, logging, data)."""
    cpu_microbatch: Seconds = 0.0
    """Host time once a microbatch that nothing hides."""
    cuda_graphs: bool = False
    """Layers are launched as CUDA graphs, which takes the host no time."""

    host_optimizer: Share = 0.2
    """Share of the host's memory bandwidth that an optimizer on the host reaches where cores are bound, in whole steps:
    the offloaded part of Falcon-7B (DeepSpeed #3901), Qwen2.5-3B (#7474) and Qwen-72B (#6834) comes out right in the
    geometric mean. CPU Adam alone reaches 43% (ZeRO-Offload, arXiv 2101.06840, table 4)."""
    bound_cores: bool = True
    """Threads of a rank stay on cores beside the memory that they use; otherwise they run on any core of the host."""
    pinned_copies: bool = True
    """Copies to and from the host are of page-locked memory; otherwise the driver copies each piece by way of its own
    buffer, while the host waits for it."""
    async_save: Literal["share", "state"] = "share"
    """What a rank copies to the host before training goes on after an asynchronous save: its `share` of the save, into
    pinned memory that is kept (Megatron-Core, which deals a save out to all ranks that have the same state), or its
    whole `state` dictionary, into new pageable memory (PyTorch's `dcp.async_save`)."""
    overlap_offload: bool = False
    """Gradients go to an optimizer on the host beside the backward, and weights come back while it works."""

    # What runs beside what.
    async_tensor: Literal["none", "bulk", "ring"] = "none"
    """``bulk`` runs gathers beside the input-gradient GEMM and scatters beside the weight-gradient GEMM;
    ``ring`` also splits forward collectives into chunks beside their GEMM."""
    overlap_gradient_reduce: bool = False
    """Gradients are reduced beside the backward; otherwise after it."""
    overlap_parameter_gather: bool = False
    """Weights of a sharded optimizer are gathered beside the next forward; otherwise after the optimizer."""
    reduce_bucket: Bytes = 0.0
    """Gradients, and weights of sharded optimizers, travel in pieces of so many bytes, each with its own latency; a
    chunk's at once where 0."""
    shard_unit: Literal["slice", "tensor"] = "slice"
    """What a rank of a sharded optimizer updates: an equal slice of all weights, gathered by all at once, or whole
    tensors, which their owners broadcast one after the other."""
    muon_data: Literal["owned", "exchanged", "gathered", "repeated"] = "owned"
    """How ranks that share out Muon's state come to whole matrices: each belongs to one of them, as in Megatron-Core's
    `LayerWiseDistributedOptimizer` (or is exchanged, where weights are sharded too); each is brought to one of them by
    all-to-all and its update back; all gather all of them, do a share and gather that; or all gather and do all."""
    muon_tensor: Literal["blocks", "reduced", "repeated"] = "blocks"
    """How tensor ranks orthogonalize the matrices that they split: each its own piece, as if it were a matrix
    (`blockwise`, the default of Megatron-Core's `muon_tp_mode`), together with one all-reduce an iteration
    (`distributed`), or each the whole gathered matrix (`duplicated`)."""
    overlap_pipeline: bool = False
    """Pipeline sends run beside compute; otherwise a stage waits for its own send."""
    gather: Dtype | None = None
    """Number format of weights on the wire under parameter sharding; as they are kept where left out."""
    gather_copies: Number = 0.0
    """Passes over the gathered weights of a unit that parameter sharding adds to its gather: reading and writing what
    is copied out of, or into, the flat buffer on the wire."""
    scatter_copies: Number = 0.0
    """The same over the gradients of a unit, ahead of their reduction."""
    prefetch: Count = 1
    """Layers whose weights are gathered ahead under parameter sharding; 0 gathers when needed."""
    gathers_from: Literal["gradients", "parameters"] = "gradients"
    """Lowest shard level at which a stack that shards parameters gathers layer by layer: FSDP does so where only
    gradients are sharded too, and keeps what it gathered for the backward (`reshard_after_forward=False`); ZeRO-2 has
    whole weights, which are gathered once per step."""
    gather_unit: Literal["layer", "matrix"] = "layer"
    """What parameter sharding has gathered, and of which it has whole gradients, at a time: a layer, or one matrix of
    it, as a compiler does that knows when each is used."""
    communication_sms: Share = 0.16
    """Share of its rate that arithmetic loses beside a collective, whose kernels take SMs and power: compute takes
    18.9% longer in the mean of FSDP and pipelines on A100, H100, MI210 and MI250 (arXiv 2507.03114). Work bound by
    memory loses the bandwidth that the collective moves."""
    moe_dispatcher: Literal["alltoall", "fused"] = "alltoall"
    """`alltoall` sends a row to each expert; `fused` (DeepEP, HybridEP) sends a token once to each host that has one of
    its experts, and from there once to each rank over the scale-up links."""
    moe_overlap: bool = False
    """Dispatch and combine of one microbatch run beside the opposite pass of another, where a stage does a forward and
    a backward of two microbatches one after the other. Elsewhere they are exposed."""
    shared_expert_overlap: bool = False
    """The shared expert runs beside dispatch and combine of the same microbatch."""
    quantized_dispatch: bool = False
    """Under fp8, rows go to their experts in eight bits, and so do gradients in the backward of combine."""
    quantized_combine: bool = False
    """Under fp8, rows come back from experts in eight bits, and so do gradients in the backward of dispatch."""
    grouped_gemm: bool = True
    """All experts of a rank are one grouped product; otherwise one after the other."""

    # Sharding and states.
    shard: Literal["none", "optimizer", "gradients", "parameters"] = "none"
    """Shard level where the scenario names none."""
    states: States = field(default_factory=States)
    """Number formats of weights, gradients and optimizer state, where the scenario names none."""
    sequence: bool = True
    """Sequence parallelism wherever tensor parallelism is on, unless the scenario says otherwise."""
    fp32_shards: bool = False
    """Where layers gather their weights for themselves, the shards of weights that learn are fp32, and so are their
    gradients and moments, whatever `states` says."""
    gradient_reduce: Dtype = "fp32"
    """Number format of gradients on the wire."""
    keep_unsharded: bool = False
    """Under parameter sharding with a pipeline, weights stay gathered between microbatches."""
    split: Literal["even", "slots", "slots-if-uneven", "cost"] = "even"
    """How layers are dealt to stages; ``slots`` counts embedding and head as a layer each, ``slots-if-uneven`` where
    layers alone do not come out even."""

    # What is kept for the backward, and buffers.
    saved_gathers: bool = False
    """The gathered input of a tensor-parallel GEMM is kept instead of gathered again in the backward."""
    loss: Literal["vocabulary-parallel", "replicated", "chunked"] = "vocabulary-parallel"
    """Logits and loss split over the tensor axis, whole on each rank, or split and worked out in chunks of which one is
    there at a time, its backward included."""
    loss_chunks: Count = 8
    """Pieces of a microbatch that a loss in chunks takes one after the other (8 in torchtitan's `ChunkedCELoss` and
    torchtune's `LinearCrossEntropyLoss`; about vocabulary / hidden in the Liger kernel)."""
    loss_chunk_tokens: Count | None = None
    """Most tokens of such a piece, so that it does not grow with the sequence; then `loss_chunks` says nothing."""
    loss_traffic: Number = 34.0
    """Bytes that the loss moves a token and vocabulary entry, both ways, at the rate of the smaller kernels of a layer.

    Kernel by kernel they are 52 by count: a cast to fp32 (2 + 4), maximum (4), shift (4 + 4), exponent (4 + 4), sum
    (4), division (4 + 4), gradient (4 + 4) and cast back (4 + 2). As streams of gigabytes they take less time for a
    byte; how much less is judged from published runs. One kernel that does all reads 16-bit logits twice and writes
    their gradient (6).
    """
    train_metrics: Count = 0
    """Times that each training batch has its loss worked out again for metrics, in plain PyTorch."""
    loss_bytes: Number = 10.0
    """Peak bytes of logits and loss a token and vocabulary entry, on one tensor rank; of one chunk where the loss is in
    chunks."""
    loss_shift: Number = 0.0
    """Of those, the copy of the logits without each sequence's last token. One sequence per microbatch needs none,
    because its slice is contiguous."""
    saves_dropout_mask: bool = True
    """Dropout keeps its mask, a byte a value; otherwise it is drawn again."""
    repeats_keys: bool = False
    """Keys and values are copied to every query head before the attention kernel, and kept so."""
    keeps_unrotated: bool = False
    """Queries and keys stay as they were before the rotary embedding: values are a view of the same fused tensor."""
    keeps_expert_outputs: bool = False
    """Routing weights multiply what the experts return, so that is kept; otherwise they multiply what goes in."""
    quantized_saves: bool = False
    """Under fp8 the inputs of matrix products are kept in fp8, not in 16 bit to be cast again."""
    quantized_activations: bool = False
    """Under fp8 the inputs of activation functions are kept in fp8."""
    quantized_weights: bool = False
    """Under fp8 the weights live in fp8 only, without a 16-bit copy."""
    pipeline_keeps_boundary: bool = False
    """The pipeline engine keeps buffers of each stage's input and output for every microbatch in flight."""
    frees_tensors_early: bool = False
    """A stage frees its output once it is sent; otherwise that stays until its backward."""
    selective: Literal["attention", "operations"] = "attention"
    """What selective recompute means: the core of unfused attention, or every other matrix product."""
    recompute_stops: bool = False
    """Full recompute ends with the last tensor that the backward needs, ahead of a layer's last product."""
    keeps_scores_buffer: bool = False
    """One buffer as large as a microbatch's scores stays allocated, which unfused attention's product writes over."""
    bucket: Bytes = 0.0
    """Bytes of gather and reduce buffers that stay allocated where the data axis is used without a pipeline."""
    bucket_from: Literal["none", "optimizer", "gradients", "parameters"] = "none"
    """Lowest shard level that has those buffers; below it gradients are reduced after the backward, where they are."""
    extra_gradient: Number = 0.0
    """Bytes a parameter of gradients beyond the main ones, never sharded, such as 16-bit ones beside an fp32 sum."""
    extra_state: Number = 0.0
    """Bytes a parameter of the optimizer shard beyond the states, such as a flat fp32 copy of the gradients."""
    update_sweeps: Number = 1.0
    """Bytes that the optimizer's kernels move over those of one sweep, which reads and writes each value of the state
    once: more where each operation of the update is a kernel of its own."""
    update_copies: Number = 0.0
    """Bytes per updated parameter that live only while the optimizer updates it, such as an fp32 copy of its
    gradient."""
    update_frees: bool = False
    """Before its update a rank frees the gradients of weights that other ranks update."""
    update_group: Number = 0.0
    """Parameters of a rank that are updated together under parameter sharding, so that no more have such copies at a
    time; all of them where 0."""
    expandable_segments: bool = True
    """The allocator's segments grow, so that little of reserved memory is unused."""
    reserved_factor: Number = 1.05
    """Reserved over allocated memory."""
    process_overhead: Bytes = 3e9
    """CUDA context, NCCL and library workspaces, outside the allocator."""

    recompute: Literal["none", "selective", "full"] = "none"
    """Recompute where the scenario names none."""
    unsure: tuple[Literal["norm", "mlp", "softmax", "saved_gathers", "gradients", "loss"], ...] = ()
    """Memory switches whose setting is not known; each is run the other way too and widens the range."""
    memory_spread: Share = 0.08
    """Half the width of the range of peak memory where all switches are known (measured peaks of named stacks)."""
    matches: tuple[str, ...] = ()
    """Patterns ``framework:first-last`` of published rows that this entry describes."""
    named: tuple[str, ...] = ()
    """Regular expressions of what published rows call the framework, or say of it in their notes."""

    @property
    def loss_moved(self) -> Number:
        """Bytes that the loss moves a token and vocabulary entry, whole or in chunks."""
        return min(self.loss_traffic, COMPILED_LOSS) if self.loss == "chunked" else self.loss_traffic

    def loss_pieces(self, tokens: float) -> int:
        """Return the pieces of a microbatch for which head and loss are worked out one after the other."""
        if self.loss != "chunked":
            return 1
        return max(ceil(tokens / self.loss_chunk_tokens), 1) if self.loss_chunk_tokens else self.loss_chunks

    def loss_piece(self, tokens: float) -> float:
        """Return the tokens of the largest of those pieces."""
        if self.loss == "chunked" and self.loss_chunk_tokens:
            return min(tokens, self.loss_chunk_tokens)
        return tokens / self.loss_pieces(tokens)

    def loss_ranks(self, tensor: int) -> int:
        """Return how many of `tensor` ranks share the vocabulary between them in the loss."""
        return 1 if self.loss == "replicated" else tensor

    def attention_of(self, *, sinks: bool) -> str:
        """Return the attention kernel of a model with or without learned sinks."""
        return self.sinks if sinks else self.attention

    def softmax_of(self, squares: float) -> str:
        """Return the softmax of unfused attention over so many squares of scores on a rank (sequences x heads)."""
        return self.softmax if squares % SOFTMAX_BLOCK == 0 else "eager"
