"""What a run costs when its failures are written down: every second by hand."""

from __future__ import annotations

from math import fsum, inf

import pytest
from small_runs import DAY, HOUR, at, host_failures, one, restart, run_of, saves

from simulator.engine.run import PARTS, simulate
from simulator.outcome import results
from simulator.reliability.checkpointing.never import Never
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.durations.lognormal import LognormalDuration
from simulator.reliability.failures.eviction import Eviction
from simulator.reliability.failures.scripted import Scripted
from simulator.reliability.fleet import BurnIn, Lemons, Planned, Stop
from simulator.reliability.stragglers.replace import Replace


def parts(run, **expected: float) -> None:
    """Check the parts that are named, and that all others are zero."""
    outcome = one(run)
    assert {name: value for name, value in outcome.parts.items() if value} == pytest.approx(expected)
    assert outcome.wall_clock == pytest.approx(sum(expected.values()))


def test_the_parts_are_those_of_the_result():
    assert PARTS == results.RUN_PARTS


def test_without_failures_and_saves_a_run_takes_its_work_exactly():
    outcome = one(run_of(1234567.8))
    assert outcome.wall_clock == 1234567.8
    assert outcome.goodput == 1.0


@pytest.mark.parametrize("saves_made", [1, 7, 7776])
def test_without_failures_the_goodput_is_tau_over_tau_plus_d_exactly(saves_made: int):
    outcome = one(run_of(600.0 * saves_made, checkpoint=saves(600.0, 10.0)))
    assert outcome.wall_clock == 610.0 * saves_made
    assert outcome.goodput == 600 / 610


def test_the_end_is_saved_too():
    parts(run_of(650.0, checkpoint=saves(600.0, 10.0)), train=650, checkpoint=20)


def test_a_failure_costs_detection_restart_and_the_work_since_the_last_save():
    run = run_of(2000.0, at(1500.0), checkpoint=saves(600.0, 10.0), recovery=restart(60.0, 480.0))
    # Two saves end at 1220, with 1200 done; 280 of work are lost and done again; the end saves at 1800 and 2000.
    parts(run, train=2000, lost=280, checkpoint=40, detect=60, restart=480)


def test_a_failure_during_a_save_loses_that_save():
    run = run_of(1200.0, at(605.0), checkpoint=saves(600.0, 10.0))
    parts(run, train=1200, lost=600, checkpoint=5 + 20)


def test_an_asynchronous_save_counts_only_once_it_is_persisted():
    policy = saves(600.0, 1.0, mode="async", persist=300.0)
    parts(run_of(1200.0, at(902.0), checkpoint=policy), train=1200, lost=902 - 601, checkpoint=1 + 1)
    parts(run_of(1200.0, at(900.0), checkpoint=policy), train=1200, lost=899, checkpoint=1 + 2)


def test_a_save_on_its_way_when_the_job_fails_is_not_there_later():
    policy = saves(600.0, 1.0, mode="async", persist=300.0)
    run = run_of(1200.0, at(700.0), checkpoint=policy, recovery=restart(3600.0, 0.0))
    parts(run, train=1200, lost=699, checkpoint=1 + 2, detect=3600)


def test_without_saves_a_failure_throws_everything_away():
    parts(run_of(1000.0, at(900.0), checkpoint=Never()), train=1000, lost=900)


def test_reading_a_save_is_added_to_the_restart():
    run = run_of(600.0, at(300.0), checkpoint=saves(600.0, 0.0, load=129.0), recovery=restart(0.0, 480.0))
    parts(run, train=600, lost=300, restart=609)


def test_failures_of_the_uptime_do_not_strike_a_recovery():
    run = run_of(1000.0, at(100.0, 110.0), checkpoint=saves(50.0, 0.0), recovery=restart(0.0, 300.0))
    parts(run, train=1000, lost=10, restart=600)


def test_failures_of_the_wall_clock_undo_a_restart():
    run = run_of(1000.0, at(100.0, 250.0), exposure="wall", checkpoint=saves(50.0, 0.0), recovery=restart(60.0, 300.0))
    # Noticed at 160, 90 s into the restart at 250, noticed again at 310, up at 610.
    parts(run, train=1000, detect=120, restart=90 + 300)


def test_the_job_itself_cannot_fail_until_it_restarts():
    failures = (*at(100.0), *at(120.0, unit="job"))
    run = run_of(1000.0, failures, exposure="wall", checkpoint=saves(50.0, 0.0), recovery=restart(60.0, 300.0))
    # Its clock stands at 100 from the failure to the restart at 160; it fails 20 s into that.
    parts(run, train=1000, detect=120, restart=20 + 300)


def test_a_host_that_fails_while_the_job_is_down_is_repaired_from_then_on():
    recovery = restart(600.0, 0.0, repair=Fixed(time=HOUR))
    run = run_of(1000.0, at(100.0, 200.0), exposure="wall", checkpoint=saves(100.0, 0.0), recovery=recovery, spares=1)
    parts(run, train=1000, detect=600, wait=HOUR - 600)


def test_a_failure_during_a_planned_stop_is_met_before_the_next_stop():
    stops = (Stop(at=100.0, time=300.0), Stop(at=150.0, time=300.0))
    run = run_of(
        1000.0, at(200.0), exposure="wall", planned=stops, recovery=restart(60.0, 100.0), checkpoint=saves(100.0, 0.0)
    )
    # Met at 400; its recovery of 160 does a part of the second stop, and the rest follows.
    parts(run, train=1000, detect=60, restart=100, planned=300 + 140)


def test_a_failure_undoes_the_restart_that_replaces_slow_hosts():
    slow = at(0.0, effect="slow", slow=2.0, lasts=Fixed(time=DAY))
    recovery = restart(60.0, 400.0, slow_hosts=Replace(patience=0.0))
    run = run_of(1000.0, (*slow, *at(100.0)), exposure="wall", recovery=recovery, checkpoint=saves(2000.0, 0.0))
    parts(run, train=1000, detect=60, restart=100 + 400)


def test_failures_before_a_failure_is_noticed_are_noticed_with_it():
    run = run_of(1000.0, at(100.0, 130.0), exposure="wall", checkpoint=saves(50.0, 0.0), recovery=restart(60.0, 300.0))
    parts(run, train=1000, detect=60, restart=300)
    assert one(run).unexpected == 2


def test_a_missed_failure_is_noticed_by_the_timeout():
    recovery = restart(60.0, 0.0, missed=1.0, timeout=Fixed(time=1800.0))
    parts(run_of(1000.0, at(500.0), checkpoint=saves(500.0, 0.0), recovery=recovery), train=1000, detect=1800)


def test_a_cause_may_be_noticed_in_its_own_way():
    run = run_of(1000.0, at(500.0, detect=Fixed(time=600.0)), checkpoint=saves(500.0, 0.0), recovery=restart(60.0))
    parts(run, train=1000, detect=600)


def test_a_failed_host_is_waited_for_where_there_is_no_spare():
    recovery = restart(60.0, 300.0, repair=Fixed(time=2 * HOUR))
    without = run_of(1000.0, at(500.0), checkpoint=saves(500.0, 0.0), recovery=recovery, spares=0)
    parts(without, train=1000, detect=60, wait=2 * HOUR - 60, restart=300)
    one_spare = run_of(1000.0, at(500.0), checkpoint=saves(500.0, 0.0), recovery=recovery, spares=1)
    parts(one_spare, train=1000, detect=60, restart=300)
    replaced = run_of(1000.0, at(500.0), checkpoint=saves(500.0, 0.0), recovery=recovery)
    parts(replaced, train=1000, detect=60, restart=300)


def test_software_takes_no_host_away():
    failures = at(500.0, unit="job")
    parts(
        run_of(1000.0, failures, checkpoint=saves(500.0, 0.0), recovery=restart(60.0), spares=0), train=1000, detect=60
    )


def test_one_technician_mends_one_host_after_the_other():
    recovery = restart(repair=Fixed(time=HOUR), technicians=1)
    run = run_of(1000.0, at(100.0, 200.0), checkpoint=saves(100.0, 0.0), recovery=recovery, spares=1)
    # The second host fails 100 s of uptime after the first and waits for its repair to end.
    parts(run, train=1000, wait=HOUR - 100.0)


def test_a_switch_takes_the_hosts_behind_it():
    run = run_of(
        1000.0,
        at(500.0, unit="switch"),
        checkpoint=saves(500.0, 0.0),
        recovery=restart(repair=Fixed(time=HOUR)),
        spares=15,
        hosts_of={"switch": 16},
    )
    parts(run, train=1000, wait=HOUR)
    assert one(run).hosts_out[16] == pytest.approx(HOUR)


def test_a_warm_spare_is_faster_than_a_cold_start():
    recovery = restart(0.0, 480.0, standby=Fixed(time=60.0), in_place=Fixed(time=105.0), repair=Fixed(time=DAY))
    base = {"checkpoint": saves(500.0, 0.0), "recovery": recovery, "spares": 1}
    parts(run_of(1000.0, at(500.0), **base), train=1000, restart=60)
    parts(run_of(1000.0, at(500.0, unit="job"), **base), train=1000, restart=105)


def test_restarts_that_do_not_come_up_are_tried_again():
    recovery = restart(0.0, 100.0, fails=0.5)
    run = run_of(400_000.0, (Scripted(unit="job", every=100.0),), checkpoint=saves(100.0, 0.0), recovery=recovery)
    assert one(run).parts["restart"] == pytest.approx(4000 * 200, rel=0.05)
    assert recovery.mean_restart(1024) == 200.0


def test_a_planned_stop_saves_first():
    run = run_of(1000.0, planned=(Stop(at=300.0, time=480.0),), checkpoint=saves(500.0, 10.0))
    parts(run, train=1000, checkpoint=10 + 10 + 10, planned=480)  # at 300, 800 and 1000
    assert one(run).planned == 1


def test_a_planned_stop_near_a_failure_is_done_with_it():
    stops = Planned(every=1e9, time=Fixed(time=480.0), merge=1e12)
    run = run_of(1000.0, at(500.0), planned=stops, checkpoint=saves(500.0, 0.0), recovery=restart(60.0, 540.0))
    outcome = one(run)
    assert outcome.planned >= 1
    assert outcome.parts["planned"] == 0.0


def test_evaluations_come_every_so_much_work_and_are_lost_with_it():
    run = run_of(1000.0, evaluate_every=250.0, evaluation=30.0)
    parts(run, train=1000, other=120)
    run = run_of(1000.0, at(700.0), evaluate_every=250.0, evaluation=30.0, checkpoint=saves(400.0, 0.0))
    # At 700 of uptime 640 are done; the evaluation at 500 is done again after going back to 400.
    parts(run, train=1000, lost=240, other=150)


def test_a_slow_host_stretches_the_work_while_it_lasts():
    slow = at(100.0, effect="slow", slow=1.25, lasts=Fixed(time=500.0))
    parts(run_of(1000.0, slow), train=1000, degraded=100)


def test_of_two_slow_hosts_the_slower_counts():
    slow = (
        *at(100.0, effect="slow", slow=1.25, lasts=Fixed(time=500.0)),
        *at(200.0, effect="slow", slow=2.0, lasts=Fixed(time=100.0)),
    )
    parts(run_of(1000.0, slow), train=1000, degraded=400 * 0.2 + 100 * 0.5)


def test_degraded_links_ask_the_network():
    asked = []

    def step_factor(faults: tuple[tuple[str, float], ...]) -> float:
        asked.append(faults)
        return 1.5

    degraded = at(100.0, unit="nic", effect="degrade", bandwidth=0.25, lasts=Fixed(time=300.0))
    parts(run_of(1000.0, degraded, step_factor=step_factor), train=1000, degraded=100)
    assert set(asked) == {(("nic", 0.25),)}


def test_silent_corruption_goes_back_to_a_save_from_before_it():
    corrupt = at(450.0, effect="corrupt", detect=Fixed(time=400.0))
    run = run_of(1000.0, corrupt, checkpoint=saves(100.0, 0.0), recovery=restart(60.0, 300.0))
    parts(run, train=1000, lost=850 - 400, restart=300)


def test_a_save_that_was_not_kept_cannot_be_gone_back_to():
    corrupt = at(450.0, effect="corrupt", detect=Fixed(time=400.0))
    parts(run_of(1000.0, corrupt, checkpoint=saves(100.0, 0.0, keep=4)), train=1000, lost=850)
    parts(run_of(1000.0, corrupt, checkpoint=saves(100.0, 0.0, keep=5)), train=1000, lost=450)


def test_a_host_that_damaged_the_state_is_replaced():
    corrupt = at(450.0, effect="corrupt", detect=Fixed(time=400.0))
    recovery = restart(60.0, 300.0, in_place=Fixed(time=100.0))
    parts(run_of(1000.0, corrupt, checkpoint=saves(100.0, 0.0), recovery=recovery), train=1000, lost=450, restart=300)


def test_the_save_that_is_gone_back_to_is_the_one_that_is_read():
    corrupt = at(450.0, effect="corrupt", detect=Fixed(time=400.0))
    kept = run_of(1000.0, corrupt, checkpoint=saves(100.0, 0.0, load=50.0, keep=5))
    parts(kept, train=1000, lost=450, restart=50)
    gone = run_of(1000.0, corrupt, checkpoint=saves(100.0, 0.0, load=50.0, keep=4))
    parts(gone, train=1000, lost=850)


def test_damage_during_a_save_is_in_the_save():
    corrupt = at(105.0, effect="corrupt", detect=Fixed(time=400.0))
    run = run_of(1000.0, (*corrupt, *at(150.0)), checkpoint=saves(100.0, 10.0))
    # The crash goes back to the save that was made when the state was damaged; it is found 355 s of uptime later.
    assert one(run).unexpected == 2


def test_a_crash_before_the_corruption_is_found_may_undo_it():
    failures = (*at(450.0, effect="corrupt", detect=Fixed(time=400.0)), *at(480.0))
    parts(run_of(1000.0, failures, checkpoint=saves(100.0, 0.0)), train=1000, lost=80)


def test_an_eviction_with_notice_loses_no_work():
    causes = (Eviction(mtbf=128 * 5000.0, notice=120.0),)
    run = run_of(20_000.0, causes, checkpoint=saves(1000.0, 30.0))
    outcome = one(run)
    assert outcome.unexpected > 0
    assert outcome.parts["lost"] == 0.0
    assert one(run_of(20_000.0, causes, checkpoint=saves(1000.0, 130.0))).parts["lost"] > 0


def test_a_run_may_be_cut_off_wherever_it_stands():
    run = run_of(inf, at(500.0), checkpoint=saves(100.0, 10.0), recovery=restart(60.0, 300.0), until=580.0)
    parts(run, train=400, lost=60, checkpoint=40, detect=60, restart=20)
    assert one(run_of(inf, checkpoint=saves(100.0, 10.0), until=255.0)).parts["train"] == pytest.approx(235.0)


def test_everything_at_once_tiles_the_wall_clock():
    causes = (
        *host_failures(30 * DAY),
        Scripted(unit="nic", every=4 * HOUR, effect="slow", slow=1.3, lasts=LognormalDuration(mean=HOUR)),
        Scripted(unit="gpu", every=9 * HOUR, effect="corrupt", detect=LognormalDuration(mean=HOUR)),
        Scripted(unit="switch", every=40 * HOUR),
        Eviction(mtbf=100 * DAY, notice=60.0),
    )
    for exposure in ("uptime", "wall"):
        run = run_of(
            20 * DAY,
            causes,
            exposure=exposure,
            planned=Planned(every=30 * HOUR, merge=600.0),
            lemons=Lemons(share=0.05, factor=20.0),
            burn_in=BurnIn(),
            repeat=0.12,
            evict_after=3,
            checkpoint=saves(600.0, 3.0, mode="async", persist=120.0, slowdown=0.02),
            recovery=restart(60.0, 480.0, repair=LognormalDuration(mean=DAY, cv=2.0), missed=0.05, fails=0.1),
            spares=6,
            hosts_of={"switch": 16},
            evaluate_every=3 * HOUR,
            evaluation=300.0,
        )
        for outcome in simulate(run, 3, 20):
            assert fsum(outcome.parts.values()) == pytest.approx(outcome.wall_clock, rel=1e-12)
            assert min(outcome.parts.values()) >= 0
            assert outcome.parts["train"] == 20 * DAY
            assert outcome.uptime <= outcome.wall_clock


def test_a_timeline_tiles_the_wall_clock_too():
    run = run_of(DAY, host_failures(5 * DAY), checkpoint=saves(600.0, 10.0), recovery=restart(60.0, 480.0))
    (outcome,) = simulate(run, 3, 1, record=True)
    ends = [episode.start + episode.duration for episode in outcome.timeline]
    assert [episode.start for episode in outcome.timeline[1:]] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(outcome.wall_clock)
    assert {episode.part for episode in outcome.timeline} == {"train", "detect", "restart", "checkpoint"}
