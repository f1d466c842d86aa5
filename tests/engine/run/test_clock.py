"""A clock stands still while the job does not do what it measures, and its alarms wait with it."""

from __future__ import annotations

import pytest
import simpy

from simulator.engine.run.clock import Clock


def rings(clock: Clock, environment: simpy.Environment, *times: float) -> list[float]:
    """Return, when the simulation has been played, the moments at which alarms for these times rang."""
    rung: list[float] = []

    def wait(time: float):
        yield clock.alarm(time)
        rung.append(environment.now)

    for time in times:
        environment.process(wait(time))
    return rung


def at(environment: simpy.Environment, time: float, act):
    environment.timeout(time).callbacks.append(lambda _: act())


def test_an_alarm_rings_when_the_clock_shows_its_time():
    environment = simpy.Environment()
    clock = Clock(environment)
    rung = rings(clock, environment, 30.0, 10.0)
    at(environment, 0.0, clock.start)
    at(environment, 15.0, clock.stop)
    at(environment, 100.0, clock.start)
    environment.run()
    assert rung == [10.0, 115.0]
    assert clock.time == 30.0


def test_an_alarm_that_is_past_rings_when_the_clock_next_runs():
    environment = simpy.Environment()
    clock = Clock(environment)
    rung = rings(clock, environment, 0.0)
    at(environment, 7.0, clock.start)
    environment.run()
    assert rung == [7.0]


def test_a_clock_at_half_the_pace_needs_twice_as_long():
    environment = simpy.Environment()
    clock = Clock(environment)
    rung = rings(clock, environment, 30.0)
    clock.start()
    at(environment, 10.0, lambda: clock.run_at(0.5))
    environment.run()
    assert rung == [10.0 + 20.0 / 0.5]


def test_a_clock_without_pace_never_rings_until_it_has_one():
    environment = simpy.Environment()
    clock = Clock(environment, pace=0.0)
    rung = rings(clock, environment, 0.0)
    clock.start()
    at(environment, 5.0, lambda: clock.run_at(1.0))
    environment.run()
    assert rung == [5.0]


def test_a_clock_that_is_set_back_rings_later():
    environment = simpy.Environment()
    clock = Clock(environment)
    rung = rings(clock, environment, 10.0)
    clock.start()
    at(environment, 9.0, lambda: clock.set_to(0.0))
    environment.run()
    assert rung == [19.0]


def test_whoever_an_alarm_wakes_may_stop_the_clock_before_the_next_one_rings():
    environment = simpy.Environment()
    clock = Clock(environment)
    woken: list[float] = []

    def wait():
        yield clock.alarm(10.0)
        woken.append(environment.now)
        clock.stop()
        yield environment.timeout(5.0)
        clock.start()

    for _ in range(2):
        environment.process(wait())
    clock.start()
    environment.run()
    assert woken == pytest.approx([10.0, 15.0])
