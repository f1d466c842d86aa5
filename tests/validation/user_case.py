"""How questions that people asked in public are put to the program: as scenarios, answered by the simulated step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from simulator.scenario import Scenario, from_dict
from simulator.simulation import Prediction, predict
from simulator.validation import files
from simulator.validation.rows import expression
from simulator.workload.flops import Convention, flops_per_token

GB, GIB = 1e9, 2.0**30
DAY = 86400.0


@dataclass(frozen=True)
class Answer:
    scenario: Scenario
    prediction: Prediction

    @property
    def step(self) -> float:
        return self.prediction.step_time_s

    @property
    def tokens(self) -> float:
        """Tokens of a step."""
        return float(self.scenario.training.global_batch * self.scenario.training.sequence_length)

    @property
    def rate(self) -> float:
        """Tokens a second on each GPU."""
        return self.tokens / self.step / self.scenario.gpus

    def tflops(self, convention: Convention = "causal") -> float:
        """Model TFLOP/s of each GPU."""
        assert self.scenario.model is not None
        return (
            self.rate * flops_per_token(self.scenario.model, self.scenario.training.sequence_length, convention) / 1e12
        )

    @property
    def p_fits(self) -> float:
        return self.prediction.memory.p_fits

    @property
    def verdict(self) -> str:
        return self.prediction.memory.verdict

    def stage(self, part: str, index: int | None = None) -> float:
        """Return the bytes of a part on a stage, the worst one where none is named."""
        memory = self.prediction.memory
        return memory.stages[memory.worst_stage if index is None else index][f"{part}_bytes"]

    @property
    def state(self) -> float:
        """Weights, gradients and optimizer state of a GPU on the worst stage."""
        return self.stage("weights") + self.stage("gradients") + self.stage("optimizer")


def ask(model: Any, host: Any, hosts: int, stack: Any, parallelism: Any = None, **training: Any) -> Answer:
    """Return what is predicted; `training` has one step, and a batch of one microbatch a replica where left out."""
    layout = {"tensor": 1, "pipeline": 1, "context": 1} | (parallelism or {})
    scenario = from_dict(
        {
            "version": 1,
            "name": "a question",
            "model": model,
            "cluster": {"host": host, "hosts": hosts},
            "stack": stack,
            "parallelism": layout,
            "training": {"steps": 1, "microbatch": 1} | training,
        }
    )
    return Answer(scenario, predict(scenario))


def published(name: str) -> Answer:
    """Return what is predicted of a row of the shipped runs."""
    (plain,) = expression(_rows()[name]).scenarios
    scenario = from_dict(plain)
    return Answer(scenario, predict(scenario))


@cache
def _rows() -> dict[str, Any]:
    (runs,) = (path for path in files.shipped() if path.stem == "runs")
    return {row.text("id"): row for row in files.read(runs).rows}
