"""Odd files and hostile paths in every option and argument that takes a file of text.

A pipe that somebody names on the command line may be waited for, as other programs do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from attack import Attack
from odd_files import FILES, NAMES, OUTSIDE
from small import ONE_HOST

FLOPS = ("--flops", "1e22")
OPTIONS = {
    "validate": ["validate", "{}", "--csv"],
    "calibrate --gemm": ["calibrate", "--gemm", "{}", "--gpu", "h100"],
    "calibrate --nccl-tests": ["calibrate", "--nccl-tests", "{}", "--host", "hgx-h100"],
    "calibrate --failures": ["calibrate", "--failures", "{}", "--host", "hgx-h100", "--hosts", "4", "--wall", "30d"],
    "calibrate --run": ["calibrate", "--run", f"{ONE_HOST}={{}}"],
    "calibrate --runs": ["calibrate", "--runs", "{}"],
    "import huggingface": ["import", "huggingface", "{}"],
    "import megatron": ["import", "megatron", "{}"],
    "import torchtitan": ["import", "torchtitan", "{}"],
    "import deepspeed": ["import", "deepspeed", "{}"],
    "import fsdp": ["import", "fsdp", "{}"],
    "plan --fit": ["plan", "--fit", "{}", *FLOPS],
    "plan --phases": ["plan", "--phases", "{}", *FLOPS],
    "check": ["check", "{}"],
    "run": ["run", "{}"],
    "sweep": ["sweep", "{}", "--vary", "cluster.hosts=[1,2]", "--quick", "--jobs", "1"],
    "layouts": ["layouts", "{}", "--quick", "--jobs", "1"],
    "stress": ["stress", "{}", "--vary", "cluster.spares=[1,2]", "--runs", "2", "--jobs", "1"],
    "compare": ["compare", "{}", ONE_HOST, "--runs", "1", "--jobs", "1"],
    "export": ["export", "megatron", "{}"],
    "plan": ["plan", "{}", *FLOPS],
}
BYTES = (b"\xff.yaml", b"caf\xe9")
"""Names that are no UTF-8."""


def attacks() -> Iterator[Attack]:
    for option, words in OPTIONS.items():
        for name in (*FILES, *OUTSIDE, *NAMES):
            if "\0" in name:
                continue  # no word of a command line holds it
            files = {name: FILES[name]} if name in FILES else {}
            named = [name, "/etc/passwd", "/dev/zero"] if name in (*OUTSIDE, "..") or name.startswith("to-") else []
            filled = [word.format(name) for word in words]
            waits = {"codes": (0, 1, 2, None), "wait": 4} if name == "fifo" else {}
            yield Attack(f"{option}: {name[:30]}", filled, files, named=named, **waits)
        for raw in BYTES:
            yield Attack(f"{option}: {raw!r}", [os.fsencode(word).replace(b"{}", raw) for word in words])
