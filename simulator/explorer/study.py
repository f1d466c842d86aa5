"""Works out the points of a study for a view, with progress, in the processes of the server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import sleep
from typing import Any

import streamlit as st

from simulator.explorer.desk import desk
from simulator.explorer.waiting import TICK


def answered(function: Callable[[Any], Any], items: Sequence[Any], what: str) -> list[Any]:
    """Return `function` of each item in their order; a change of the page in the meantime drops what is left."""
    asked = [desk.ask(function, item) for item in items]
    if all(one.done() for one in asked):
        return [one.result() for one in asked]
    spot = st.empty()
    try:
        while done := sum(not one.done() for one in asked):
            spot.progress(1 - done / len(asked), text=f"{what}: {len(asked) - done:,} of {len(asked):,}")
            sleep(TICK)
    finally:
        # Streamlit leaves the script by an exception where something was changed.
        for one in asked:
            one.cancel()
    spot.empty()
    return [one.result() for one in asked]
