"""The shape of a model in the arguments of Megatron-LM <-> the `model` section of a scenario.

Defaults are those of `megatron/training/arguments.py`: biases, layer norms, learned positions and a tied head
unless flags say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.convert.arguments import Arguments
from simulator.convert.shape import complete, short

NORMS = {"LayerNorm": "layernorm", "RMSNorm": "rmsnorm"}
POSITIONS = {"learned_absolute": "learned", "rope": "rope", "yarn": "rope"}
LONGEST_PATTERN = 10_000


def read_model(args: Arguments) -> dict[str, Any]:
    """Return the `model` section of `args`; empty where they name no layers."""
    if (layers := args.number("--num-layers")) is None:
        return {}
    swiglu, squared = args.switch("--swiglu"), args.switch("--squared-relu")
    model = {
        "layers": layers,
        "hidden": args.number("--hidden-size"),
        "heads": args.number("--num-attention-heads"),
        "kv_heads": args.number("--num-query-groups") if args.switch("--group-query-attention") else None,
        "head_size": args.number("--kv-channels"),
        "vocabulary": args.number("--vocab-size", "--padded-vocab-size"),
        "gated": swiglu,
        "activation": "silu" if swiglu else "squared-relu" if squared else "gelu",
        "tied": not args.switch("--untie-embeddings-and-output-weights"),
        "norm": args.choice(NORMS, "--normalization", default="layernorm"),
        "bias": _bias(args),
        "qk_norm": "head" if args.switch("--qk-layernorm") else "none",
        "positions": _positions(args),
        "max_positions": args.number("--max-position-embeddings"),
        "dropout": args.number("--hidden-dropout"),
        "mtp": args.number("--mtp-num-layers") or 0,
    }
    model["dropout"] = 0.1 if model["dropout"] is None else model["dropout"]
    model["ffn"] = args.number("--ffn-hidden-size") or _default_ffn(model["hidden"], swiglu)
    if attention := _attention(args):
        model["attention"] = attention
    if experts := _experts(args, model["ffn"]):
        model["experts"] = experts
    given = {key: value for key, value in model.items() if value is not None}
    return short(complete(given)) if {"hidden", "heads", "vocabulary"} <= given.keys() else given


def _default_ffn(hidden: Any, swiglu: bool) -> int | None:
    if hidden is None:
        return None
    return int(4 * hidden * 2 / 3) // 64 * 64 if swiglu else 4 * hidden


def _bias(args: Arguments) -> str:
    if not args.switch("--disable-bias-linear"):
        return "all"
    return "qkv" if args.switch("--add-qkv-bias") else "none"


def _positions(args: Arguments) -> str:
    legacy = "rope" if args.switch("--use-rotary-position-embeddings") else "learned"
    return args.choice(POSITIONS, "--position-embedding-type", default=legacy)


def _attention(args: Arguments) -> dict[str, Any]:
    if args.switch("--multi-latent-attention"):
        if not (kv_rank := args.number("--kv-lora-rank")):
            raise ValueError("--kv-lora-rank: needed with --multi-latent-attention; its default differs by version")
        return {
            "kind": "mla",
            "q_rank": args.number("--q-lora-rank") or 0,
            "kv_rank": kv_rank,
            "rope_size": args.number("--qk-pos-emb-head-dim") or 64,
            "nope_size": args.number("--qk-head-dim") or 128,
            "value_size": args.number("--v-head-dim") or 128,
        }
    if (window := args.text("--window-size")) is None:
        return {}
    if not (found := re.fullmatch(r"\(?(\d{1,9})[, ]+0\)?", window)):
        raise ValueError(f"--window-size: expected tokens before and 0 after, found {window[:80]!r}")
    every = args.number("--window-attn-skip-freq") or 0
    return {"window": int(found[1])} | ({"full_every": every} if every else {})


def _experts(args: Arguments, ffn: int | None) -> dict[str, Any]:
    if (count := args.number("--num-experts")) is None:
        return {}
    width = args.number("--moe-ffn-hidden-size") or ffn
    shared = args.number("--moe-shared-expert-intermediate-size") or 0
    if not width or shared % width:
        raise ValueError("--moe-shared-expert-intermediate-size: expected a multiple of --moe-ffn-hidden-size")
    return {
        "count": count,
        "active": args.number("--moe-router-topk") or 2,
        "ffn": width,
        "shared": shared // width,
        "dense_layers": _dense_layers(args.text("--moe-layer-freq") or "1"),
        "router_bias": args.switch("--moe-router-enable-expert-bias"),
        "groups": (groups := args.number("--moe-router-num-groups") or 1),
        "active_groups": args.number("--moe-router-group-topk") or groups,
    }


def _dense_layers(pattern: str) -> int:
    """Return how many dense layers lead the pattern ``([0]*3+[1]*58)``, which is read and never executed."""
    if pattern == "1":
        return 0
    layers: list[int] = []
    for term in pattern.replace(" ", "").strip("()").split("+"):
        if not (found := re.fullmatch(r"\[([01](?:,[01])*)\](?:\*(\d{1,4}))?", term)):
            raise ValueError(
                f"--moe-layer-freq: expected 1 or a pattern such as ([0]*3+[1]*58), found {pattern[:80]!r}"
            )
        layers += [int(digit) for digit in found[1].split(",")] * int(found[2] or 1)
        if len(layers) > LONGEST_PATTERN:
            raise ValueError(f"--moe-layer-freq: more than {LONGEST_PATTERN} layers")
    dense = layers.index(1) if 1 in layers else len(layers)
    if 0 in layers[dense:]:
        raise ValueError("--moe-layer-freq: dense layers after the first ones cannot be expressed")
    return dense


def write_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags of a model; True is a switch. What Megatron-LM has no flag for is refused, not left out."""
    whole = complete(model)
    latent = isinstance(whole["attention"], dict) and whole["attention"]["kind"] == "mla"
    flags: dict[str, Any] = {
        "--num-layers": whole["layers"],
        "--hidden-size": whole["hidden"],
        "--ffn-hidden-size": whole["ffn"],
        "--num-attention-heads": whole["heads"],
        "--vocab-size": whole["vocabulary"],
        "--swiglu": whole["gated"],
        "--squared-relu": whole["activation"] == "squared-relu",
        "--untie-embeddings-and-output-weights": not whole["tied"],
        "--normalization": {name: theirs for theirs, name in NORMS.items()}[whole["norm"]],
        "--disable-bias-linear": whole["bias"] != "all",
        "--add-qkv-bias": whole["bias"] == "qkv",
        "--qk-layernorm": whole["qk_norm"] == "head",
        "--position-embedding-type": "learned_absolute" if whole["positions"] == "learned" else "rope",
        "--max-position-embeddings": whole.get("max_positions"),
        "--hidden-dropout": whole["dropout"],
        "--mtp-num-layers": whole["mtp"] or None,
    }
    if not latent:
        grouped = whole["kv_heads"] != whole["heads"]
        flags |= {"--kv-channels": whole["head_size"], "--group-query-attention": grouped}
        flags["--num-query-groups"] = whole["kv_heads"] if grouped else None
    return flags | _attention_flags(whole["attention"]) | _expert_flags(whole)


def _attention_flags(attention: Any) -> dict[str, Any]:
    if not isinstance(attention, dict):
        return {}
    if attention["kind"] == "window":
        return {
            "--window-size": f"{attention['window']},0",
            "--window-attn-skip-freq": attention["full_every"] or None,
        }
    return {
        "--multi-latent-attention": True,
        "--q-lora-rank": attention["q_rank"] or None,
        "--kv-lora-rank": attention["kv_rank"],
        "--qk-pos-emb-head-dim": attention["rope_size"],
        "--qk-head-dim": attention["nope_size"],
        "--v-head-dim": attention["value_size"],
    }


def _expert_flags(whole: Mapping[str, Any]) -> dict[str, Any]:
    if (experts := whole["experts"]) is None:
        return {}
    dense = experts["dense_layers"]
    return {
        "--num-experts": experts["count"],
        "--moe-router-topk": experts["active"],
        "--moe-ffn-hidden-size": experts["ffn"],
        "--moe-shared-expert-intermediate-size": experts["shared"] * experts["ffn"] or None,
        "--moe-layer-freq": f"([0]*{dense}+[1]*{whole['layers'] - dense})" if dense else 1,
        "--moe-router-enable-expert-bias": experts["router_bias"],
        "--moe-router-num-groups": experts["groups"] if experts["groups"] > 1 else None,
        "--moe-router-group-topk": experts["active_groups"] if experts["groups"] > 1 else None,
    }
