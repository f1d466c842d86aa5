"""Bounds on the errors of the shipped runs, kept in floors.yaml.

    python tests/validation/floors.py                    print the file with the figures of now
    python tests/validation/floors.py --write            tighten the bounds that are better now
    python tests/validation/floors.py --write --reason "the new term for ..."      also loosen those that are missed

Both predict every run, on all processors: some minutes. A bound that still holds is never loosened.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from simulator.cli.validate import Predict
from simulator.studies.executors import processors
from simulator.validation import files
from simulator.validation.lines import Line
from simulator.validation.summary import Summary, summary

FILE = Path(__file__).with_name("floors.yaml")
HEAD = """\
# Bounds on the errors of the shipped runs (simulator/validation/data/runs.csv) on the clock that `run` reports.
# Errors and regret are in percent. `rows` of a family are predicted at least. Each bound is what was measured when it
# was written, and a little more: 0.3 points for a median, 1 for a 90th percentile and for a regret, 0.02 for a Spearman
# correlation. Only a reason, in a comment on the same line, may loosen a bound.
# `python tests/validation/floors.py --write` renews this file.
"""
SLACK = {"rows": 0.0, "median": 0.3, "p90": 1.0, "spearman": 0.02, "regret": 1.0}
LARGER_IS_BETTER = {"rows", "spearman"}
DIGITS = {"rows": 0, "spearman": 2}
LAYOUTS = "layouts"
"""Section of the groups in which layouts are ranked; the others are quantities."""
NO_REASON = "loosened without a reason"

Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Section, then family or group, then the figure by its name."""


def predicted() -> tuple[Line, ...]:
    """Return the lines of all shipped runs."""
    runs = [files.read(path) for path in files.shipped() if path.stem == "runs"]
    return files.lines(runs, Predict(), workers=processors())


def figures(found: Summary) -> Figures:
    """Return the figures that have bounds."""
    sections: dict[str, dict[str, dict[str, float]]] = {}
    ranked: dict[str, dict[str, float]] = {}
    for quantity in found.quantities:
        assert quantity.total is not None
        sections[quantity.name] = {
            name: {"rows": errors.count, "median": 100 * errors.median, "p90": 100 * errors.p90}
            for name, errors in {**quantity.families, "all": quantity.total}.items()
        }
        for name, ranking in quantity.groups.items():
            ranked.setdefault(name, {"spearman": ranking.spearman, "regret": 100 * ranking.regret})
    return sections | ({LAYOUTS: ranked} if ranked else {})


def bounds(text: str) -> Figures:
    """Return the bounds that a file says."""
    found: Figures = yaml.safe_load(text) or {}
    return found


def missed(wanted: Figures, found: Figures) -> Iterator[str]:
    """Yield a sentence for each bound that is missed, and for each figure without a bound."""
    for section, name in _places(wanted, found):
        limits, values = _one(wanted, section, name), _one(found, section, name)
        if not limits:
            yield f"{section} of {name}: has no bound; run python tests/validation/floors.py --write"
        for figure, limit in limits.items():
            if figure not in values:
                yield f"{section} of {name}: {figure} is not predicted any more, and has a bound of {limit:g}"
            elif not _holds(figure, values[figure], limit):
                side = "at least" if figure in LARGER_IS_BETTER else "at most"
                yield f"{section} of {name}: {figure} is {values[figure]:.4g}, expected {side} {limit:g}"


def written(text: str, found: Figures, reason: str = NO_REASON) -> str:
    """Return the text of the file: bounds that are missed loosened for a reason, others kept or tightened."""
    old, reasons = bounds(text), _reasons(text)
    lines = [HEAD.rstrip("\n")]
    for section, group in found.items():
        lines.append(f"{section}:")
        for name, values in group.items():
            limits = _one(old, section, name)
            renewed = {figure: _renewed(figure, value, limits.get(figure)) for figure, value in values.items()}
            loosened = any(not _holds(figure, values[figure], limits[figure]) for figure in values if figure in limits)
            why = reason if loosened else reasons.get((section, name), "")
            key = name if re.fullmatch(r"[A-Za-z][\w. -]*", name) else json.dumps(name)
            said = ", ".join(f"{figure}: {limit:.{DIGITS.get(figure, 1)}f}" for figure, limit in renewed.items())
            lines.append(f"  {key}: {{{said}}}" + (f"  # {why}" if why else ""))
    return "\n".join(lines) + "\n"


def _renewed(figure: str, value: float, limit: float | None) -> float:
    """Return the tighter of a bound and what the value now gives; the latter where the bound is missed."""
    scale = 10 ** DIGITS.get(figure, 1)
    if figure in LARGER_IS_BETTER:
        fresh = math.floor((value - SLACK[figure]) * scale + 1e-6) / scale
    else:
        fresh = math.ceil((value + SLACK[figure]) * scale - 1e-6) / scale
    if limit is None or not _holds(figure, value, limit):
        return fresh
    return max(fresh, limit) if figure in LARGER_IS_BETTER else min(fresh, limit)


def _holds(figure: str, value: float, limit: float) -> bool:
    return value >= limit if figure in LARGER_IS_BETTER else value <= limit


def _one(figures: Figures, section: str, name: str) -> Mapping[str, float]:
    return figures.get(section, {}).get(name, {})


def _places(*sides: Figures) -> dict[tuple[str, str], None]:
    """Return each section and name once, in their order."""
    return {(section, name): None for side in sides for section, group in side.items() for name in group}


def _reasons(text: str) -> dict[tuple[str, str], str]:
    """Return the comments on lines of bounds."""
    found, section = {}, ""
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            section = line.rstrip(":")
        said, mark, why = line.partition("}  # ")
        if mark:
            (name,) = yaml.safe_load(said + "}")
            found[section, name] = why
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the file or write it; 1 where a bound is missed and no reason is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write floors.yaml instead of printing it")
    parser.add_argument("--reason", help="why bounds that are missed may be loosened")
    options = parser.parse_args(arguments)
    found = figures(summary(predicted()))
    text = FILE.read_text(encoding="utf-8") if FILE.is_file() else ""
    worse = list(missed(bounds(text), found)) if text else []
    sys.stderr.writelines(f"{sentence}\n" for sentence in worse)
    renewed = written(text, found, options.reason or NO_REASON)
    if not options.write:
        sys.stdout.write(renewed)
    elif NO_REASON in renewed:
        sys.stderr.write("give --reason to loosen them\n")
        return 1
    else:
        FILE.write_text(renewed, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
