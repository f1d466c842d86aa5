"""Every stack of the catalog says why it differs, and every published row finds exactly one."""

from __future__ import annotations

from dataclasses import fields

import pytest
from stack_entries import stack

from simulator import catalog
from simulator.scenario import from_dict
from simulator.workload.stack import Stack

NAMES = catalog.names("stack")
FIELDS = {field.name for field in fields(Stack)}
WORDS = {"source", "summary", "facts", "aliases"}
ROWS = {
    "megatron": (2020, 2021, 2022, 2023, 2024, 2025, 2026),
    "megatron-deepspeed": (2021, 2022, 2023, 2024),
    "deepspeed": (2022, 2024, 2026),
    "fsdp": (2023,),
    "internevo": (2023,),
    "llm-foundry": (2023, 2024),
    "llm.c": (2024,),
    "megatron-bridge": (2025, 2026),
    "meta": (2024,),
    "nemo": (2022, 2024, 2025),
    "other": (2024,),
    "torchtitan": (2024, 2025, 2026),
    "torchtune": (2025,),
    "aleph-alpha": (2023,),
    "nanotron": (2025,),
}
"""Frameworks and years of published measurements."""


@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_a_field_with_a_reason(name):
    entry = catalog.entry("stack", name)
    assert set(entry) <= FIELDS | WORDS
    given = set(entry) - WORDS - {"framework", "year", "matches", "named"}
    assert set(entry["facts"]) == given
    assert all(len(reason) >= 12 for reason in entry["facts"].values())
    assert entry["summary"]


@pytest.mark.parametrize("framework, year", [(f, y) for f, years in ROWS.items() for y in years])
def test_every_published_row_finds_one_stack(framework, year):
    found = []
    for name in NAMES:
        for pattern in stack(name).matches:
            word, years = pattern.split(":")
            first, last = years.split("-")
            if word == framework and int(first) <= year <= int(last):
                found.append(name)
    assert len(found) == 1


def test_the_stacks_that_scenarios_name_exist():
    named = {"generic", "megatron-2021", "megatron-2022", "megatron-deepspeed-2022", "megatron-core-2024"}
    named |= {"nemo-2024", "meta-2024", "nanotron-2024", "torchtitan-2024", "llm-foundry-2023"}
    assert named <= set(NAMES)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("tpu-v5p-host", "maxtext-2025"),
        ("aws-trn1", "neuronx-distributed-2024"),
        ("hls-gaudi-2", "megatron-deepspeed-gaudi-2024"),
        ("aurora", "megatron-deepspeed-intel-2025"),
        ("hgx-h100", "generic"),
    ],
)
def test_a_scenario_without_a_stack_gets_what_its_chips_are_programmed_with(host, name):
    plain = {
        "version": 1,
        "model": "llama-2-7b",
        "cluster": {"host": host, "hosts": 1},
        "training": {"steps": 1, "sequence_length": 2048, "global_batch": 192, "microbatch": 1},
    }
    assert from_dict(plain).stack_name == name
