"""The section on what makes days and dollars unsure, and which measurement would narrow them."""

from __future__ import annotations

from simulator.io.readable import dollars, duration, percent
from simulator.outcome.results import Result
from simulator.plots import colours
from simulator.report.section import Fact, Part, Section

LEAST = 0.005
"""Sources with a smaller share of the variance are left to the JSON."""


def section(result: Result) -> Section | None:
    """Return the sources of the spread as bars, and what each measurement is worth; None of a sure run."""
    found = [one for one in result.uncertainty if one.share_of_variance >= LEAST]
    if not found:
        return None
    now = f"P10 to P90 spans {duration(found[0].p90_minus_p10_s)}, {dollars(found[0].p90_minus_p10_dollars)}"
    after = {one.measurement: one for one in found if one.measurement}
    return Section(
        name="uncertainty",
        title="Uncertainty",
        answer=now,
        parts=tuple(
            Part(
                label=one.source,
                value=percent(one.share_of_variance),
                share=one.share_of_variance,
                colour=colours.BLUE,
            )
            for one in found
        ),
        facts=tuple(
            Fact(
                label=f"with {measurement}",
                value=duration(one.p90_minus_p10_s_after),
                note=f"from P10 to P90, {dollars(one.p90_minus_p10_dollars_after)}",
            )
            for measurement, one in sorted(after.items(), key=lambda pair: pair[1].p90_minus_p10_s_after)
        ),
    )
