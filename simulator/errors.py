"""The errors a user meets; anything else that is raised is a bug.

::

    ForetrainError
    ├── ScenarioError      the input is wrong: exit code 2
    └── InfeasibleError    the answer is no, with the numbers: exit code 1
"""

from __future__ import annotations


class ForetrainError(Exception):
    """The root of all errors that are not bugs."""


class ScenarioError(ForetrainError):
    """One or more mistakes in an input, one a line, each with its place and what to change."""


class InfeasibleError(ForetrainError):
    """The input is valid and the answer is no: it does not fit, or makes no progress."""


class ConservationError(RuntimeError):
    """Bytes or time were lost or counted twice: a mistake in the simulator, not in its input."""
