"""An effect is one file: whatever is there is known to scenarios, to rates and to runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import at, one, restart, run_of, saves

from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.effects.base import Effect, effect_named

FREEZE = '''"""All processes stand still for a minute; every tenth time that kills them."""

from simulator.reliability.effects.base import Effect


class Freeze(Effect):
    kind = "freeze"

    def interrupting(self, cause):
        return 0.1

    def strike(self, job, incident, cause):
        return job.fail(incident) if incident.time % 1000 == 0 else job.stall(60.0)
'''


RUN = """
import json, sys
from simulator.reliability import effects
effects.__path__.append(sys.argv[1])
from simulator.engine.run import RunInput, simulate
from simulator.scenario import from_dict

causes = [{"kind": "scripted", "unit": "job", "at": ["2500s", "7000s"], "effect": "freeze"}]
cluster = {"host": "hgx-h100", "hosts": "2"}
scenario = from_dict({"cluster": cluster, "training": {"duration": "10000s", "step_time": "1s"}, "failures": causes})
run = RunInput(
    work=1e4, units={"gpu": 16, "host": 2}, failures=scenario.failures, recovery=scenario.recovery.__class__()
)
(outcome,) = simulate(run, 1, 1)
print(json.dumps({**outcome.parts, "interruptions": outcome.unexpected}))
"""


def test_a_new_effect_is_one_file(tmp_path: Path):
    """A scenario may name it, it stalls a job at 2,500 s, and kills it at 7,000 s of uptime."""
    (tmp_path / "freeze.py").write_text(FREEZE)
    told = subprocess.run([sys.executable, "-c", RUN, str(tmp_path)], capture_output=True, text=True, check=True)
    found = json.loads(told.stdout)
    assert (found["interruptions"], found["degraded"], found["lost"]) == (1, 60.0, 7000.0 - 60.0)


def test_an_effect_that_nobody_wrote_is_refused_with_those_there_are():
    with pytest.raises(ScenarioError, match="no effect is named 'melt'; there are corrupt, crash, degrade, flap, slow"):
        effect_named("melt")


@pytest.mark.parametrize("name", list(members(Effect)))
def test_every_effect_leaves_a_run_whose_parts_are_its_wall_clock(name: str):
    for exposure in ("uptime", "wall"):
        cause = at(300.0, 320.0, 900.0, unit="nic", effect=name, lasts=Fixed(time=50.0), detect=Fixed(time=100.0))
        run = run_of(2000.0, cause, exposure=exposure, checkpoint=saves(200.0, 5.0), recovery=restart(60.0, 100.0))
        outcome = one(run)
        assert sum(outcome.parts.values()) == pytest.approx(outcome.wall_clock)
        assert outcome.parts["train"] == 2000.0
