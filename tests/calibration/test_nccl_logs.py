"""What is learned from a log of nccl-tests."""

from dataclasses import replace

import pytest

from simulator.calibration.nccl_tests import fit, parse
from simulator.errors import ScenarioError
from simulator.machine import collectives
from simulator.machine.hardware import host
from simulator.machine.network import Network, NetworkCalibration
from topologies.fat_tree import FatTree

H100 = host("dgx-h100")
HEAD = "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592\n"


def log(ranks, hosts, times):
    places = "".join(
        f"#  Rank {r:2d} Group  0 Pid {r + 100} on host{r * hosts // ranks} device {r % 8} [0x1b] NVIDIA H100\n"
        for r in range(ranks)
    )
    rows = "".join(f"{s} {s // 4} float sum -1 {t * 1e6} 1.0 1.0 0 {t * 1e6} 1.0 1.0 0\n" for s, t in times)
    return HEAD + places + rows + "# Avg bus bandwidth    : 123.4\n"


def made(ranks, hosts, **factors):
    network = Network(H100, hosts, FatTree(), calibration=NetworkCalibration(**factors))
    channel = network.channel(ranks, 1)
    return log(ranks, hosts, [(1 << p, collectives.time("all_reduce", float(1 << p), channel)) for p in range(3, 34)])


def test_ranks_hosts_and_benchmark_are_read_from_the_head():
    found = parse(log(16, 2, [(1024, 50e-6)]))
    assert (found.operation, found.ranks, found.hosts) == ("all_reduce", 16, 2)
    assert found.times == ((1024.0, pytest.approx(50e-6)),)


@pytest.mark.parametrize("text", ["", "hello\n1 2 3", HEAD, log(8, 1, [])])
def test_what_is_no_log_is_refused(text):
    with pytest.raises(ScenarioError, match="not a log of nccl-tests"):
        parse(text)


def test_a_log_without_a_name_needs_the_operation():
    nameless = log(8, 1, [(1024, 50e-6)]).replace(HEAD, "")
    with pytest.raises(ScenarioError, match="does not name"):
        parse(nameless)
    assert parse(nameless, "all_gather.log").operation == "all_gather"
    assert parse(nameless, "2 hosts All-to-All").operation == "all_to_all"


def test_predictions_themselves_teach_nothing():
    found = fit([parse(made(8, 1)), parse(made(32, 4))], H100)
    assert (found.calibration.latency, found.calibration.scale_up, found.calibration.scale_out) == pytest.approx(
        (1, 1, 1), rel=1e-6
    )
    assert found.before == pytest.approx(0, abs=1e-6)


def test_known_factors_are_found_again():
    found = fit([parse(made(8, 1, latency=1.8, scale_up=0.9)), parse(made(32, 4, latency=1.8, scale_out=0.7))], H100)
    assert found.calibration.latency == pytest.approx(1.8, rel=0.02)
    assert found.calibration.scale_up == pytest.approx(0.9, rel=0.02)
    assert found.calibration.scale_out == pytest.approx(0.7, rel=0.02)
    assert found.after < 0.02 < found.before


def test_one_slow_row_does_not_move_the_factors():
    text = made(8, 1).splitlines()
    slow = next(i for i, line in enumerate(text) if line.startswith("32 "))
    text[slow] = log(8, 1, [(32, 68e-6)]).splitlines()[-2]
    assert fit([parse("\n".join(text))], H100).calibration.latency == pytest.approx(1, rel=1e-3)


def test_more_ranks_than_the_host_has_gpus_are_refused():
    with pytest.raises(ScenarioError, match="do not fit"):
        fit([parse(log(16, 1, [(1024, 50e-6)]))], replace(H100, gpus=8))


def test_one_rank_shows_no_network():
    with pytest.raises(ScenarioError, match="a log of one rank shows no network"):
        parse(log(1, 1, [(1024, 50e-6)]))
