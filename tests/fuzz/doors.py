"""The doors through which other people's text comes in: what is valid there, and the command that reads it."""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml
from started import ADDRESS

from simulator import catalog, convert, shipped
from simulator.explorer import link
from simulator.scenario import read
from simulator.studies.point import Base
from simulator.validation import files

ONE_HOST = "tutorial/1-one-host"
RUN = ["run", "--runs", "1", "--json"]
LOG = """\
 [2025-01-01 10:00:00] iteration 100/ 500000 | consumed samples: 102400 | elapsed time per iteration (ms): 8234.5 |
step: 10 loss: 8.1 memory: 50.0GiB(63%) tps: 6,512 tflops: 377.10 mfu: 38.13%
Epoch 0: 1/10, train_step_timing in s: 5.43
"""
NCCL = """\
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592
#  Rank  0 Group  0 Pid  100 on host0 device  0 [0x1b] NVIDIA H100
#  Rank  1 Group  0 Pid  101 on host1 device  0 [0x1b] NVIDIA H100
1024 256 float sum -1 50.1 0.02 0.02 0 50.1 0.02 0.02 0
1073741824 268435456 float sum -1 5000.2 214.7 214.7 0 5000.2 214.7 214.7 0
# Avg bus bandwidth    : 123.4
"""
PRODUCTS = "m,n,k,time_us,dtype,groups\n4096,4096,4096,230.5,bf16,1\n8192,1024,4096,120,bf16,1\n512,512,512,9,fp8,4\n"
EVENTS = "time,cause,unit,hosts,downtime\n1,HBM,gpu,1,0.5\n9,HBM,gpu,1,2\n5.5,bug,job,,\n"
LIVES = "cause,unit,lifetime,ended\nGPU,gpu,100.5,1\nGPU,gpu,720,0\nNIC,nic,30,yes\n"
TRACE = "time,host,class,downtime\n3600,0,GPU,600\n86400,1,NIC,60\n"
LINKS = "source,target,bandwidth,latency,count\n" + "".join(
    f"nic/{host}/{nic},leaf/0,50e9,1e-6,1\n" for host in range(2) for nic in range(8)
)
FITTED = "params,tokens,loss\n" + "".join(
    f"{n}e8,{d}e9,{1.7 + 400 / (n * 1e8) ** 0.34 + 410 / (d * 1e9) ** 0.28:.4f}\n"
    for n in (1, 3, 10)
    for d in (2, 6, 20)
)
CALIBRATION = """\
gpu: h100-sxm-80gb
host: hgx-h100
stack: generic
network: {latency: 1.1, scale_up: 0.9, scale_out: 0.8}
products: {bf16: 0.95, fp8: 0.9}
elementwise: 0.9
software: 1.02
"""
FOREIGN = {
    "deepspeed": [
        '{"train_batch_size": 1024, "train_micro_batch_size_per_gpu": 4, "optimizer": {"type": "AdamW", "params": '
        '{"lr": 1e-4}}, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3, "overlap_comm": true, '
        '"offload_optimizer": {"device": "cpu", "ratio": 0.4}, "offload_param": {"device": "none"}}}'
    ],
    "fsdp": [
        "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 2\nfsdp_config:\n"
        "  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n  fsdp_offload_params: true\n"
    ],
    "torchtitan": [
        "--module llama3 --config llama3_405b --parallelism.tensor_parallel_degree 8 --training.seq_len=8192\n"
        "--parallelism.pipeline-parallel-schedule Interleaved1F1B --training.global_batch_size 256 --compile.enable\n"
    ],
    "megatron": [
        "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --swiglu --bf16 \\\n"
        " --group-query-attention --num-query-groups 8 --vocab-size 128256 --tensor-model-parallel-size 4 \\\n"
        " --num-experts 8 --moe-router-topk 2 --moe-layer-freq [0]*2+[1]*30 --seq-length 8192 --train-samples 1000\n"
    ],
}


@dataclass(frozen=True)
class Door:
    name: str
    seeds: Callable[[], list[str]]
    command: Callable[[Path, bytes], list[str]]
    """Puts the text where it is read from, under a folder, and returns the arguments of the command."""


def doors() -> dict[str, Door]:
    """Return every door by its name."""
    found = [
        Door("scenario", _scenarios, lambda at, text: [*RUN, _put(at / "mine.yaml", text)]),
        Door("check", _scenarios, lambda at, text: ["check", _put(at / "mine.yaml", text)]),
        Door("set", _overrides, lambda at, text: [*RUN, ONE_HOST, "--set", _word(text)]),
        Door("report", _scenarios, lambda at, text: ["run", _put(at / "mine.yaml", text), "--out", str(at / "out")]),
        *(_entry(kind) for kind in ("gpu", "host", "model", "stack", "failures", "prices")),
        *(_table(path) for path in files.shipped()),
        Door("gemm", lambda: [PRODUCTS], _calibrating("--gemm", "--gpu", "h100")),
        Door("nccl-tests", lambda: [NCCL], _calibrating("--nccl-tests", "--host", "hgx-h100")),
        Door("failure-log", lambda: [EVENTS, LIVES], _calibrating("--failures", "--host", "hgx-h100", *FLEET)),
        Door("training-log", lambda: LOG.splitlines(), _log),
        Door("plan-fit", lambda: [FITTED], lambda at, text: ["plan", "--fit", _put(at / "mine.csv", text), *FLOPS]),
        *(_foreign(name) for name in convert.formats()),
        *(_beside(name, override) for name, override in BESIDE.items()),
        Door("link", _addresses, lambda _, text: [ADDRESS, text.decode("latin-1")]),
        Door("link-text", _texts, lambda _, text: [ADDRESS, urlencode({"name": "x", "yaml": _packed(text)})]),
        Door(
            "link-set",
            lambda: [*_overrides(), *_naming_files()],
            lambda _, text: [ADDRESS, urlencode({"scenario": ONE_HOST, "set": text})],
        ),
    ]
    return {door.name: door for door in found}


BESIDE = {
    "trace": "failures=[{{kind: trace, unit: host, file: {file}, length: 30d}}]",
    "edge-list": "cluster.topology={{kind: edge-list, file: {file}}}",
    "calibration": "calibration={file}",
    "huggingface-model": "model={{huggingface: {file}}}",
}
"""Settings that name a file beside the scenario."""
FLOPS = ("--flops", "1e22", "--json")
FLEET = ("--hosts", "4", "--wall", "30d")


def _put(path: Path, text: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return str(path)


def _word(text: bytes) -> str:
    """Return `text` as a word of a command line, which holds no zero."""
    return text.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def _scenarios() -> list[str]:
    """Return what ships, as written and with every key spelled out."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(shipped.folder().rglob("*.yaml"))]
    return [*texts, *(yaml.safe_dump(read(text).resolved, sort_keys=False) for text in texts)]


def _overrides() -> list[str]:
    found = {f"{key}={value}" for text in _scenarios() for key, value in _leaves(read(text).resolved, "")}
    return sorted(found)


def _leaves(data: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, f"{path}.{key}".lstrip("."))
    if path:
        yield path, json.dumps(data)


def _addresses() -> list[str]:
    """Return addresses of the explorer: of shipped scenarios, of texts, with changes and a view."""
    bases = [Base(name, str(shipped.find(name)), ("seed=1",)) for name in shipped.names()[::4]]
    bases += [replace(base, name="mine", source=Path(base.source).read_text(encoding="utf-8")) for base in bases[:3]]
    return [urlencode(link.write(base, "step"), doseq=True) for base in bases]


def _naming_files() -> list[str]:
    """Return overrides that name a file of this machine, as often as not one that is there."""
    return [key.format(file=file) for key in BESIDE.values() for file in ("/etc/passwd", "/dev/zero", "../x", ".")]


def _texts() -> list[str]:
    """Return scenarios, and some that name a file of this machine."""
    start = shipped.find(ONE_HOST).read_text(encoding="utf-8")
    named = (one.partition("=") for one in _naming_files() if not one.startswith(("cluster", "model")))
    return [*_scenarios(), *(f"{start}{key}: {value}\n" for key, _, value in named)]


def _packed(text: bytes) -> str:
    return urlsafe_b64encode(zlib.compress(text)).decode()


def _entry(kind: str) -> Door:
    folder = Path(catalog.__file__).parent / kind
    key = f"cluster.{kind}" if kind == "host" else "cluster.host.gpu" if kind == "gpu" else kind

    def command(at: Path, text: bytes) -> list[str]:
        _put(at / "mine" / kind / "odd.yaml", text)
        # Hosts have 1 to 16 GPUs, some of them 6 or 12.
        return [
            *RUN,
            ONE_HOST,
            "--catalog",
            str(at / "mine"),
            "--set",
            f"{key}=odd",
            "--set",
            "training.global_batch=96",
        ]

    return Door(f"catalog-{kind}", lambda: [path.read_text() for path in sorted(folder.glob("*.yaml"))], command)


def _table(path: Path) -> Door:
    def seeds() -> list[str]:
        header, *rows = path.read_text(encoding="utf-8").replace("runs=200", "runs=5").splitlines(keepends=True)
        return [header + "".join(rows[at : at + 2]) for at in range(0, len(rows) - 1, max(len(rows) // 40, 1))]

    return Door(f"validate-{path.stem}", seeds, lambda at, text: ["validate", _put(at / "mine.csv", text), "--csv"])


def _calibrating(option: str, *more: str) -> Callable[[Path, bytes], list[str]]:
    return lambda at, text: ["calibrate", option, _put(at / "mine.txt", text), *more, "--json"]


def _log(at: Path, text: bytes) -> list[str]:
    return ["calibrate", "--run", f"{ONE_HOST}={_put(at / 'mine.log', text)}", "--json"]


def _configs() -> list[str]:
    """Return models of the catalog in the words of Hugging Face."""
    written = []
    for name in islice(catalog.names("model"), 0, None, 4):
        try:
            written.append(convert.write("huggingface", {"model": catalog.entry("model", name)}))
        except ValueError:
            continue
    return written


def _foreign(name: str) -> Door:
    seeds = FOREIGN.get(name) or _configs()
    return Door(f"import-{name}", lambda: seeds, lambda at, text: ["import", name, _put(at / "mine.txt", text)])


def _beside(name: str, override: str) -> Door:
    texts = {"trace": [TRACE], "edge-list": [LINKS], "calibration": [CALIBRATION]}

    def command(at: Path, text: bytes) -> list[str]:
        file = _put(at / f"mine.{'json' if name.startswith('hugging') else 'csv'}", text)
        return [*RUN, ONE_HOST, "--set", "cluster.hosts=2", "--set", override.format(file=file)]

    return Door(name, lambda: texts.get(name) or _configs(), command)
