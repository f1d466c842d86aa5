"""The file that `foretrain calibrate` writes and `calibration:` of a scenario names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from simulator.scenario.calibration import Calibration
from simulator.scenario.echo import echo
from simulator.scenario.shape import shape

HEAD = "# Written by `foretrain calibrate`; a scenario names it as `calibration: FILE`.\n"
NOT_FOR = {
    "network": "other hosts, NICs or fabrics, and more hosts than were measured",
    "products": "other GPUs, power limits or libraries",
    "elementwise": "other GPUs",
    "software": "other stacks or versions, other GPUs, models of another kind (experts, other attention)",
}


def text(calibration: Calibration) -> str:
    """Return the file."""
    content: dict[str, Any] = echo(shape(Calibration), _noted(calibration))
    return HEAD + yaml.safe_dump(_rounded(content), sort_keys=False, default_flow_style=None, width=110)


def _noted(calibration: Calibration) -> Calibration:
    """Return the calibration with what its factors may not be used for."""
    changed = {key.partition(".")[0] for key, factor in calibration.factors().items() if factor != 1}
    limits = [f"{name}: {NOT_FOR[name]}" for name in NOT_FOR if name in changed]
    return replace(calibration, not_for="; ".join(limits))


def _rounded(content: Any) -> Any:
    """Return the content with six digits that count; more are noise."""
    if isinstance(content, dict):
        return {key: _rounded(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_rounded(value) for value in content]
    return float(f"{content:.6g}") if isinstance(content, float) else content
