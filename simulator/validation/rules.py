"""What stands in for a field that a published row leaves out: one stated rule each, with its reason.

The functions are the rules; the first line of each says the rule, the rest why. ``stated`` lists them for the page on
validation. Fields in `LEFT_TO_STACK` have no number here: the entry of the software stack answers.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

LEFT_TO_STACK = {
    "recompute": "what the framework of that year does unless told otherwise",
    "zero_stage": "what the framework of that year shards unless told otherwise",
    "sequence_parallel": "on where the framework of that year turns it on with tensor parallelism",
    "flash_attention": "the attention kernel of the framework of that year on that GPU",
    "overlap": "what the framework of that year overlaps",
}
MICROBATCHES = (1, 2, 4, 8)


def gated(hidden: int, ffn: int | None) -> bool:
    """A gated MLP where the inner width is given and is not 4 x hidden.

    Gated models are given narrower or wider inner layers so that three matrices weigh about as much as two of 4 x.
    """
    return ffn is not None and ffn != 4 * hidden


def heads(hidden: int) -> int:
    """64 heads from a width of 8192 on, else heads 128 wide.

    The sources that omit the count are sweeps of one wide model; BigScience's states that its sizes all had 64.
    """
    return 64 if hidden >= 8192 else max(hidden // 128, 1)


def ffn(hidden: int, gate: bool) -> int:
    """4 x hidden, or 8/3 x hidden rounded up to 256 where the MLP is gated.

    The widths of GPT-2 and of LLaMA (arXiv 2302.13971).
    """
    return -(-8 * hidden // (3 * 256)) * 256 if gate else 4 * hidden


def vocabulary() -> int:
    """50304 tokens.

    GPT-2's 50257 padded to a multiple of 128, the default of the era of such rows; it moves a step by less than 1%.
    """
    return 50304


def tied(gate: bool) -> bool:
    """Head and embedding are tied unless the MLP is gated.

    GPT-2 and its successors tie them, LLaMA and its successors do not.
    """
    return not gate


def style(gate: bool, sequence: int) -> dict[str, Any]:
    """Where the catalog does not know the model: LLaMA's details for a gated MLP, GPT's for a plain one.

    Norm, activation, biases, positions and dropout go together in the two lines of models that such rows measure.
    """
    if gate:
        return {"norm": "rmsnorm", "activation": "silu", "bias": "none", "positions": "rope", "dropout": 0}
    return {
        "norm": "layernorm",
        "activation": "gelu",
        "bias": "all",
        "positions": "learned",
        "max_positions": sequence,
        "dropout": "10%",
    }


def latent() -> dict[str, int]:
    """Latent attention of the sizes of DeepSeek-V3.

    The only sizes that several published models share (arXiv 2412.19437, section 4.2).
    """
    return {"q_rank": 1536, "kv_rank": 512, "nope_size": 128, "rope_size": 64, "value_size": 128}


def dense_layers(layers: int, dense: int) -> dict[str, int]:
    """Dense layers lead, except where they are half of all: then every other layer has experts.

    DeepSeek and Kimi lead with theirs, Llama 4 Maverick alternates.
    """
    return {"every": 2} if dense and 2 * dense == layers else {"dense_layers": dense}


def expert_tensor(tensor: int, expert: int, ranks: int) -> int:
    """Experts are split over as many tensor ranks as the rest, where the ranks divide that way; else not at all.

    Megatron-Core's default of ``expert_tensor_parallel_size`` is the tensor size; a layout without room for it set 1.
    """
    return tensor if ranks % (tensor * expert) == 0 else 1


def global_batch(data: int, pipeline: int, microbatch: int) -> int:
    """One microbatch a replica and stage.

    Such rows say whether a layout fits, which depends on the microbatches in flight and not on more of them.
    """
    return data * pipeline * microbatch


def microbatches(sequences: int) -> tuple[int, ...]:
    """The fastest of 1, 2, 4 and 8 sequences that fits and divides a replica's share of the batch.

    What whoever tunes a published run picks; the number depends on the hardware, so no constant does.
    """
    return tuple(size for size in MICROBATCHES if sequences % size == 0) or (1,)


def schedule(stack_interleaves: bool, microbatches: int, pipeline: int) -> str:
    """Interleaved 1F1B on stacks of 2023 and later that offer it, if microbatches divide by stages; else plain 1F1B.

    NVIDIA's recipes interleave wherever a pipeline is used; earlier papers say so where they do.
    """
    return "interleaved-1f1b" if stack_interleaves and microbatches % pipeline == 0 else "1f1b"


def chunks(layers: int, pipeline: int, fine: bool) -> int:
    """One layer a chunk on Megatron-Core and at Meta; elsewhere the fewest chunks above one that are equal.

    NVIDIA's recipes state one layer a chunk or nearly so, as Llama 3 does (arXiv 2407.21783, section 3.3.2), embedding
    and head counted as one each. Narayanan et al. 2021 (arXiv 2104.04473) used 2 and 3, torchtitan takes 2.
    """
    most = min(-(-layers // pipeline), (layers + 2) // pipeline)
    if fine:
        return most
    equal = (
        count for count in range(2, most + 1) if 0 in (layers % (count * pipeline), (layers + 2) % (count * pipeline))
    )
    return next(equal, min(2, most))


def split() -> str:
    """Layers that do not divide over the chunks: embedding and head count as a layer each.

    What Megatron, torchtitan and the zero-bubble code do with 126, 94 or 62 layers.
    """
    return "slots"


def pipeline_microbatch(local_batch: int, pipeline: int, year: int) -> int:
    """In torchtitan the local batch is cut into as many microbatches as stages, from 2025 on into sequences.

    `micro_batch` of such rows is the batch that enters the pipeline. ``pipeline_parallel_microbatches`` defaulted to
    the pipeline degree until ``pipeline_parallel_microbatch_size``, 1 by default, took its place.
    """
    return max(local_batch // pipeline, 1) if year < 2025 else 1


def host_group(gpus_per_host: int, tensor: int, data: int) -> int:
    """A shard group whose size is not given spans the replicas of one host.

    The reason for sharding inside a group is the fast network of a host.
    """
    return max(min(gpus_per_host // tensor, data), 1)


def compiled(precision: str) -> bool:
    """Frameworks that run layers eagerly unless told otherwise do so, except in fp8.

    ``compile`` is off by default in torchtitan; its fp8 recipes need the compiler to fuse the casts.
    """
    return precision in ("fp8", "mxfp8", "nvfp4")


def memory_kind() -> str:
    """A peak whose kind is not given is reserved memory.

    What ``torch.cuda.max_memory_reserved`` and most training logs print.
    """
    return "reserved"


def stated() -> dict[str, str]:
    """Return the text of every rule by its name."""
    module = sys.modules[__name__]
    functions = {
        name: " ".join((inspect.getdoc(function) or "").split())
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == __name__ and name != "stated"
    }
    return functions | {name: f"The stack's: {reason}." for name, reason in LEFT_TO_STACK.items()}
