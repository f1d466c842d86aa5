"""The search for the best layout of a cluster, from the space of layouts to the story of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from simulator.errors import ScenarioError
from simulator.outcome.difference import loadings
from simulator.outcome.results import Result
from simulator.scenario import Scenario
from simulator.studies import best, chances, ranking
from simulator.studies.layouts import Group, Layout, groups, start
from simulator.studies.point import Base
from simulator.studies.space import Space
from simulator.studies.store import Row
from simulator.units import Share


class LayoutSearch:
    """All layouts of a scenario: `groups` are worked out by whoever asks, and `take` ranks what was found.

    `rows` are layouts as columns, SI units; `order` those that are ranked, the best first; `without` counts what was
    not tried, by reason; `result` and `terms` tell the best, where `tell` was called.
    """

    def __init__(self, base: Base, objective: str = "time") -> None:
        if objective not in ranking.COLUMN:
            raise ScenarioError(f"--objective {objective[:40]}: one of {', '.join(ranking.COLUMN)}")
        self.objective = objective
        self.base = start(base)
        self.asked = self.base.read()
        self.rows: list[Row] = []
        self.order: list[Row] = []
        self.result: Result | None = None
        self.terms: tuple[best.Term, ...] = ()
        self._known: dict[int, Layout] = {}
        self._parts: dict[int, best.Parts] = {}

    @cached_property
    def groups(self) -> list[Group]:
        """The layouts, in groups that are worked out together."""
        return groups(self.base, self._space.layouts())

    @property
    def without(self) -> Mapping[str, int]:
        return self._space.without

    def take(self, found: Sequence[Row], *, sure: bool = False) -> None:
        """Take the rows of the first groups, and time the best of them exactly; `sure` leaves tight ones out."""
        layouts = [layout for group in self.groups[: len(found)] for layout in group.layouts]
        rows = [row for group in found for row in group["layouts"]]
        self._known = dict(zip(map(id, rows), layouts, strict=True))
        self.rows = [row for row in rows if not sure or row["verdict"] != "tight"]
        self._parts = best.time_exactly(self.asked, self.rows, [self._known[id(row)] for row in self.rows])
        self.order = ranking.ordered(self.rows)

    def tell(self) -> None:
        """Simulate the run of the best layout, which gives all of them days and dollars."""
        if not self.order:
            return
        first, second = self.layout(self.order[0]), best.runner_up(self.order)
        self.terms = best.explained(first, self.layout(second)) if second is not None else ()
        self.result = best.run(first)
        best.add_runs(self.rows, self.result)

    def rank(self) -> None:
        """Order by the objective; every row gets its rank, its chance to be the best, and whether it is on the front.

        The objectives follow from the time of the step, and so the chance is the same for all of them.
        """
        self.order = ranking.ordered(self.rows, self.objective)
        front = {id(row) for row in ranking.pareto(self.order)}
        chance = self._chances()
        ranks = {id(row): rank for rank, row in enumerate(self.order, 1)}
        for row in self.rows:
            row["rank"], row["p_best"], row["pareto"] = ranks.get(id(row)), chance.get(id(row)), id(row) in front

    def _chances(self) -> dict[int, Share]:
        """Return the chance of each ranked row, by its id; what does the same by other names shares one evenly."""
        alike = ranking.alike(self.order)
        known = chances.average(list(self._parts.values()))
        drawn = [
            loadings(self.layout(members[0]), self._parts.get(id(members[0]), known))
            for members in alike[: chances.CONTENDERS]
        ]
        found = chances.best([members[0]["step_time_s"] for members in alike[: len(drawn)]], drawn, self.asked.seed)
        each = dict.fromkeys(map(id, self.order), 0.0)
        for members, chance in zip(alike, found, strict=False):
            each |= {id(row): chance / len(members) for row in members}
        return each

    @property
    def ranked(self) -> list[Row]:
        """All rows, the best first; those without a rank come last."""
        return sorted(self.rows, key=lambda row: row["rank"] or float("inf"))

    def layout(self, row: Row) -> Scenario:
        """Return the scenario in the layout of a row."""
        return self._known[id(row)].of(self.asked)

    def chosen(self) -> dict[str, Row]:
        """Return the best that surely fits, and the fastest where that is another."""
        if not self.order:
            return {}
        surely = ranking.sure(self.order) or self.order[0]
        return {"best": surely} | ({"fastest": self.order[0]} if surely is not self.order[0] else {})

    def record(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain layouts``."""
        return {
            "objective": self.objective,
            "best": self.order[0] if self.order else None,
            "explained": [term._asdict() for term in self.terms],
            "rejected": {"oom": sum(row["verdict"] == "oom" for row in self.rows), **self.without},
            "layouts": self.ranked,
        }

    @cached_property
    def _space(self) -> Space:
        return Space(self.asked)
