"""Rates of failures from logs: lives that still run count with the time they were watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.calibration.failures import Watched, parse, preset
from simulator.errors import ScenarioError
from simulator.random import stream
from simulator.reliability.failures.weibull import Weibull
from simulator.scenario import read

FLEET = Watched(gpus=1024, hosts=128, nics=1024, wall=30 * 86400.0)


def lives(mean: float, watched: float, count: int, shape: float = 1.0) -> str:
    drawn = Weibull(unit="gpu", mtbf=mean, shape=shape).lives(stream(1, "log"), count)
    rows = (f"GPU,gpu,{min(life, watched)},{int(life <= watched)}" for life in drawn)
    return "cause,unit,lifetime,ended\n" + "\n".join(rows)


def test_the_rate_of_events_is_their_count_over_the_exposure():
    log = "time,cause,unit\n" + "".join(
        f"{h},{cause},{unit}\n" for h, cause, unit in [(1, "HBM", "gpu"), (9, "HBM", "gpu"), (5, "bug", "job")]
    )
    hbm, bug = parse(log, "log.csv", FLEET)
    assert (hbm.name, hbm.count) == ("HBM", 2)
    assert hbm.rate.value == pytest.approx(2 / (1024 * 30 * 86400))
    assert bug.rate.value == pytest.approx(1 / (30 * 86400))
    assert hbm.rate.low < hbm.rate.value < hbm.rate.high


def test_a_rate_is_found_again_with_half_of_the_lives_still_running():
    (found,) = parse(lives(2000.0, 1000.0, 20_000), "log.csv", FLEET)
    assert 1 / found.rate.value == pytest.approx(2000 * 3600, rel=0.03)
    assert found.rate.low <= 1 / (2000 * 3600) <= found.rate.high
    assert found.shape == pytest.approx(1.0, abs=0.05)


def test_infant_mortality_shows_in_the_shape():
    (found,) = parse(lives(2000.0, 1000.0, 5000, shape=0.6), "log.csv", FLEET)
    assert found.shape == pytest.approx(0.6, abs=0.05)


def test_the_preset_gives_the_rate_back_in_a_scenario(tmp_path: Path):
    classes = parse(lives(2000.0, 1000.0, 5000), "log.csv", FLEET)
    folder = tmp_path / "failures"
    folder.mkdir()
    (folder / "ours.yaml").write_text(preset(classes, FLEET, "log.csv"))
    text = (
        "version: 1\ncluster: {host: hgx-h100, hosts: 4}\n"
        "training: {steps: 10, step_time: 9s}\nfailures: ours\nrecovery: {repair: 1h}\n"
    )
    found = read(text, catalogs=[tmp_path])
    (cause,) = found.failures.causes
    assert 1 / cause.mtbf == pytest.approx(classes[0].rate.value, rel=1e-4)


@pytest.mark.parametrize(
    ("log", "watched", "message"),
    [
        ("a,b\n1,2", FLEET, "has columns cause and time"),
        ("cause,time\n", FLEET, "no rows"),
        ("cause,time\nx,1", Watched(gpus=8, hosts=1, nics=8), "give --wall"),
        ("cause,unit,time\nx,rocket,1", FLEET, "log.csv:2: unit: expected one of gpu"),
        ("cause,lifetime,ended\nx,soon,1", FLEET, "log.csv:2: lifetime"),
        ("cause,lifetime,ended\nx,5,maybe", FLEET, "expected 1 .it failed. or 0"),
        ("cause,time\n,5", FLEET, "cause: empty"),
    ],
)
def test_a_wrong_log_says_where_it_is_wrong(log, watched, message):
    with pytest.raises(ScenarioError, match=message):
        parse(log, "log.csv", watched)
