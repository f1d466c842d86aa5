"""A row of a table of fine-tuning runs in the columns of a table of runs, with the method of training as a section.

What a row measured may belong to two lengths of its samples: a step to their mean, a peak of memory to the longest.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import erf, exp, log, sqrt
from typing import Any

from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row

FRAMEWORKS = (
    (r"[dD]eep[sS]peed", "deepspeed"),
    (r"megatron-swift", "megatron-core"),
    (r"nemo-automodel", "nemo-automodel"),
)
"""Words in the stack and the framework of a row, and the framework that entries of the catalog claim."""
FUSED = "fused LoRA"
"""Kernels of Unsloth or Liger beside a Hugging Face trainer."""
SHARDS = (
    (r"^$", ""),
    (r"none|replicated", "0"),
    (r"distributed optimizer|^Megatron$", "1"),
    (r"ZeRO-2", "2"),
    (r"ZeRO-3|FSDP", "3"),
)
MEMORY = (
    (r"nvidia-smi|printed|profiled", "process"),
    (r"reserved|^peak$", "reserved"),
    (r"allocated|active", "allocated"),
)
"""Words for a peak of memory, and its kind: what a page prints of a GPU is what its driver shows."""
TARGETS = {
    "query and value projections": ("q_proj", "v_proj"),
    "all linear (*_proj)": ("all-linear",),
    "attention projections": ("attention",),
    "fused attention projection (c_attn) or the model default": ("linear_qkv",),
    "q_proj, k_proj, v_proj, o_proj, c_attn": ("q_proj", "k_proj", "v_proj", "o_proj"),
}
UNSTATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"torchtune", ("q_proj", "v_proj", "o_proj", "mlp")),
    (r"nemo|megatron", ("linear_qkv",)),
)
"""Targets where a row states none, by its stack: `lora_attn_modules` and `apply_lora_to_mlp` of torchtune's recipes
(recipes/configs/llama3_1/8B_lora_single_device.yaml), `recipe.peft.target_modules = ['linear_qkv']` of NeMo's."""
UNSTATED_RANK = 16
"""Rank where none is stated: recipes have 8 to 64, of which none moves a step by more than a few parts in a hundred."""
BASES = (
    (r"kept in FP8", "fp8"),
    (r"int8", "int8"),
    (r"GPTQ", "int4"),
    (r"nf4|int4", "nf4"),
    (r"fp32|float32", "fp32"),
)
KINDS = {"lora": "lora", "qlora": "qlora", "lora-dora": "dora", "lora+embeddings": "lora"}
OFFLOADS = {"weights to CPU": "parameters", "activations to CPU": "activations"}
SPREAD = "layers spread"
CUT_TEXTS = re.compile(
    r"mean (?P<mean>[1-9]\d{0,8}(?:\.\d{1,9})?), "
    r"standard deviation (?P<spread>\d{1,9}(?:\.\d{1,9})?).*cut at"
)
DROPS = "ms-swift"
"""The framework that leaves samples out that are too long, instead of cutting them: `truncation_strategy: 'delete'` by
default (`SftArguments`, github:modelscope/ms-swift `swift/llm/utils/argument.py`)."""
LONGEST = re.compile(r"(?:longest sample|at most) ([1-9]\d{0,8})")
BLOCK = re.compile(r"full, (\d{1,5}) of \d+ layers")


def check(row: Row) -> None:
    """Raise InexpressibleError where the cards of a row work one after the other."""
    if SPREAD in row.text("sharding"):
        raise InexpressibleError("layers spread over cards that work in turn (`device_map`) are not modelled")


def method(row: Row) -> dict[str, Any] | None:
    """Return the method section of a row; None for full training, or where the table says nothing of methods."""
    said = row.text("method")
    if said in ("", "full"):
        return None
    if said not in KINDS:
        raise InexpressibleError(f"the method {said} is not modelled")
    section: dict[str, Any] = {"kind": KINDS[said], "rank": row.whole("lora_rank") or UNSTATED_RANK}
    section["targets"] = list(_targets(row))
    if dropout := row.real("lora_dropout"):
        section["dropout"] = dropout
    base = next((name for pattern, name in BASES if re.search(pattern, row.text("base_dtype"))), None)
    if base == "int8":
        raise InexpressibleError("a frozen base in int8 is not modelled")
    if base:
        section["base"] = base
    if said == "lora+embeddings":
        section["modules_to_save"] = ["embedding", "head"]
    return section


def offload(row: Row) -> dict[str, str]:
    """Return what the row says is kept on the host."""
    said = (part.strip() for part in row.text("offload").split(","))
    return {OFFLOADS[part]: "100%" for part in said if part in OFFLOADS}


def _targets(row: Row) -> tuple[str, ...]:
    said = row.text("lora_targets")
    if not said:
        known = (targets for pattern, targets in UNSTATED if re.search(pattern, row.text("stack")))
        if targets := next(known, None):
            return targets
        raise InexpressibleError("the targets of adapters are not stated, and the stack's own are not known")
    return TARGETS.get(said) or tuple(part.strip() for part in said.split(","))


def of_step(row: Row) -> Row:
    """Return the row for its step: samples as long as they are in the mean, padding that was counted included."""
    if "MICRO-BATCH" in row.text("step_kind"):
        row = _one_pass(row)
    tokens, batch = row.real("tokens_per_step"), row.real("global_batch")
    cut, texts = row.real("seq"), CUT_TEXTS.search(row.text("length_distribution"))
    if cut and texts and float(texts["spread"]):
        mean = dropped_mean if row.text("stack").startswith(DROPS) else cut_mean
        return _as_run(row, round(mean(float(texts["mean"]), float(texts["spread"]), cut)))
    if tokens and batch and tokens / batch != row.real("seq"):
        return _as_run(row, round(tokens / batch))
    return _as_run(row, row.whole("seq"))


def of_memory(row: Row) -> Row:
    """Return the row for its peak of memory: samples as long as the longest, as far as the row says how long it is."""
    longest = LONGEST.search(row.text("length_distribution"))
    length = row.whole("seq") or (int(longest[1]) if longest else None)
    tokens, batch = row.real("tokens_per_step"), row.real("global_batch")
    if length is None and tokens and batch:
        length = round(tokens / batch)
    return _as_run(row, length)


def _one_pass(row: Row) -> Row:
    """Return a row whose step is one microbatch of every replica."""
    gpus, size = row.real("gpus") or 1.0, row.real("micro_batch") or 1.0
    split = (row.real("tp") or 1.0) * (row.real("pp") or 1.0) * (row.real("cp") or 1.0)
    return replace(row, numbers=dict(row.numbers) | {"global_batch": gpus / split * size})


def cut_mean(mean: float, spread: float, cut: float) -> float:
    """Return the mean length of texts that are cut, of a log-normal length with this mean and spread."""
    shorter, share = _shorter(mean, spread, cut)
    return shorter + cut * (1 - share)


def dropped_mean(mean: float, spread: float, cut: float) -> float:
    """Return the mean length of texts of which longer ones are left out, of a log-normal length."""
    shorter, share = _shorter(mean, spread, cut)
    return shorter / share if share else cut


def _shorter(mean: float, spread: float, cut: float) -> tuple[float, float]:
    """Return what texts that are no longer than `cut` add to the mean, and their share of all texts."""
    variance = log(1 + (spread / mean) ** 2)
    centre, sigma = log(mean) - variance / 2, sqrt(variance)

    def below(value: float) -> float:
        return (1 + erf(value / sqrt(2))) / 2

    at = (log(cut) - centre) / sigma
    return exp(centre + variance / 2) * below(at - sigma), below(at)


def _as_run(row: Row, length: int | None) -> Row:
    """Return the row in the columns of a table of runs, with samples of this length."""
    framework, _, year = row.text("stack").rpartition("-")
    # Scripts of one GPU leave DeepSpeed out where the frozen weights are whole (`finetune_lora_single_gpu.sh` of Qwen).
    named = framework if row.text("method").startswith("lora") else f"{framework} {row.text('framework')}"
    framework = next((name for pattern, name in FRAMEWORKS if re.search(pattern, named)), framework)
    if FUSED in row.text("kernels") and framework == "hf-trainer":
        framework = "hf-fused"
    texts = dict(row.texts) | {
        "family": row.text("source"),
        "model_name": row.text("model"),
        "stack": framework,
        "zero_stage": _word(row, "sharding", SHARDS),
        "memory_kind": _word(row, "mem_kind", MEMORY),
        "memory_unit": "GB" if row.text("mem_unit").startswith("GB") else row.text("mem_unit"),
        "recompute": _recompute(row),
        "notes": "; ".join((row.text("notes"), row.text("kernels"))),
    }
    numbers = dict(row.numbers)
    numbers.pop("seq", None)
    numbers |= {"year": float(year)} if re.fullmatch(r"\d{4}", year) else {}
    numbers |= {"seq": float(length)} if length else {}
    return Row(line=row.line, texts=texts, numbers=numbers)


def _word(row: Row, column: str, words: tuple[tuple[str, str], ...]) -> str:
    return next((name for pattern, name in words if re.search(pattern, row.text(column))), row.text(column))


def _recompute(row: Row) -> str:
    said = row.text("recompute")
    if BLOCK.match(said):
        return said
    if not said and row.text("stack").startswith("torchtune"):
        return "full"  # `enable_activation_checkpointing: True` of its recipes for adapters (recipes/configs)
    return next((kind for kind in ("none", "selective", "full") if said.startswith(kind)), "")
