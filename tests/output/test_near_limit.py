"""Runs that nearly fill their GPUs are told that they may be slower than predicted."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.scenario import from_dict
from simulator.simulation import simulate

GIVEN: dict[str, Any] = {
    "version": 1,
    "model": {"base": "llama-3.1-8b", "layers": 8},
    "cluster": {"host": "hgx-h100", "hosts": 1},
    "stack": {"base": "megatron-core-2024"},
    "training": {"steps": 10, "sequence_length": 4096, "global_batch": 8},
    "runs": 1,
}


def said(usable: float, **stack: Any) -> tuple[str, tuple[str, ...]]:
    """Return the verdict and the warnings of memory where this much of the peak is usable."""
    given = GIVEN | {"stack": GIVEN["stack"] | stack}
    free = simulate(from_dict(given)).memory
    assert free is not None
    limit = f"cluster.host.gpu.usable_memory={free.peak_bytes * usable / 1e9}GB"
    result = simulate(from_dict(given, overrides=[limit]))
    return result.verdict or "", tuple(warning for warning in result.warnings if warning.startswith("memory:"))


@pytest.mark.parametrize(("usable", "verdict", "warned"), [(2.0, "fits", 0), (1.02, "tight", 1), (0.8, "oom", 0)])
def test_a_run_that_may_retry_is_warned_of(usable: float, verdict: str, warned: int) -> None:
    found, warnings = said(usable)
    assert found == verdict
    assert len(warnings) == warned


def test_memory_that_is_placed_when_it_is_compiled_has_nothing_to_retry() -> None:
    assert said(1.02, reserved_factor=1.0)[1] == ()


def test_a_warning_says_how_full_it_is() -> None:
    (warning,) = said(1.02)[1]
    assert "98.0%" in warning
    assert "num_alloc_retries" in warning
