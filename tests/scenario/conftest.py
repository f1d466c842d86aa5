"""A small valid scenario to start from."""

from __future__ import annotations

import copy

import pytest

MINIMAL = {
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 4},
    "training": {"tokens": "1T", "sequence_length": 8192, "global_batch": 64},
}


@pytest.fixture
def minimal():
    return copy.deepcopy(MINIMAL)
