"""What the free text of a row states beyond its columns: fixed phrases and the scenario keys they mean.

Phrases are names of features as frameworks print them; a text without one leaves the stack's default alone. A phrase
names what was switched on before the run, never what happened in it: a text that says how a run ended ("out of memory
from fragmentation") must not change its scenario, or the answer would be part of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

EAGER = {"mlp": "eager", "rope": "eager", "elementwise": "eager"}
COMPILED = {"mlp": "fused", "rope": "fused", "elementwise": "fused", "repeats_keys": False, "adapters": "fused"}


class Phrase(NamedTuple):
    pattern: str
    section: str
    means: dict[str, Any]


FSDP_QLORA = {"rank": 64, "targets": ["q_proj", "k_proj", "v_proj", "up_proj", "down_proj", "gate_proj"]}
"""Adapters where a row states none: defaults of the script (`lora_rank` and `get_lora_target_modules` of `train.py`,
github:AnswerDotAI/fsdp_qlora)."""


PHRASES = (
    Phrase(r"\bQLoRA (FSDP|DDP)\b", "training", {"method": {"kind": "qlora"} | FSDP_QLORA}),
    Phrase(r"\bLoRA (FSDP|DDP)\b", "training", {"method": {"kind": "lora"} | FSDP_QLORA}),
    Phrase(r"chunked (cross entropy|CE)\b|\bLiger fused loss\b", "stack", {"loss": "chunked"}),
    Phrase(r"\bFP8 copies of activations kept\b", "stack", {"quantized_activations": True}),
    Phrase(r"CUDA graphs?\b", "stack", {"cuda_graphs": True}),
    Phrase(r"\basync-TP\b", "stack", {"async_tensor": "ring"}),
    Phrase(r"\b(DeepEP|HybridEP)\b", "stack", {"moe_dispatcher": "fused"}),
    Phrase(r"\b(EP|A2A) overlap\b", "stack", {"moe_overlap": True}),
    Phrase(
        r"\bno (comm(unication)? )?overlap\b|\bunoverlapped\b|\bno comm overlap\b",
        "stack",
        {"overlap_gradient_reduce": False, "overlap_parameter_gather": False},
    ),
    Phrase(
        r"\ball overlaps? off\b",
        "stack",
        {
            "overlap_gradient_reduce": False,
            "overlap_parameter_gather": False,
            "overlap_pipeline": False,
            "async_tensor": "none",
        },
    ),
    Phrase(r"expandable_segments", "stack", {"expandable_segments": True}),
    Phrase(
        r"no fp32 master|params, grads and Adam states bf16",
        "training",
        {"states": {"weights": "bf16", "gradients": "bf16", "master": "none", "moments": "bf16"}},
    ),
    Phrase(r"optimizer in backward", "training", {"states": {"gradients": "none"}}),
    Phrase(r"\b8-bit AdamW\b|\bpaged 8-bit\b", "training", {"optimizer": "adam-8bit"}),
    Phrase(r"optimizer offload|optimizer/activation offload", "training", {"offload": {"optimizer": "100%"}}),
    Phrase(r"activation offload", "training", {"offload": {"activations": "100%"}}),
    Phrase(r"forced?[- ]balance", "moe", {"imbalance": 1}),
    Phrase(r"tokens are dropped", "moe", {"imbalance": 1, "capacity": 1}),
    Phrase(r"\bw/o MTP\b", "model", {"mtp": 0}),
    Phrase(r"\bw/ MTP\b", "model", {"mtp": 1}),
)
KERNELS = (
    Phrase(r"^torch\b", "stack", {"attention": "unfused", "softmax": "eager"}),
    Phrase(r"^fused\b", "stack", {"attention": "unfused"}),
    Phrase(r"^flash_attentionv1", "stack", {"attention": "flash-1"}),
    Phrase(r"^flash_attention2", "stack", {"attention": "flash-2"}),
    Phrase(r"\bRMS kernel\b", "stack", {"norm": "fused"}),
)

LATENT = re.compile(r"MLA q_lora/kv_lora/nope/rope/v\s*=\s*" + "/".join(5 * [r"([0-9]{1,9})"]))
WINDOW = re.compile(r"(alternating )?sliding window ([0-9]{1,9})")
ULYSSES = re.compile(r"\bUlysses\b", re.IGNORECASE)
SHARD_GROUP = re.compile(r"ZeRO-\d[^;]*\bover ([0-9]{1,9}) GPUs")
PIPELINE_MICROBATCHES = re.compile(r"\b([0-9]{1,9}) micro-?batches\b")
ZERO_3 = re.compile(r"\bZeRO-3\b")
SLICES = re.compile(r"\b([0-9]{1,9}) slices\b")
OTHER_LAYERS = re.compile(r"every[- ]other[- ]layer")


def said(section: str, text: str, kernel: str = "") -> dict[str, Any]:
    """Return the keys of `section` that the text states; a later phrase of the list wins."""
    keys: dict[str, Any] = {}
    for phrase in _found(text, kernel):
        if phrase.section == section:
            for key, value in phrase.means.items():
                keys[key] = keys[key] | value if isinstance(keys.get(key), dict) else value
    return keys


def compiled(text: str) -> bool | None:
    """Return whether the text says that layers were compiled or run eagerly; None where it says neither."""
    if re.search(r"\bno compile\b|\beager\b", text, re.IGNORECASE):
        return False
    return True if re.search(r"\bcompiled?\b", text, re.IGNORECASE) else None


def slices(text: str) -> int | None:
    """Return of how many slices, joined by a data-centre network, a text says that a machine is made."""
    return int(found[1]) if (found := SLICES.search(text)) else None


def _found(text: str, kernel: str) -> Iterator[Phrase]:
    yield from (phrase for phrase in KERNELS if re.search(phrase.pattern, kernel))
    yield from (phrase for phrase in PHRASES if re.search(phrase.pattern, text, re.IGNORECASE))
