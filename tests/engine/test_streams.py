"""Compute and exchanges on streams."""

import pytest

from simulator.engine.streams import Item, play


def test_an_exchange_that_nothing_waits_for_is_hidden():
    assert play([Item("tensor", 1.0), Item("compute", 3.0)]).seconds == 3.0


def test_what_compute_waits_for_is_exposed_and_named():
    played = play([Item("tensor", 1.0), Item("compute", 3.0, (0,))])
    assert played.seconds == 4.0
    assert played.parts == {"tensor": 1.0, "compute": 3.0}


def test_an_exchange_starts_after_the_compute_whose_output_it_sends():
    assert play([Item("compute", 2.0), Item("tensor", 1.0), Item("compute", 1.0, (1,))]).seconds == 4.0


def test_exchanges_of_one_axis_run_one_after_the_other_and_of_two_axes_side_by_side():
    assert play([Item("tensor", 1.0), Item("tensor", 1.0)]).seconds == 2.0
    assert play([Item("tensor", 1.0), Item("expert", 1.0)]).seconds == 1.0


def test_compute_beside_an_exchange_has_the_sms_that_are_left():
    # Four seconds beside at 3/4 of the speed do three; the fifth runs alone.
    assert play([Item("tensor", 4.0), Item("compute", 4.0)], 0.25).seconds == pytest.approx(5.0)
    # An exchange that outlives compute slows all of it.
    assert play([Item("tensor", 9.0), Item("compute", 3.0)], 0.25).parts["compute"] == pytest.approx(4.0)


def test_parts_sum_to_the_duration():
    items = [Item("tensor", 1.5), Item("compute", 1.0), Item("expert", 2.0), Item("compute", 0.5, (0, 2))]
    played = play(items, 0.1)
    assert sum(played.parts.values()) == pytest.approx(played.seconds, abs=1e-12)


def test_nothing_takes_no_time():
    assert play([]).seconds == 0.0


def test_an_exchange_may_take_more_than_the_usual_share():
    # Four seconds beside at half the speed do two; the other two run alone.
    assert play([Item("data", 4.0, taken=0.5), Item("compute", 4.0)], 0.25).seconds == pytest.approx(6.0)
    both = [Item("data", 4.0, taken=0.5), Item("compute", 2.0), Item("tensor", 4.0), Item("compute", 3.0)]
    assert play(both, 0.25).seconds == pytest.approx(8.0)
