"""Several processes that talk over gloo on this machine, and their answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import distributed, multiprocessing

from simulator.units import Count

Task = Callable[[int, int, Any], Any]
"""Called with rank, number of ranks and the argument; a function of a module, so that it travels."""


def run(task: Task, ranks: Count, argument: Any) -> list[Any]:
    """Return what `task` returned on each rank; every process has one thread."""
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(_one, args=(task, ranks, argument, folder), nprocs=ranks, join=True)
        return [torch.load(Path(folder) / f"{rank}.pt", weights_only=False) for rank in range(ranks)]


def _one(rank: int, task: Task, ranks: int, argument: Any, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    store = distributed.FileStore(str(Path(folder) / "store"), ranks)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    try:
        torch.save(task(rank, ranks, argument), Path(folder) / f"{rank}.pt")
        distributed.barrier()
    finally:
        distributed.destroy_process_group()
