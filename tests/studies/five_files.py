"""A scenario that takes something from a file of every kind, and those files."""

from __future__ import annotations

import json
from pathlib import Path

SCENARIO = """\
version: 1
name: two hosts
model: {huggingface: config.json}
cluster:
  host: ours
  hosts: 2
  spares: 0
  topology: {kind: edge-list, file: edges.csv}
parallelism: {tensor: 2, pipeline: 2}
training: {tokens: 100B, sequence_length: 2048, global_batch: 64, microbatch: 1}
failures: [{kind: trace, unit: host, file: log.csv}]
checkpoint: {kind: fixed, interval: 10min, stall: 10s, mode: blocking}
calibration: learned.yaml
prices: {gpu_hour: $2}
search: {tensor: [2, 4], pipeline: [2], context: [1], recompute: [none], shard: [optimizer], chunks: [1, 2]}
recovery: {repair: 1h}
runs: 5
"""
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_act": "silu",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "model_type": "llama",
    "num_attention_heads": 16,
    "num_hidden_layers": 8,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
}
LINKS = [f"nic/{host}/{nic},leaf/0,10e9,1e-5,1" for host in range(2) for nic in range(8)]
FAILURES = [f"{3600 * hour},{hour % 2},GPU,60" for hour in range(1, 50)]
HOST = """\
gpu: h100-sxm-80gb
gpus: 8
scale_up: {domain: 8, bandwidth: 450GB/s}
nics: 8
nic_bandwidth: 400Gbps
power: 10200W
source: a test
"""
TOLD = {
    "edges.csv": ("10e9", "20e9"),
    "log.csv": (",60\n", ",90\n"),
    "learned.yaml": ("1.2", "1.7"),
    "config.json": ("4096", "8192"),
    "catalog/host/ours.yaml": ("450GB/s", "250GB/s"),
}
"""Each file, and a change of it that changes figures."""


def written(folder: Path) -> str:
    """Write the scenario and its files into a folder, and return the scenario's name."""
    (folder / "catalog" / "host").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "edges.csv").write_text("\n".join(["source,target,bandwidth,latency,count", *LINKS, ""]))
    (folder / "log.csv").write_text("\n".join(["time,host,class,downtime", *FAILURES, ""]))
    (folder / "learned.yaml").write_text("gpu: h100-sxm-80gb\nproducts: {bf16: 1.2}\n")
    (folder / "catalog" / "host" / "ours.yaml").write_text(HOST)
    return str(folder / "scenario.yaml")
