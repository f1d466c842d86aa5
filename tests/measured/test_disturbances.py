"""What disturbs a log is found where it was put, and nowhere else."""

import random

import pytest

from simulator.measured import logs
from simulator.measured.causes import causes
from simulator.measured.disturbances import disturbances
from simulator.measured.series import Series, Step, series
from tests.measured.made import WARM_UP, megatron, times


def found(seconds, **more):
    return disturbances(series(logs.read(megatron(seconds, **more), "train.log")))


def first_cause(told, seconds):
    steps = series(logs.read(megatron(seconds), "train.log"))
    return causes(told, steps, told.level_s * 0.98, told.level_s * 1.02)[0].cause


def test_a_quiet_log_has_a_level_and_nothing_else():
    told = found(times(1, 300, 4.0))
    assert told.level_s == pytest.approx(4.0, rel=0.002)
    assert (told.changes, told.periodic, told.outliers, told.restarts, told.clock_gaps) == ((), (), (), (), ())
    assert told.warm_up == WARM_UP
    assert told.lost_s == 0


def test_a_change_is_found_at_its_step_and_loses_its_share():
    told = found(times(2, 400, 4.0, step_change=1.2, at=250))
    (change,) = told.changes
    assert change.step == pytest.approx(251, abs=1)
    assert (change.before_s, change.after_s) == pytest.approx((4.0, 4.8), rel=0.003)
    assert told.lost_s == pytest.approx(0.8 * 150, rel=0.02)


def test_a_stretch_in_the_middle_has_two_changes():
    seconds = times(3, 600, 2.0)
    told = found([one * 1.06 if 300 <= i < 360 else one for i, one in enumerate(seconds)])
    assert [change.step for change in told.changes] == [pytest.approx(301, abs=2), pytest.approx(361, abs=2)]
    assert told.level_s == pytest.approx(2.0, rel=0.003)


def test_a_longer_step_in_so_many_is_periodic():
    told = found(times(4, 600, 3.0, every=35, extra=12.0))
    (one,) = told.periodic
    assert (one.every, one.times) == (35, 600 // 35)
    assert one.extra_s == pytest.approx(12.0, rel=0.01)
    assert told.lost_s == pytest.approx(12.0 * (600 // 35), rel=0.01)


def test_two_periods_are_told_apart():
    seconds = times(5, 3000, 1.0)
    told = found([one + (i % 189 == 188) * 2.0 + (i % 250 == 249) * 5.0 for i, one in enumerate(seconds)])
    assert {one.every for one in told.periodic} == {189, 250}


def test_a_drift_is_a_slope_and_no_change_of_level():
    told = found(times(6, 800, 2.0, noise=0.02, drift=0.06))
    assert told.changes == ()
    assert told.slope_per_1000 == pytest.approx(2.0 * 0.06 / 800 * 1000, rel=0.3)


def test_a_restart_is_no_longer_step_but_a_start():
    seconds = times(7, 300, 2.0)
    seconds[150] = seconds[0]
    told = found(seconds)
    assert [step for step, _ in told.restarts] == [151]
    assert told.outliers == ()
    again = megatron(seconds[:150]) + megatron(times(8, 150, 2.0), first=140)
    assert [step for step, _ in disturbances(series(logs.read(again, "train.log"))).restarts] == [140, 141]


def test_the_mean_of_ten_steps_shows_one_that_was_longer():
    lines = megatron([2.0 + 0.0001 * i for i in range(12)]).splitlines(keepends=True)
    tens = [line.replace(f"iteration {i:8d}/", f"iteration {10 * i:8d}/") for i, line in enumerate(lines, 1)]
    tens[5] = tens[5].replace("(ms): 2000.5", "(ms): 2080.0")
    told = disturbances(series(logs.read("".join(tens), "train.log")))
    assert [step for step, _ in told.outliers] == [60]
    assert told.lost_s == pytest.approx(0.8, rel=0.05)


def test_a_clock_that_goes_on_between_steps_is_a_pause():
    text = megatron([2.0] * 20) + megatron([2.0] * 20, first=21).replace("00:00", "00:07")
    told = disturbances(series(logs.read(text, "train.log")))
    assert [step for step, _ in told.clock_gaps] == [21]


@pytest.mark.parametrize("fault", ["none", "step_change", "periodic"])
def test_of_many_random_logs_the_first_cause_is_right(fault):
    luck, right = random.Random(11), 0
    for seed in range(60):
        steps, level, noise = luck.randint(150, 900), 10 ** luck.uniform(-0.5, 1.5), luck.uniform(0.002, 0.02)
        more = {
            "none": {},
            "step_change": {"step_change": luck.uniform(1.06, 1.6), "at": luck.uniform(0.2, 0.8) * steps},
            "periodic": {"every": luck.randint(12, 40), "extra": level * luck.uniform(0.5, 5.0)},
        }[fault]
        seconds = times(seed, steps, level, noise, **more)
        right += first_cause(found(seconds), seconds) == fault
    assert right >= {"none": 59, "step_change": 58, "periodic": 58}[fault]


def test_a_restart_at_a_slower_level_is_no_longer_warm_up():
    """The steps after it are as long as those before it; only its first one is longer."""
    times = [5.0] * 300 + [7.0] * 100 + [60.0] + [7.0] * 100
    steps = tuple(Step(i + 1 if i < 400 else i - 20, time, None, 1) for i, time in enumerate(times))
    found = disturbances(Series(steps, (400,), (), (), 0.0))
    assert [one.step for one in found.changes] == [301]
    assert len(found.restarts) == 1
    assert found.steps == 500


def test_a_run_that_becomes_faster_has_no_long_warm_up():
    times = [30.0] + [9.0] * 100 + [6.0] * 300
    found = disturbances(Series(tuple(Step(i, time, None, 1) for i, time in enumerate(times, 1)), (), (), (), 0.0))
    assert found.warm_up == 1
    assert [one.step for one in found.changes] == [102]
