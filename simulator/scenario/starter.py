"""A scenario to start from: valid as it is, with what else may be said in comments."""

from __future__ import annotations

from pathlib import Path

from simulator import catalog

TEMPLATE = Path(__file__).with_name("starter.yaml")
SEQUENCE, SEQUENCES_A_GPU = 8192, 8


def write(*, model: str, host: str, hosts: int) -> str:
    """Return the text of a scenario that trains `model` on `hosts` of `host`; an unknown name raises ScenarioError."""
    model, host = catalog.canonical("model", model), catalog.canonical("host", host)
    published = catalog.entry("model", model).get("published", {})
    entry = catalog.entry("host", host)
    gpus = hosts * int(entry["gpus"])
    return TEMPLATE.read_text(encoding="utf-8").format(
        model=model,
        host=host,
        hosts=hosts,
        gpus=gpus,
        batch=SEQUENCES_A_GPU * gpus,
        sequence=published.get("sequence_length", SEQUENCE),
    )
