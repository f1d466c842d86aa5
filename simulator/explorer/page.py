"""The page, run from top to bottom by Streamlit whenever something on it changes."""

from __future__ import annotations

import streamlit as st

from simulator.errors import ForetrainError
from simulator.explorer import sidebar, state, style, views
from simulator.explorer.headline import Headline
from simulator.explorer.wording import literal
from simulator.studies.point import Base


def page() -> None:
    """Draw the answer that is known at once, then the fields, then what takes longer."""
    st.set_page_config(page_title="foretrain", page_icon=style.ICON, layout="wide")
    st.html(style.SHEET)
    try:
        base = state.base()
        valid, error = state.last_valid(base)
        for wrong in filter(None, (state.complaint(), error)):
            st.error(literal(str(wrong)))
        first = _first(valid, stale=error is not None) if valid else None
        sidebar.show(base, valid, error)
        state.keep_address(base)
        if first is not None:
            views.show(first.base, first.finish())
    except ForetrainError as failure:
        st.error(literal(str(failure)))


def _first(base: Base, *, stale: bool) -> Headline:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.html(style.title(base.read().name))
        full, there = len(state.pins()) >= state.MOST_PINS, base in state.pins()
        words = "pinned" if there else f"{state.MOST_PINS} are pinned" if full else "Pin to compare"
        st.button(words, key="pin", on_click=state.pin, args=(base,), disabled=full or there or stale)
    if stale:
        st.caption("Below stands the last scenario that could be read.")
    return Headline(base)


page()
