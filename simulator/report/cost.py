"""The section on cost: GPU-hours, dollars, energy, CO2."""

from __future__ import annotations

from simulator.io.readable import dollars, energy, mass, prefixed, spread
from simulator.outcome.results import Result
from simulator.report.section import Fact, Section


def section(result: Result) -> Section | None:
    if not result.run.progress:
        return None
    cost = result.cost
    return Section(
        name="cost",
        title="Cost",
        answer=f"P50 {dollars(cost.dollars.p50)} (P10 {dollars(cost.dollars.p10)}, P90 {dollars(cost.dollars.p90)})",
        facts=(
            Fact(
                label="GPU-hours",
                value=prefixed(cost.gpu_hours.mean),
                note=f"the mean; P10/P50/P90 {spread(cost.gpu_hours, prefixed)}",
            ),
            Fact(label="dollars", value=dollars(cost.dollars.mean), note=_unit_price(result)),
            *_luck(result),
            *_spares(result),
            Fact(label="energy", value=energy(cost.energy_j)),
            Fact(label="CO2", value=mass(cost.co2_kg)),
        ),
    )


def _luck(result: Result) -> tuple[Fact, ...]:
    """Return how far failures alone move the cost, where something else does too."""
    luck = result.cost.luck
    if luck is None or luck.dollars == result.cost.dollars:
        return ()
    value = f"{dollars(luck.dollars.p10)} to {dollars(luck.dollars.p90)}"
    return (Fact(label="failures alone", value=value, note="P10 to P90 if the step and all rates were sure"),)


def _spares(result: Result) -> tuple[Fact, ...]:
    idle = result.cost.spares_dollars
    return (Fact(label="of it spares", value=dollars(idle), note="rented to stand by"),) if idle > 0 else ()


def _unit_price(result: Result) -> str:
    """Return that it is the mean, and what a GPU-hour costs all in, which is what another offer is compared with."""
    hours = result.cost.gpu_hours.mean
    each = f"; {dollars(result.cost.dollars.mean / hours)} a GPU-hour, everything included" if hours > 0 else ""
    return f"the mean{each}"
