"""The fabric, its links coloured by how busy they are."""

from __future__ import annotations

import streamlit as st

from simulator.explorer import answers, drawn
from simulator.explorer.waiting import wait
from simulator.io.readable import duration, percent, prefixed, rate
from simulator.outcome.results import Result
from simulator.plots.network import mean
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
            "mean": percent(mean(link)),
        }
        for link in result.step.links
    ]
    st.table(rows, border="horizontal", hide_index=True)
    sent = [
        {
            "part": one.part,
            "over": one.links,
            "exposed": duration(one.exposed_s),
            "a GPU has": rate(one.bandwidth_bytes_per_s),
            "enough from": rate(one.hidden_at_bytes_per_s) if one.hidden_at_bytes_per_s else "none known",
        }
        for one in wait("timing faster links …", answers.step, base).transfers
    ]
    if sent:
        st.caption(
            "What each part sends, and the bandwidth of a GPU's share from which more would save under 1% of the step."
        )
        st.table(sent, border="horizontal", hide_index=True)
