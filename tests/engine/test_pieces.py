"""Operations and exchanges on the streams of one stage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.step.contention import Taken
from simulator.engine.step.local_clock import LocalClock, alone
from simulator.engine.step.pieces import HOST, Item, Piece

COMPUTE = "compute"


def play(*items: Item):
    return alone(Piece(items))


def test_an_exchange_that_nothing_waits_for_is_hidden():
    assert play(Item("tensor", 1.0), Item(COMPUTE, 3.0)).seconds == 3.0


def test_what_compute_waits_for_is_exposed_and_named():
    played = play(Item("tensor", 1.0), Item(COMPUTE, 3.0, (0,)))
    assert played.seconds == 4.0
    assert played.parts == {"tensor": 1.0, "compute": 3.0}


def test_an_exchange_starts_after_the_compute_whose_output_it_sends():
    assert play(Item(COMPUTE, 2.0), Item("tensor", 1.0), Item(COMPUTE, 1.0, (1,))).seconds == 4.0


def test_exchanges_of_one_axis_run_one_after_the_other_and_of_two_axes_side_by_side():
    assert play(Item("tensor", 1.0), Item("tensor", 1.0)).seconds == 2.0
    assert play(Item("tensor", 1.0), Item("expert", 1.0)).seconds == 1.0


def test_compute_beside_an_exchange_has_what_that_leaves():
    # Four seconds beside at 3/4 of the speed do three; the fifth runs alone.
    assert play(Item("tensor", 4.0, takes=Taken(0.25)), Item(COMPUTE, 4.0)).seconds == pytest.approx(5.0)
    # An exchange that outlives compute slows all of it; what it adds is on the exchange's account.
    parts = play(Item("tensor", 9.0, takes=Taken(0.25)), Item(COMPUTE, 3.0)).parts
    assert parts == pytest.approx({"compute": 3.0, "tensor": 6.0})


def test_two_exchanges_take_what_both_take():
    both = (
        Item("tensor", 9.0, takes=Taken(0.25)),
        Item("expert", 9.0, takes=Taken(0.25)),
        Item(COMPUTE, 3.0),
        Item(COMPUTE, 1.5),
    )
    assert play(*both).seconds == 9.0
    assert play(*both, Item(COMPUTE, 1.0)).seconds == pytest.approx(10.0)


def test_a_piece_takes_the_longer_of_its_compute_and_the_calls_of_the_host():
    assert play(Item(HOST, 5.0), Item(COMPUTE, 3.0)).parts == {"compute": 3.0, "other": 2.0}
    assert play(Item(HOST, 2.0), Item(COMPUTE, 3.0)).parts == {"compute": 3.0}


def test_nothing_takes_no_time():
    assert play().seconds == 0.0


ITEMS = st.lists(
    st.tuples(st.sampled_from([COMPUTE, "tensor", "expert"]), st.floats(0.0, 3.0), st.booleans(), st.floats(0.0, 1.0)),
    max_size=9,
)


def items(drawn) -> tuple[Item, ...]:
    """Each compute waits for the exchange issued last, if it is drawn to wait."""
    found: list[Item] = []
    for stream, seconds, waits, memory in drawn:
        exchanges = [place for place, item in enumerate(found) if item.stream != COMPUTE]
        after = tuple(exchanges[-1:]) if waits and stream == COMPUTE else ()
        found.append(Item(stream, seconds, after, takes=Taken(0.1, 0.3), memory=memory))
    return tuple(found)


@given(ITEMS)
def test_parts_sum_to_the_duration(drawn):
    played = play(*items(drawn))
    assert sum(played.parts.values()) == pytest.approx(played.seconds, abs=1e-9)


@given(ITEMS, st.sampled_from([frozenset({"tensor"}), frozenset({"expert"}), frozenset({"tensor", "expert"})]))
def test_a_piece_takes_as_long_when_it_is_cut_or_its_computes_are_merged(drawn, shared):
    piece = Piece(items(drawn))
    for commands in (piece.cut(shared), piece.commands(merged=True)):
        clock = LocalClock()
        clock.play(commands)
        assert clock.now == pytest.approx(alone(piece).seconds, rel=1e-9, abs=1e-12)
