"""Presets say what their sources counted."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.outcome.campaign import run_input
from simulator.reliability.fleet import Failures
from simulator.reliability.preset import Counted, Preset
from simulator.scenario import from_dict

HOUR, DAY = 3600.0, 86400.0


def failures(gpus: int = 16384, host: object = "hgx-h100", **keys: object) -> Failures:
    size = int(host["gpus"]) if isinstance(host, dict) else 8
    return from_dict(
        {
            "version": "1",
            "name": "preset",
            "cluster": {"host": host, "hosts": str(gpus // size)},
            "training": {"steps": "10", "step_time": "1s"},
            "failures": keys,
        }
    ).failures


def units(gpus: int) -> dict[str, int]:
    return {"gpu": gpus, "nic": gpus, "host": gpus // 8, "job": 1}


@pytest.mark.parametrize("name", catalog.names("failures"))
def test_every_preset_reads_and_has_a_rate(name: str):
    """Of interruptions, or of episodes that slow the job down."""
    found = failures(preset=name)
    assert found.rate(units(16384)) > 0 or all(cause.is_episode for cause in found.causes)
    assert all(cause.rate(units(16384)[cause.unit]) > 0 for cause in found.causes)


def test_llama_3_has_419_failures_in_54_days_of_wall_clock():
    rate = failures(preset="llama3", exposure="wall").rate(units(16384))
    assert rate * 54 * DAY == pytest.approx(419)
    assert 1 / rate == pytest.approx(3.093 * HOUR, rel=1e-3)


def test_uptime_is_the_smaller_denominator():
    wall, uptime = (failures(preset="llama3", exposure=clock).rate(units(16384)) for clock in ("wall", "uptime"))
    assert uptime == pytest.approx(wall / 0.945)


def test_the_counts_of_a_source_that_was_up_half_as_long_are_twice_as_dense():
    rates = [failures(preset="llama3", uptime=up).rate(units(16384)) for up in ("80%", "40%")]
    assert rates[1] == pytest.approx(2 * rates[0])


def test_software_does_not_grow_with_the_job():
    twice = failures(32768, preset="llama3", exposure="wall").rate(units(32768))
    assert twice * 54 * DAY == pytest.approx(2 * 356 + 63)
    assert 1 / twice == pytest.approx(
        1.672 * HOUR, rel=1e-3
    )  # 2.55 h were seen in 2025: pessimistic for a mature fleet


def test_the_2025_fleet_scaled_linearly_is_optimistic_at_98_304():
    rate = failures(98304, preset="fthsdp_2025").rate(units(98304))
    counts = 3 * (678 - 116) + 116  # 116 software failures belong to the job
    assert 1 / rate == pytest.approx(1727.3 * HOUR / counts)
    assert 1 / rate > 2.8 * 0.30 * HOUR  # seen: 18 minutes


@pytest.mark.parametrize(("name", "per_thousand"), [("rsc1", 6.50), ("rsc2", 2.34), ("rsc_all_causes", 22.3)])
def test_rates_per_thousand_node_days_are_the_published_ones(name: str, per_thousand: float):
    assert failures(preset=name).rate(units(8000)) * DAY == pytest.approx(per_thousand, rel=1e-5)


@pytest.mark.parametrize("name", ["rsc_all_causes", "opt_175b"])
def test_a_cause_that_is_all_of_a_host_follows_its_gpus(name: str):
    """A host of four GPUs fails half as often as the hosts of eight that were counted."""
    of_eight, trays = ({"gpu": 576, "host": 576 // gpus, "nic": 576, "job": 1} for gpus in (8, 4))
    assert failures(preset=name).rate(trays) == failures(preset=name).rate(of_eight)


@pytest.mark.parametrize("name", catalog.names("failures"))
@given(per_host=st.sampled_from([1, 2, 4, 8, 16]), hosts=st.integers(1, 200))
def test_the_rate_of_a_preset_per_gpu_does_not_depend_on_the_gpus_of_a_host(name: str, per_host: int, hosts: int):
    """A tray of four GPUs has half of what fails in a server of eight; each GPU has its NIC."""
    gpus = 16 * hosts
    host = {"base": "hgx-h100", "gpus": str(per_host), "nics": str(per_host)}
    for size, counted in ((per_host, failures(gpus, host, preset=name)), (8, failures(gpus, preset=name))):
        causes = [cause for cause in counted.causes if cause.unit != "job"]
        rates = [cause.rate({"host": gpus // size}.get(cause.unit, gpus)) for cause in causes]
        if size == per_host:
            here = rates
    assert here == pytest.approx(rates)


def test_a_host_of_the_counted_size_fails_as_often_as_was_counted():
    """Llama 3's 32 stops of hosts for maintenance in 54 days of 2,048 hosts."""
    causes = {cause.name: cause for cause in failures(preset="llama3", exposure="wall").causes}
    assert causes["host maintenance"].rate(2048) * 54 * DAY == pytest.approx(32)


def test_byterobust_counted_249_interruptions_and_51_restarts_in_four_months():
    found = failures(9600, preset="byterobust_2025", exposure="wall")
    assert found.rate(units(9600)) * 2922 * HOUR == pytest.approx(199 + 24 + 26)
    assert found.planned is not None
    assert 2922 * HOUR / found.planned.every == pytest.approx(51)  # type: ignore[union-attr]


def test_greyhounds_episodes_slow_the_jobs_it_counted_by_a_fifth():
    """16 of 27 jobs took 34.59% longer; overlapping episodes are as slow as one (M/G/infinity)."""
    (cause,) = failures(768, preset="greyhound_2025").causes
    assert cause.lasts is not None
    slow = 1 - math.exp(-cause.rate(96) * cause.lasts.expected())
    assert 1 / (1 - slow * (1 - 1 / cause.slow)) == pytest.approx(1 + 16 / 27 * 0.3459, rel=1e-3)


@pytest.mark.parametrize(("host", "hosts", "rack"), [("gb200-nvl72", 72, 18), ("hgx-h100", 64, 4), ("hgx-h100", 2, 2)])
def test_trays_that_one_nvlink_switch_joins_are_a_rack(host: str, hosts: int, rack: int):
    plain = {"version": "1", "name": "rack", "cluster": {"host": host, "hosts": str(hosts)}}
    plain |= {"training": {"steps": "10", "step_time": "1s"}}
    assert run_input(from_dict(plain), 10.0, 1.0).hosts_of["rack"] == rack


def test_planned_stops_scale_with_neither_size_nor_rate():
    stops = failures(preset="llama3", exposure="wall", scale="3").planned
    assert stops is not None
    assert 54 * DAY / stops.every == pytest.approx(47)  # type: ignore[union-attr]


def test_failures_counted_on_no_units_are_refused():
    counted = Counted(name="GPU", unit="gpu", units=0, count=3)
    with pytest.raises(ScenarioError, match="GPU: counted in no time or on no units"):
        Preset(source="x", gpus=8, hosts=1, wall=3600.0, counted=(counted,)).causes("wall")
