"""What must be true of a step of any layout on several hosts, on slow networks and fast ones.

``EXAMPLES=5000 pytest tests/proof/test_steps_of_any_layout.py`` tries as many.
"""

from __future__ import annotations

import pytest
from any_scenario import SOME, Document, scenarios
from hypothesis import assume, given
from hypothesis import strategies as st

from simulator.engine.prices.assembly import Assembly, assembly, network_of
from simulator.engine.prices.link_traffic import carried
from simulator.engine.step import recorded, simulated, stage_clocks
from simulator.errors import ForetrainError
from simulator.scenario import Scenario, from_dict


@st.composite
def on_several_hosts(draw: st.DrawFn) -> Document:
    """Return a scenario whose NICs have 10 to 400 Gb/s."""
    document = draw(scenarios(simple=True))
    assume(document["cluster"]["hosts"] > 1)
    document["cluster"]["host"]["nic_bandwidth"] = f"{draw(st.sampled_from([10, 25, 100, 400]))}Gbps"
    return document


def built(document: Document) -> tuple[Scenario, Assembly]:
    try:
        scenario = from_dict(document)
        return scenario, assembly(scenario)
    except ForetrainError:
        assume(False)
        raise


@SOME
@given(on_several_hosts())
def test_no_link_carries_more_than_it_can(document: Document):
    """That bytes sent are those that the layout implies, `simulate` checks by itself."""
    scenario, one = built(document)
    step = simulated.simulate(one.step())
    loads = network_of(scenario.cluster).loads(tuple(carried(one).values()))
    assert max(load.busy(step.timing.seconds) for load in loads) <= 1 + 1e-6


@SOME
@given(on_several_hosts())
def test_the_recorded_step_is_no_longer_than_that_in_simpy(document: Document):
    _, one = built(document)
    work = one.step()
    assert recorded.times([work])[0] <= simulated.time(work).seconds * (1 + 1e-9)


@SOME
@given(on_several_hosts())
def test_where_no_transfers_met_the_clock_without_sharing_shows_the_same(document: Document):
    _, one = built(document)
    step = simulated.simulate(one.step())
    alone = stage_clocks.play(one.step()).seconds
    if step.meetings:
        assert alone <= step.timing.seconds * (1 + 1e-9)
    else:
        assert alone == pytest.approx(step.timing.seconds, rel=1e-9)
