"""Waits for an answer without holding up the page: a change in the meantime starts the page anew."""

from __future__ import annotations

from concurrent.futures import Future
from time import sleep
from typing import Any

import streamlit as st

TICK = 0.04


def wait(answer: Future[Any], words: str) -> Any:
    """Return the answer; until it is there, say what is being done.

    Streamlit looks for changes whenever something is written, and leaves the script when there is one.
    """
    if not answer.done():
        spot = st.empty()
        while not answer.done():
            spot.caption(words)
            sleep(TICK)
        spot.empty()
    return answer.result()
