"""What the pages of one server share: the scenario and catalogs it was started with, and processes that answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from simulator.studies.executors import Here
from simulator.studies.point import Base

KEPT = 200
"""Answers that are remembered."""


@dataclass
class Desk:
    given: Base | None = None
    executor: Executor = field(default_factory=Here)
    workers: int = 1
    _answers: OrderedDict[Any, Future[Any]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def catalogs(self) -> tuple[str, ...]:
        return self.given.catalogs if self.given else ()

    def ask(self, function: Callable[..., Any], *about: Any) -> Future[Any]:
        """Return the answer to a question, or the promise of it; the same question is asked once."""
        key = (function, about)
        with self._lock:
            if key not in self._answers or self._answers[key].cancelled():
                self._answers[key] = self.executor.submit(function, *about)
            self._answers.move_to_end(key)
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            return self._answers[key]

    def drop(self, but: Base) -> None:
        """Forget the questions about other scenarios that nobody has begun to answer."""
        with self._lock:
            for (_, about), answer in self._answers.items():
                if but not in about:
                    answer.cancel()


desk = Desk()
"""Of this process; `server` fills it in before the first page is asked for."""
