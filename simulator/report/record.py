"""The result as JSON text, for other programs."""

from __future__ import annotations

from simulator.io.printable import Json, json_text
from simulator.outcome.results import Result


def write(result: Result) -> Json:
    """Return the JSON of `result`; what is infinite or unknown is null."""
    return json_text(result.as_dict())
