"""The fabric, its links coloured by how busy they are."""

from __future__ import annotations

import streamlit as st

from simulator.explorer import drawn
from simulator.readable import percent, prefixed, rate
from simulator.results import Result
from simulator.studies.point import Base

TITLE = "Network"
ORDER = 4


def show(base: Base, result: Result) -> None:
    if not result.step.links:
        st.caption("Nothing crosses a link in this step.")
        return
    drawn.picture("network", base, result)
    rows = [
        {
            "links": link["name"],
            "number": prefixed(link["count"]),
            "bandwidth": rate(link["bandwidth_bytes_per_s"]),
            "busy": percent(link["busy_share"]),
        }
        for link in result.step.links
    ]
    st.table(rows, border="horizontal", hide_index=True)
