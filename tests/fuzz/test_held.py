"""Some attacks of every table; `held.py` tries all of them. And what watches them sees what it is there for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the /proc of Linux")
if sys.platform == "linux":
    from attack import SECONDS, Attack
    from held import attacks, names, pool, tried
    from process import Done, Start
    from small import scenario
    from watch import LISTS, MAKES, OPENS, STARTS, WRITES, beyond

FIRST, EVERY = 160, 164
"""Of each table, in its own order, the attack with the first number, counted around, and one in so many from there."""
BY_HAND = {"killed", "disks", "extremes"}
"""Tables whose attacks take long."""


@pytest.fixture(scope="module")
def workers():
    with pool(1) as workers:
        yield workers


def sample(table: str) -> range:
    return range(FIRST % min(EVERY, len(attacks(table))), len(attacks(table)), EVERY)


def test_some_attacks_of_every_table_hold(workers):
    asked = [(table, n) for table in names() if table not in BY_HAND for n in sample(table)]
    found = [workers.submit(tried, table, n) for table, n in asked]
    outcomes = [future.result() for future in found]
    assert [f"{one.what}: {one.complaint}" for one in outcomes if one.complaint] == []


def complained(one: Attack) -> str | None:
    return one.complaint()


OUTSIDE = {"mine.yaml": scenario() + "calibration: ../kept/stdin\n"} if sys.platform == "linux" else {}


@pytest.mark.parametrize(
    ("words", "files", "complaint"),
    [
        (["check", "mine.yaml"], OUTSIDE, "opens "),
        (["new", "elsewhere.yaml"], {}, "writes "),
        (["check", "-"], {}, None),
        (["check", "nowhere"], {}, None),
    ],
)
def test_a_command_that_touches_what_nobody_named_does_not_hold(workers, words, files, complaint):
    found = workers.submit(complained, Attack("", words, files)).result()
    assert found is None if complaint is None else found.startswith(complaint)


def test_a_command_that_waits_for_what_does_not_come_is_ended(workers):
    waiting = Attack("", ["check", "-"], start=Start(before="sleep 60 |"), wait=2)
    assert workers.submit(complained, waiting).result() == "does not end in 2 s"


@pytest.mark.parametrize(
    ("done", "complaint"),
    [
        (Done(2, "", "what to change\n", 1.0, 10**8, ()), None),
        (Done(2, "", "", 1.0, 10**8, ()), "exit code 2 without a message"),
        (Done(1, "", "Traceback (most recent call last):\nKeyError: 1", 1.0, 10**8, ()), "traceback: 'KeyError: 1'"),
        (Done(-9, "", "", 1.0, 10**8, ()), "exit code -9, not 0 or 1 or 2"),
        (Done(None, "", "", 1.0, 10**8, ()), "does not end in 120 s"),
        (Done(0, "", "", SECONDS + 1, 10**8, ()), "took 11.0 s"),
        (Done(0, "", "", 1.0, 2 * 10**9, ()), "took 2,000 MB"),
        (Done(0, "a\x1b[31mb", "", 1.0, 10**8, ()), "prints '\\x1b': 'a\\x1b[31mb'"),
    ],
)
def test_what_breaks_a_promise_does_not_hold(done, complaint, tmp_path):
    assert Attack("", ["check"]).judged(done, tmp_path) == complaint


def test_what_is_named_and_what_python_needs_may_be_opened(tmp_path):
    mine = str(tmp_path / "mine.yaml")
    allowed = [(OPENS, mine), (LISTS, str(tmp_path)), (OPENS, pytest.__file__), (WRITES, str(tmp_path / "out/x"))]
    allowed += [(MAKES, str(tmp_path)), (WRITES, str(tmp_path / ".out.123.part"))]
    assert beyond(allowed, [mine], [str(tmp_path / "out")]) == []


def test_all_else_may_not(tmp_path):
    mine, out = str(tmp_path / "mine.yaml"), str(tmp_path / "out")
    outside = [(OPENS, "/etc/passwd"), (LISTS, "/etc"), (WRITES, mine), (WRITES, f"{out}er"), (MAKES, f"{mine}.d")]
    outside += [(WRITES, str(tmp_path)), (STARTS, "os.system")]
    found = beyond(outside, [mine], [out])
    assert found == [f"{what} {path}" for what, path in outside]
