"""The result as JSON text, for other programs."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from simulator.results import Result


def write(result: Result) -> str:
    """Return the JSON of `result`; what is infinite or unknown is null, as JSON has no word for it."""
    return json.dumps(_plain(result.as_dict()), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
