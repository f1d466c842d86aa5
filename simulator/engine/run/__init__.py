"""The whole run as a simpy story: a job that trains, and what happens to it.

Read `job` first, then `failure_effects` and `recovery`; `story` puts them together with what goes on beside the job:
`hazards`, `spares`, `slow_downs`, `slow_hosts`, `corruptions`, `stops` and `replicas`.
"""

from simulator.engine.run.inputs import RunInput, StepFactor, mtbf, plan
from simulator.engine.run.outcome import PARTS, Outcome
from simulator.engine.run.simulate import Mapped, Vary, planned, simulate, spread

__all__ = [
    "PARTS",
    "Mapped",
    "Outcome",
    "RunInput",
    "StepFactor",
    "Vary",
    "mtbf",
    "plan",
    "planned",
    "simulate",
    "spread",
]
