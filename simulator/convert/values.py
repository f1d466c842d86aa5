"""Values as scenarios spell them -> numbers, truths and text."""

from __future__ import annotations

import re
from typing import Any

FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}


def plain(value: Any) -> Any:
    """Return `value` with every text that spells a number, a share or a truth as what it spells.

    >>> plain({"tokens": "15.6T", "tied": "true", "dropout": "10%", "norm": "rmsnorm"})
    {'tokens': 15600000000000, 'tied': True, 'dropout': 0.1, 'norm': 'rmsnorm'}
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return _scalar(value) if isinstance(value, str) else value


def _scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if not (found := re.fullmatch(r"([0-9]{1,30}(?:_[0-9]{1,30}){0,9}(?:\.[0-9]{1,30})?)([kMGBT%]?)", text.strip())):
        return text
    digits, unit = found.groups()
    if unit == "%":
        return float(digits) / 100
    if "." not in digits:
        return int(digits) * FACTORS[unit]
    return round(float(digits) * FACTORS[unit]) if unit else float(digits)
