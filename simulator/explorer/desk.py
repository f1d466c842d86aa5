"""What the pages of one server share: the scenario and catalogs it was started with, and processes that answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from simulator.explorer.answers import whole
from simulator.studies.executors import Here
from simulator.studies.point import Base

Question = Callable[..., Any]
KEPT, KEPT_RESULTS = 100, 12
"""Answers to each kind of question that are remembered; whole results are large."""


@dataclass
class Desk:
    given: Base | None = None
    executor: Executor = field(default_factory=Here)
    workers: int = 1
    _answers: dict[Question, OrderedDict[Any, Future[Any]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def catalogs(self) -> tuple[str, ...]:
        return self.given.catalogs if self.given else ()

    def ask(self, question: Question, *about: Any, **known_already: Any) -> Future[Any]:
        """Return the answer to a question, or the promise of it; the same question is asked once.

        What is `known_already` spares the one who answers to work it out, and does not change the answer.
        """
        with self._lock:
            known = self._answers.setdefault(question, OrderedDict())
            if about not in known or known[about].cancelled():
                known[about] = self.executor.submit(question, *about, **known_already)
            known.move_to_end(about)
            while len(known) > (KEPT_RESULTS if question is whole else KEPT):
                known.popitem(last=False)
            return known[about]

    def found(self, question: Question, *about: Any) -> Any:
        """Return the answer to a question that was answered before, else None."""
        known = self._answers.get(question)
        answer = known.get(about) if known else None
        return answer.result() if answer is not None and answer.done() and not answer.cancelled() else None


desk = Desk()
"""Of this process; `server` fills it in before the first page is asked for."""
