"""Common mix-ups of units are read as written, with a warning of what was probably meant."""

from __future__ import annotations

import pytest

from simulator import catalog
from simulator.scenario import from_dict


@pytest.mark.parametrize(
    ("override", "warning"),
    [
        ("cluster.host.gpu.memory=80GB", "80GB is 74.5GiB; a GPU labelled 80 GB has 80GiB"),
        ("cluster.host.gpu.peak.bf16=1979TFLOPS", "a peak with sparsity is twice the dense one"),
        (
            "cluster.host={base: hgx-a100, gpu: {base: a100-sxm-80gb, peak: {bf16: 624TFLOPS}}}",
            "twice the 312TFLOPS of",
        ),
        ("cluster.host.gpu.peak.bf16=7916TFLOPS", "both are one GPU's, the bandwidth in bytes"),
        ("cluster.host.gpu.memory_bandwidth=3.35Tbps", "both are one GPU's, the bandwidth in bytes"),
        ("cluster.host.gpu.memory_bandwidth=26.8TB/s", "26.8TB/s is for one GPU, in bytes; if it is a host's, divide"),
        ("cluster.host.gpu.memory=640GiB", "640GiB is for one GPU; if a host's, divide by its GPUs"),
        ("cluster.host.gpu.scale_up=900GB/s", "data sheets add both, which would be 450GB/s here"),
        ("cluster.host.scale_up.bandwidth=3600GB/s", "all 8 GPUs write 450GB/s, if both directions 1800GB/s"),
        ("cluster.host.nic_latency=2ms", "a network for training takes microseconds"),
        ("cluster.host.memory=2GB", "2GB is the whole host's, less than the memory of one of its GPUs"),
        ("prices.electricity=$80/kWh", "if it is for a MWh write $0.08/kWh"),
        ("prices.carbon=413kg/kWh", "if grams were meant write 0.413kg/kWh"),
        ("cluster.host.gpu.peak.fp8=3958TFLOPS", "more than twice the bf16 peak"),
        ("cluster.host.gpu.power=10200W", "10200W is for one GPU; a host's goes to cluster.host.power"),
        ("cluster.host.nic_bandwidth=400GB/s", "if it counts all 8 NICs write 400Gbps, if bits were meant 400Gbps"),
        ("cluster.host.power=700W", "700W is the whole host's, less than its 8 GPUs of 700W need"),
        ("prices.gpu_hour=$20", "$20.00 is for one GPU; if it is a host's, write $2.50"),
        ("training.global_batch=4Mi", "if tokens were meant write 512"),
        ("training.optimizer=muon", "no measured step with muon"),
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
        "failures": "opt-175b",
    }
    assert any("a save costs nothing" in text for text in from_dict(measured).warnings)
    assert not from_dict(measured | {"checkpoint": {"stall": "5s"}}).warnings


@pytest.mark.parametrize("name", catalog.names("host"))
def test_nothing_in_the_catalog_gets_one(minimal, name):
    minimal["cluster"] = {"host": name, "hosts": 4}
    minimal["training"] |= {"precision": "fp16" if "v100" in name or name == "dgx-2" else "bf16", "global_batch": 4608}
    assert [text for text in from_dict(minimal).warnings if text.startswith(("cluster.host", "prices"))] == []


def test_an_ordinary_scenario_gets_none(minimal):
    assert from_dict(minimal | {"failures": "opt-175b"}).warnings == ()


def test_causes_of_a_job_of_thousands_are_doubted_on_one_host(minimal):
    """63 of 419 are the job's on 16,384 GPUs; on 8 the other 356 become 356 / 2048 = 0.17, and 63 / 63.17 are 99.7%."""
    minimal |= {"cluster": {"host": "hgx-h100", "hosts": 1}, "failures": "llama3"}
    (warning,) = from_dict(minimal).warnings
    assert warning.startswith("failures: 99.7% of interruptions are causes of the job as a whole, which preset llama3")
    assert "counts on 16,384 GPUs; with 8 GPUs they and planned stops strike as often" in warning


@pytest.mark.parametrize(("hosts", "preset"), [(1, "opt-175b"), (128, "llama3")])
def test_causes_that_shrink_with_the_cluster_are_not_doubted(minimal, hosts, preset):
    minimal["training"]["global_batch"] = 1024
    assert not from_dict(minimal | {"cluster": {"host": "hgx-h100", "hosts": hosts}, "failures": preset}).warnings
