"""Stacks of the catalog as objects, read as a scenario reads them."""

from __future__ import annotations

from functools import cache

from simulator import scenario
from simulator.workload.stack import Stack


@cache
def stack(name: str) -> Stack:
    shape = {"layers": "2", "hidden": "64", "heads": "2", "vocabulary": "128"}
    return scenario.from_dict(
        {
            "version": "1",
            "name": "a stack",
            "model": shape,
            "cluster": {"host": "dgx-a100", "hosts": "1"},
            "stack": name,
            "training": {"tokens": "1G", "sequence_length": "64", "global_batch": "64"},
        }
    ).stack
