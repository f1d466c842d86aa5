"""Tables of other people: rows by their columns, or the line that is none."""

import pytest

from simulator.convert import plain_csv


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(end):
    assert plain_csv.table(f"a,b{end}1,2{end}") == (["a", "b"], [{"a": "1", "b": "2"}])


def test_a_cell_that_never_ends_is_named():
    with pytest.raises(ValueError, match="line 2: not a CSV table: field larger than field limit"):
        plain_csv.table("a,b\n1,2\n" + "x" * 200_000)
