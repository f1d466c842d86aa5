"""What a training run on a cluster will do, before the cluster is rented.

The verbs of the command line are functions here, loaded when they are first used:

>>> import simulator as ft
>>> ft.check("tutorial/1-one-host", {"parallelism.tensor": 8}).verdict
'fits'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.api.forecasts import Forecast, forecast
    from simulator.api.measurements import Validation, validate
    from simulator.api.policies import Policies, stress
    from simulator.api.questions import Question, read
    from simulator.api.runs import Check, Explanation, Run, check, explain, predict, simulate
    from simulator.api.studies import Comparison, Layouts, Sweep, compare, layouts, sweep
    from simulator.errors import ForetrainError, ScenarioError
    from simulator.scenario.scenario import Scenario
    from simulator.simulation import Prediction

_FROM = {
    "Check": "simulator.api.runs",
    "Comparison": "simulator.api.studies",
    "Explanation": "simulator.api.runs",
    "Forecast": "simulator.api.forecasts",
    "ForetrainError": "simulator.errors",
    "Layouts": "simulator.api.studies",
    "Policies": "simulator.api.policies",
    "Prediction": "simulator.simulation",
    "Question": "simulator.api.questions",
    "Run": "simulator.api.runs",
    "Scenario": "simulator.scenario.scenario",
    "ScenarioError": "simulator.errors",
    "Sweep": "simulator.api.studies",
    "Validation": "simulator.api.measurements",
    "check": "simulator.api.runs",
    "compare": "simulator.api.studies",
    "explain": "simulator.api.runs",
    "forecast": "simulator.api.forecasts",
    "layouts": "simulator.api.studies",
    "predict": "simulator.api.runs",
    "read": "simulator.api.questions",
    "simulate": "simulator.api.runs",
    "stress": "simulator.api.policies",
    "sweep": "simulator.api.studies",
    "validate": "simulator.api.measurements",
}
__all__ = [
    "Check",
    "Comparison",
    "Explanation",
    "Forecast",
    "ForetrainError",
    "Layouts",
    "Policies",
    "Prediction",
    "Question",
    "Run",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "Validation",
    "check",
    "compare",
    "explain",
    "forecast",
    "layouts",
    "predict",
    "read",
    "simulate",
    "stress",
    "sweep",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_FROM[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
