"""How many bytes a layer keeps for its backward, operation by operation, on one rank and for one microbatch.

Every tensor that autograd saves is one named term; a term's bytes are values x tokens x width, divided by what
splits it: matrices by the tensor axis, the residual stream only under sequence parallelism, tokens by the context
axis. Korthikanti et al., 2022 (arXiv 2205.05198), equations 1 to 6, are the sums for a GPT layer with dropout; the
terms of gated, grouped-query, latent-attention and expert layers follow from the same rule and were counted with
autograd hooks on real layers. The router's auxiliary losses and fp8 scales are left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from simulator.sums import added
from simulator.units import Bytes
from simulator.workload.capacity import rows as rows_to_experts
from simulator.workload.layout import Parallelism
from simulator.workload.model import Latent, Model
from simulator.workload.shape import squares
from simulator.workload.stack import Stack
from simulator.workload.training import Training

VALUE = {"fp32": 4.0, "tf32": 4.0}
"""Bytes of a value where it is not 2."""
QUANTIZED = {"fp8": 1.0, "mxfp8": 1.0 + 1 / 32, "nvfp4": 0.5 + 1 / 16}
"""Bytes of a value with the scale of its block (OCP MX: 32 values a scale; NVFP4: 16)."""
ROUTER = 9.0
"""Bytes of router scores kept a token and expert: fp32 logits and probabilities, and one byte of the choice."""

SCORES = ("attention scores", "attention mask", "attention dropout", "attention statistics")


class Setting(NamedTuple):
    """What decides the bytes of a layer; small and hashable, so that layers of one kind are counted once."""

    model: Model
    stack: Stack
    tensor: int
    sequence: bool
    expert_tensor: int
    tokens: float
    keys: int
    value: Bytes
    operand: Bytes
    """Bytes of a kept input of a matrix product."""
    capacity: float | None = None
    """Most tokens of an expert over the mean, to which it is padded."""
    squares: float = 0.0
    """Squares of scores on a rank, one for each sequence and head."""


def setting(
    model: Model, stack: Stack, parallelism: Parallelism, training: Training, capacity: float | None = None
) -> Setting:
    """Return what the activations of this run depend on."""
    kind = training.precision.kind
    value = VALUE.get(kind, 2.0)
    return Setting(
        model=model,
        stack=stack,
        tensor=parallelism.tensor,
        sequence=parallelism.sequence and parallelism.tensor > 1,
        expert_tensor=parallelism.expert_tensor,
        tokens=training.microbatch * training.sequence_length / parallelism.context.size,
        keys=training.sequence_length,
        value=value,
        operand=QUANTIZED.get(kind, value) if stack.quantized_saves else value,
        capacity=capacity,
        squares=squares(model, parallelism, training),
    )


def scattered(s: Setting) -> float:
    """Return the tokens of the residual stream on one rank."""
    return s.tokens / s.tensor if s.sequence else s.tokens


def stream(s: Setting) -> Bytes:
    """Return the bytes of the residual stream on one rank, which is what a layer takes in."""
    return s.value * s.model.hidden * scattered(s)


@lru_cache(maxsize=4096)
def layer(s: Setting, experts: bool = False) -> dict[str, Bytes]:
    """Return what one layer keeps without recompute, term by term in the order of the forward."""
    model, stack = s.model, s.stack
    terms: dict[str, Bytes] = {"norm inputs": model.norms * stream(s)}
    if stack.norm == "eager" and s.value < 4:
        terms["norm copies"] = model.norms * 4 * model.hidden * scattered(s)
    terms["norm outputs"] = (1 if model.parallel else 2) * s.operand * model.hidden * _gathered(s)
    terms |= _latent_attention(s) if isinstance(model.attention, Latent) else _attention(s)
    terms |= _core(s)
    if model.dropout and stack.saves_dropout_mask:
        terms["dropout masks"] = 2 * model.hidden * scattered(s)
    terms |= _experts(s) if experts else _mlp(s, "mlp", model.ffn / s.tensor, s.tokens)
    return {name: nbytes for name, nbytes in terms.items() if nbytes}


def _gathered(s: Setting) -> float:
    """Return the tokens of a kept input of a column-parallel product."""
    return s.tokens if s.stack.saved_gathers else scattered(s)


def _attention(s: Setting) -> dict[str, Bytes]:
    model = s.model
    queries = model.heads / s.tensor * model.head_size
    keys = max(model.kv_heads / s.tensor, 1.0) * model.head_size
    kept_keys = queries if s.stack.repeats_keys else keys
    terms = {"queries": s.value * queries * s.tokens, "keys and values": 2 * s.value * kept_keys * s.tokens}
    if s.stack.keeps_unrotated and model.positions == "rope":
        terms["unrotated queries and keys"] = s.value * (queries + keys) * s.tokens
    if model.qk_norm != "none":
        copies = 4.0 if s.stack.norm == "eager" and s.value < 4 else 0.0
        terms["query and key norms"] = (s.value + copies) * (queries + keys) * s.tokens
    return terms


def _latent_attention(s: Setting) -> dict[str, Bytes]:
    """Latents are kept before and after their norm; queries, keys and values of every head after the up-projection."""
    model = s.model
    latent = model.attention
    assert isinstance(latent, Latent)
    heads = model.heads / s.tensor
    ranks = latent.q_rank + latent.kv_rank
    return {
        "latents": (s.value * (ranks + latent.rope_size) + s.operand * ranks) * scattered(s),
        "queries": s.value * heads * model.query_size * s.tokens,
        "keys and values": s.value * heads * (model.query_size + model.value_size) * s.tokens,
    }


def _core(s: Setting) -> dict[str, Bytes]:
    """Scores are heads x queries x keys, every query with all keys of its sequence, whatever the mask hides."""
    model = s.model
    heads = model.heads / s.tensor
    output = heads * model.value_size * s.tokens
    if s.stack.attention_of(sinks=model.sinks) != "unfused":
        second = s.operand if s.operand != s.value else 0.0
        return {"attention statistics": 4 * heads * s.tokens, "attention output": (s.value + second) * output}
    scores = heads * s.tokens * s.keys
    eager = s.stack.softmax_of(s.squares) == "eager"
    wide = 4.0 if eager and s.value < 4 else 0.0
    cut = s.value if model.sinks else 0.0  # the probabilities without the column of the sink, which the product keeps
    return {
        "attention scores": (s.value + wide + cut) * scores,
        "attention mask": scores if model.dropout else 0.0,
        "attention dropout": s.value * scores if model.dropout else 0.0,
        "attention output": s.operand * output,
    }


def _mlp(s: Setting, name: str, width: float, rows: float) -> dict[str, Bytes]:
    """Return an MLP's terms: what the activation takes in, and the input of the last product."""
    values = width * rows
    inner = 2.0 if s.model.gated else 1.0
    if s.model.activation == "relu" and not s.model.gated:
        inner = 0.0  # the gradient of a ReLU needs its output only, which the last product keeps
    eager = s.stack.mlp == "eager" and (s.model.gated or s.model.activation == "squared-relu")
    return {
        f"{name} inner": s.value * (inner + eager) * values,
        f"{name} activation": s.operand * values,
    }


def _experts(s: Setting) -> dict[str, Bytes]:
    """Return the terms of an expert MLP with tokens spread evenly over the experts, or padded to their capacity."""
    model, experts = s.model, s.model.experts
    assert experts is not None
    rows = rows_to_experts(experts, scattered(s), s.capacity)
    gathered = rows * s.expert_tensor
    terms = {
        "router": ROUTER * experts.count * scattered(s),
        "expert inputs": s.operand * model.hidden * gathered,
    }
    terms |= _mlp(s, "expert", experts.ffn / s.expert_tensor, gathered)
    if s.stack.keeps_expert_outputs:
        terms["expert outputs"] = s.value * model.hidden * rows
    if experts.shared:
        terms |= _mlp(s, "shared expert", experts.shared * experts.ffn / s.tensor, s.tokens)
    return terms


MODULES = {
    "core_attention": SCORES,
    "mla_up": ("queries", "keys and values"),
    "moe_activation": ("expert activation",),
}
"""Terms that recomputing a module gives back."""


@lru_cache(maxsize=4096)
def kept(s: Setting, kind: str, modules: tuple[str, ...] = (), experts: bool = False) -> dict[str, Bytes]:
    """Return what one layer keeps under recompute of `kind`: none, selective or full."""
    terms = layer(s, experts)
    if kind == "none":
        return terms
    if kind in ("full", "sqrt"):
        return {"layer input": stream(s)}
    if modules:
        gone = {name for module in modules for name in MODULES[module]}
        if not s.model.latent:
            gone -= set(MODULES["mla_up"])
        return {name: nbytes for name, nbytes in terms.items() if name not in gone}
    if s.stack.selective == "attention":
        return {name: nbytes for name, nbytes in terms.items() if name not in SCORES}
    return _operations(s, terms, experts)


def _operations(s: Setting, terms: dict[str, Bytes], experts: bool) -> dict[str, Bytes]:
    """Return what torchtitan's operation-level policy keeps: layer input, attention output, every other product.

    The products of a dense layer are query, key, value, output, gate, up, down: query, value, gate and down are kept.
    """
    model = s.model
    values = s.value * max(model.kv_heads / s.tensor, 1.0) * model.value_size * s.tokens
    half = {"queries": terms["queries"], "values": values}
    if experts:
        inner = {name: nbytes / 2 for name, nbytes in terms.items() if name.startswith(("expert", "shared"))}
    else:
        inner = {
            "mlp gate": s.value * model.ffn / s.tensor * s.tokens,
            "mlp output": s.value * model.hidden * scattered(s),
        }
    output = {"attention output": terms["attention output"]}
    return {"layer input": stream(s), **half, **output, **inner}


@lru_cache(maxsize=4096)
def gradients(s: Setting, experts: bool = False) -> Bytes:
    """Return the most that gradients inside one layer take in its backward, beyond what that frees meanwhile.

    Behind the last product the gradient of the activation's output and of its inputs live at once, while the
    output itself is gone; behind unfused attention that of the scores, which the softmax turns in place, while the
    MLP's terms are gone.
    """
    terms = layer(s, experts)
    prefix = "expert" if experts else "mlp"
    output = terms[f"{prefix} activation"] / s.operand * s.value
    mlp = output * (2 if s.model.gated else 1) + (output - terms[f"{prefix} activation"])
    attention = 0.0
    if s.stack.attention_of(sinks=s.model.sinks) == "unfused":
        freed = added(
            nbytes for name, nbytes in terms.items() if name.startswith(("mlp", "expert", "shared", "router"))
        )
        scores = s.value * s.model.heads / s.tensor * s.tokens * s.keys
        attention = scores - freed
    return max(mlp, attention) + stream(s)


def head(s: Setting, vocabulary: float) -> Bytes:
    """Return the peak of final norm, logits and loss for one microbatch; `vocabulary` is padded and whole.

    The stack's `loss_bytes` a token and entry cover logits in 16 bit, their fp32 copy and their gradient.
    """
    width = vocabulary / s.tensor if s.stack.loss != "replicated" else vocabulary
    norm = stream(s) + s.value * s.model.hidden * (_gathered(s) + s.tokens)
    return s.stack.loss_bytes * (s.value / 2) * width * s.tokens + norm


def waiting_head(s: Setting, vocabulary: float) -> Bytes:
    """Return what final norm and loss keep of a microbatch between its forward and its backward.

    The loss needs its fp32 probabilities (4 bytes), the head its input; a chunked loss has done its backward.
    """
    if s.stack.loss == "chunked":
        return stream(s)
    width = vocabulary / s.tensor if s.stack.loss != "replicated" else vocabulary
    return min(4.0, s.stack.loss_bytes) * width * s.tokens + stream(s) + s.value * s.model.hidden * _gathered(s)


def delayed_head(s: Setting, vocabulary: float) -> Bytes:
    """Return what the weight gradient of the head waits with: its input and the gradient of the logits."""
    rows = 0.0 if s.stack.loss == "chunked" else s.value * vocabulary / s.tensor * s.tokens
    return rows + s.value * s.model.hidden * _gathered(s)
