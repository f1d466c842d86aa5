"""Common mix-ups of units are read as written, with a warning of what was probably meant."""

from __future__ import annotations

import pytest

from simulator.scenario import from_dict


@pytest.mark.parametrize(
    ("override", "warning"),
    [
        ("cluster.host.gpu.memory=80GB", "80GB is 74.5GiB; a GPU labelled 80 GB has 80GiB"),
        ("cluster.host.gpu.peak.bf16=1979TFLOPS", "a peak with sparsity is twice the dense one"),
        ("cluster.host.gpu.peak.fp8=3958TFLOPS", "more than twice the bf16 peak"),
        ("cluster.host.gpu.power=10200W", "10200W is for one GPU; a host's goes to cluster.host.power"),
        ("cluster.host.nic_bandwidth=400GB/s", "if it counts all 8 NICs write 400Gbps, if bits were meant 400Gbps"),
        ("cluster.host.power=700W", "700W is the whole host's, less than its 8 GPUs of 700W need"),
        ("prices.gpu_hour=$20", "$20.00 is for one GPU; if it is a host's, write $2.50"),
        ("training.global_batch=4Mi", "if tokens were meant write 512"),
        ("training.tokens=1k", "1,000 are less than one step of 524,288"),
        ("failures=[{kind: exponential, unit: gpu, mtbf: 1h}]", "mtbf is the mean of one gpu, and there are 32"),
        ("failures=[{kind: weibull, unit: job, mtbf: 10h}]", "a Weibull on the job"),
    ],
)
def test_a_mix_up_gets_a_warning(minimal, override, warning):
    found = from_dict(minimal, overrides=[override]).warnings
    assert any(warning in text for text in found), found


def test_a_save_of_no_size_gets_a_warning():
    measured = {
        "cluster": {"host": "hgx-h100", "hosts": "4"},
        "training": {"steps": "10", "step_time": "9s"},
        "failures": "llama3",
    }
    assert any("a save costs nothing" in text for text in from_dict(measured).warnings)
    assert not from_dict(measured | {"checkpoint": {"stall": "5s"}}).warnings


def test_an_ordinary_scenario_gets_none(minimal):
    assert from_dict(minimal | {"failures": "llama3"}).warnings == ()
