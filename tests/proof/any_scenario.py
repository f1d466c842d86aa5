"""Scenarios that are valid and otherwise as odd as they come: every section and every kind may appear.

The numbers are small, so that one scenario is simulated in a fraction of a second; divisibility is built in.
"""

from __future__ import annotations

import math
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from simulator import catalog
from simulator.workload.stack import AXES, LEVELS

Document = dict[str, Any]
EXAMPLES = os.environ.get("EXAMPLES")
"""How many scenarios each test tries, for long runs by hand: ``EXAMPLES=5000 pytest tests/proof``."""
SOME = settings(
    max_examples=int(EXAMPLES or 40),
    derandomize=EXAMPLES is None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
POWERS = (1, 2, 4, 8)
HOSTS = ("hgx-h100", "dgx-a100", "dgx-1-v100", "hgx-b200", "azure-nd-mi300x-v5", "gb200-nvl72", "oci-h100")
SCHEDULES = ("1f1b", "gpipe", "interleaved-1f1b", "zb-h1", "zb-h2", "zb-v", "dualpipe")
EVERYTHING = {"axes": [*AXES], "shards": [*LEVELS], "schedules": [*SCHEDULES]}
"""What makes a framework have all that any layout asks for."""
UNITS = ("gpu", "nic", "link", "host", "rack", "pod", "switch", "power", "job")
TIMES = ("1min", "20min", "5h", "30d", "50000h")
MOST_HOSTS = {"dragonfly": 6, "nvlink-domain": 1}
"""That a fabric of this kind holds by itself, with one NIC a host."""
TOPOLOGIES = ("fat-tree", "rail-optimized", "rail-only", "single-switch", "dragonfly", "torus", "nvlink-domain")


def word(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


@st.composite
def causes(draw: st.DrawFn) -> Document:
    kind = draw(word("exponential", "weibull", "lognormal", "eviction", "scripted"))
    cause: Document = {"kind": kind, "unit": draw(word(*UNITS)), "repair": draw(word(*TIMES[:4]))}
    if kind == "scripted":
        cause["at"] = draw(st.lists(word(*TIMES), min_size=1, max_size=3))
    else:
        cause["mtbf"] = draw(word(*TIMES[1:]))
    if kind in ("weibull", "lognormal"):
        cause["shape"] = draw(word(0.5, 1, 2))
    cause["effect"] = draw(word("crash", "crash", "slow", "degrade", "corrupt", "flap"))
    if cause["effect"] in ("slow", "degrade", "flap"):
        cause["lasts"] = draw(word(*TIMES[:3]))
    return cause


@st.composite
def failures(draw: st.DrawFn) -> Document:
    found: Document = draw(
        word({}, {"preset": "llama3"}, {"preset": "rsc1"}) | st.lists(causes(), min_size=1, max_size=3).map(_of_causes)
    )
    if not found:
        return found
    found = {**found, "scale": draw(word(0, 0.5, 1, 10)), "exposure": draw(word("uptime", "wall"))}
    if draw(st.booleans()):
        found["lemons"] = {"share": "5%", "factor": 10}
    if draw(st.booleans()):
        found["planned"] = {"every": "3d", "time": "1h"}
    return found


def _of_causes(found: list[Document]) -> Document:
    return {"causes": found}


@st.composite
def checkpoints(draw: st.DrawFn) -> Document:
    kind = draw(word("young-daly", "young", "optimal", "availability", "adaptive", "none", "fixed"))
    found: Document = {"kind": kind, "mode": draw(word("blocking", "async"))}
    if kind == "fixed":
        found["interval"] = draw(word("1min", "1h", "2d"))
    if draw(st.booleans()):
        found["stall"] = draw(word("0s", "1s", "5min"))
    if kind == "fixed" and draw(st.booleans()):
        found["tiers"] = [
            {"interval": "5min", "stall": "1s", "load": "10s", "survives": draw(word("process", "host", "90%"))},
            {"interval": "1h", "stall": "30s", "load": "3min"},
        ]
    return found


@st.composite
def recoveries(draw: st.DrawFn, data: int) -> Document:
    found: Document = {"repair": draw(word("1h", "24h", {"kind": "lognormal", "mean": "12h", "cv": 1}))}
    if data > 1 and draw(word(True, False, False)):
        return {**found, "kind": "elastic", "replicas": data}
    return {**found, "detect": draw(word("0s", "1min")), "restart": draw(word("0s", "5min"))}


@st.composite
def models(draw: st.DrawFn, heads_of: int, expert: int, expert_tensor: int, layers: int) -> Document:
    groups = heads_of * draw(word(1, 2))
    heads = groups * draw(word(1, 2, 4))
    model: Document = {
        "layers": layers,
        "heads": heads,
        "kv_heads": groups,
        "head_size": draw(word(32, 64, 128)),
        "hidden": 128 * draw(st.integers(1, 32)),
        "ffn": heads_of * 64 * draw(st.integers(1, 40)),
        "vocabulary": draw(st.integers(2, 200_000)),
        "norms": draw(word(1, 2, 4)),
        "mtp": draw(word(0, 0, 0, 1)),
        "dropout": draw(word(0, 0, "10%")),
    }
    for key in ("gated", "tied", "parallel", "embedding_norm", "sinks", "norm_bias"):
        model[key] = draw(st.booleans())
    model["norm"] = draw(word("rmsnorm", "layernorm"))
    model["activation"] = draw(word("gelu", "silu", "relu", "squared-relu"))
    model["bias"] = draw(word("none", "qkv", "all"))
    model["qk_norm"] = draw(word("none", "head", "full"))
    model["positions"] = draw(word("rope", "alibi", "relative"))
    attention = draw(word("full", "full", "window", "mla"))
    if attention == "window":
        model["attention"] = {"kind": "window", "window": draw(word(1, 128, 100_000)), "full_every": draw(word(0, 2))}
    if attention == "mla":
        sizes = {"q_rank": draw(word(0, 64)), "kv_rank": 64, "rope_size": 32, "nope_size": 64, "value_size": 64}
        model |= {"attention": {"kind": "mla", **sizes}, "kv_heads": heads, "qk_norm": "none"}
    if expert * expert_tensor > 1 or draw(word(True, False, False)):
        count = expert * draw(word(1, 4))
        model["experts"] = {
            "count": count,
            "active": draw(st.integers(1, min(count, 8))),
            "ffn": 64 * expert_tensor * draw(word(1, 8)),
            "shared": draw(word(0, 1)),
            "dense_layers": draw(word(0, 1)),
            "every": draw(word(1, 1, 2)),
        }
    return model


@st.composite
def clusters(draw: st.DrawFn) -> Document:
    base = draw(word(*HOSTS))
    host: Document = {"base": base}
    if draw(st.booleans()):
        host["nics"] = draw(word(1, 2, 4, 8))
    cluster: Document = {"host": host, "hosts": draw(word(1, 1, 2, 3, 4, 8, 16))}
    if draw(st.booleans()):
        cluster["topology"] = draw(topologies(cluster["hosts"]))
    cluster["placement"] = {"kind": draw(word("contiguous", "contiguous", "scattered"))}
    if draw(st.booleans()):
        cluster["spares"] = draw(word(0, 1, 4))
    if draw(st.booleans()):
        cluster["storage"] = {"write": draw(word("1MB/s", "1TB/s")), "read": draw(word("1MB/s", "1TB/s"))}
    return cluster


@st.composite
def topologies(draw: st.DrawFn, hosts: int) -> Document:
    kinds = [kind for kind in TOPOLOGIES if hosts <= MOST_HOSTS.get(kind, hosts)]
    kind = draw(word(*kinds))
    found: Document = {"kind": kind, "routing": draw(word("adaptive", "static"))}
    if kind == "fat-tree":
        found |= {"hosts_per_leaf": draw(word(1, 2, 4)), "oversubscription": draw(word(1, 3))}
    return found


@st.composite
def scenarios(draw: st.DrawFn, runs: int = 2, simple: bool = False) -> Document:
    """Return a valid scenario; a `simple` one has a healthy fabric and nothing that goes wrong."""
    cluster = draw(clusters())
    if simple:
        cluster.pop("spares", None)
        cluster["placement"] = {"kind": "contiguous"}
    per_host = int(catalog.entry("host", cluster["host"]["base"])["gpus"])
    gpus = cluster["hosts"] * per_host
    tensor = draw(_part_of(gpus, most=8))
    context = draw(_part_of(gpus // tensor, most=4))
    pipeline = draw(_part_of(gpus // tensor // context, most=8))
    data = gpus // tensor // context // pipeline
    expert = draw(word(1, 1, 1) | _part_of(gpus // pipeline, most=8))
    expert_tensor = draw(word(1, 1, 1) | _part_of(gpus // pipeline // expert, most=2))

    schedule: Document = {"kind": draw(word(*SCHEDULES)) if pipeline > 1 else "1f1b"}
    if schedule["kind"] == "dualpipe" and pipeline % 2:
        schedule["kind"] = "zb-h1"
    chunks = {"zb-v": 2, "dualpipe": 2}.get(schedule["kind"], 1)
    microbatches = draw(st.integers(1, 9))
    if schedule["kind"] == "interleaved-1f1b":
        schedule["chunks"] = chunks = draw(word(2, 3))
    if schedule["kind"] == "dualpipe":
        microbatches = 2 * pipeline + 2 * draw(st.integers(0, 3))
    layers = pipeline * chunks * draw(word(1, 2)) + draw(word(0, 0, 1))
    sharded = math.gcd(data * context, 64)
    microbatch = draw(word(1, 1, 2, 3))

    document: Document = {
        "name": "any",
        "model": draw(models(tensor * context, expert, expert_tensor, layers)),
        "cluster": cluster,
        "stack": {"base": draw(word(*sorted(catalog.names("stack")))), **EVERYTHING},
        "parallelism": {
            "tensor": tensor,
            "pipeline": pipeline,
            "context": {"size": context, "kind": draw(word("ring", "all-gather", "ulysses"))},
            "expert": expert,
            "expert_tensor": expert_tensor,
            "schedule": schedule,
            "sequence": draw(st.booleans()),
            "shard": {
                "level": draw(word("none", "optimizer", "gradients", "parameters")),
                "replicas": draw(word(1, 1, 2 if sharded % 2 == 0 else 1)),
            },
            "split": draw(word("even", "slots", "cost")),
            "order": draw(word("tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp")),
        },
        "training": {
            **draw(word({"tokens": "1G"}, {"steps": "10k"}, {"duration": "9d"})),
            "sequence_length": tensor * context * draw(word(1, 16, 512)),
            "global_batch": data * microbatch * microbatches,
            "microbatch": microbatch,
            "precision": "fp16" if "v100" in cluster["host"]["base"] else "bf16",
            "optimizer": draw(word("adamw", "adam-8bit", "lion", "sgd", "adafactor", "muon")),
            "recompute": {"kind": draw(word("none", "selective", "full", "sqrt"))},
        },
        "prices": {"gpu_hour": "$2"},
        "runs": runs,
    }
    if simple:
        return document
    if draw(st.booleans()):
        document["jitter"] = {"gpu": "2%", "step": "1%", "slow_hosts": "1%", "slow": draw(word(1, 1.5))}
    if draw(st.booleans()):
        document["training"]["evaluation"] = {"every": 1000, "time": "5min"}
    if draw(st.booleans()):
        document["training"]["data_stall"] = draw(word("1%", "2s", "0s"))
    document["failures"] = draw(failures())
    document["checkpoint"] = draw(checkpoints())
    document["recovery"] = draw(recoveries(data))
    return document


def _part_of(number: int, most: int) -> st.SearchStrategy[int]:
    """Return a divisor of `number`."""
    return st.sampled_from([part for part in (1, 2, 3, *POWERS[2:]) if number % part == 0 and part <= most])
