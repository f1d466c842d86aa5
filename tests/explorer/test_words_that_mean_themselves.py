"""A name with Markdown or HTML in it shows as text."""

from hypothesis import given
from hypothesis import strategies as st

from simulator.explorer.style import figures, title
from simulator.explorer.wording import literal


def test_html_in_a_title_is_escaped():
    assert title("<img src=x onerror=alert(1)>").count("<") == 2


def test_html_in_a_figure_is_escaped():
    assert "<script" not in figures([("<script>", "<script>", "<script>")])


def test_a_picture_in_a_name_is_no_picture():
    assert "![" not in literal("![x](http://a.b/c.png)")
    assert "](" not in literal("![x](http://a.b/c.png)")


@given(st.text(alphabet="ab*_`[]()<>!$\\#:", max_size=40))
def test_every_sign_that_markdown_reads_is_preceded_by_a_backslash(words):
    shown = literal(words)
    assert shown.replace("\\\\", "").count("\\") + shown.count("\\\\") == sum(sign not in "ab" for sign in words)
