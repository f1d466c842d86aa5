"""Waits for answers without holding up the page: a change in the meantime starts the page anew.

Streamlit looks for changes whenever something is written, and leaves the script by an exception when there is one.
What nobody has begun to work out by then is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from time import sleep
from typing import Any

import streamlit as st

from simulator.explorer.desk import desk

TICK = 0.04


def wait(words: str, question: Callable[..., Any], *about: Any, **known_already: Any) -> Any:
    """Return the answer to a question; until it is there, say what is being done."""
    return _wait(partial(desk.ask, question, **known_already), [about], lambda spot, _: spot.caption(words))[0]


def wait_for_all(question: Callable[..., Any], items: Sequence[Any], what: str) -> list[Any]:
    """Return the answers for all items, in their order, and show how far they are."""
    count = len(items)

    def tell(spot: Any, done: int) -> None:
        spot.progress(done / count, text=f"{what}: {done:,} of {count:,}")

    return _wait(partial(desk.ask, question), [(item,) for item in items], tell)


def _wait(
    ask: Callable[..., Future[Any]], abouts: Sequence[Sequence[Any]], tell: Callable[[Any, int], Any]
) -> list[Any]:
    asked = [ask(*about) for about in abouts]
    if _ready(asked) < len(asked):
        spot = st.empty()
        try:
            while (done := _ready(asked)) < len(asked):
                tell(spot, done)
                sleep(TICK)
                # Another page may have dropped what this one waits for.
                asked = [ask(*about) if one.cancelled() else one for one, about in zip(asked, abouts, strict=True)]
        finally:
            for one in asked:
                one.cancel()
        spot.empty()
    return [one.result() for one in asked]


def _ready(asked: Sequence[Future[Any]]) -> int:
    return sum(one.done() and not one.cancelled() for one in asked)
