"""How well `p_faster` foretells which of two published layouts is faster, beside two rules that know less.

    python tests/validation/who_is_faster.py             at most 20 runs a family: some minutes
    python tests/validation/who_is_faster.py --most 1000 all of them: an hour

Pairs are runs of one family on one model, machine, batch and length whose predictions differ. Prints the log loss in
nats a pair, 0.69 for a coin: mean of families, and all pairs alike.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import log
from typing import NamedTuple

from simulator import simulation
from simulator.outcome.difference import Loadings, loadings, shorter
from simulator.outcome.student import below
from simulator.scenario import Scenario
from simulator.validation import files
from simulator.validation.measured import measured

SURE = 0.99
"""What a ranking that is certain says of the first of two."""
SPREADS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Constant spreads of ln(ratio), of which the best by hindsight is shown."""


class Layout(NamedTuple):
    predicted: float
    measured: float
    error: Loadings


class Pair(NamedTuple):
    ratio: float
    """Predicted time of the one that was faster, over that of the other."""
    chance: float
    """What was said of it."""


class Kept:
    """Predicts, and keeps the last prediction."""

    last: simulation.Prediction

    def __call__(self, scenario: Scenario) -> simulation.Prediction:
        self.last = simulation.predict(scenario)
        return self.last


def groups(most: int) -> Mapping[str, Sequence[Sequence[Layout]]]:
    """Return by family the layouts that can be compared."""
    kept, found = Kept(), defaultdict(lambda: defaultdict(list))
    tables = [files.read(path) for path in files.shipped() if path.stem == "runs"]
    for run in measured(tables, kept, most=most):
        one, training = run.scenario, run.scenario.training
        key = (one.model, one.cluster.host.name, one.gpus, training.global_batch, training.sequence_length)
        layout = Layout(kept.last.step_time_s, run.seconds, loadings(one, kept.last.parts_s))
        found[run.family][(*key, training.precision.kind)].append(layout)
    return {family: list(members.values()) for family, members in found.items()}


def pairs(layouts: Sequence[Layout]) -> Iterator[Pair]:
    for one, other in combinations(layouts, 2):
        if one.predicted != other.predicted and one.measured != other.measured:
            first, second = (one, other) if one.measured < other.measured else (other, one)
            ratio = first.predicted / second.predicted
            yield Pair(ratio, shorter(ratio, first.error, second.error))


def losses(found: Mapping[str, Sequence[Pair]]) -> dict[str, tuple[float, float]]:
    """Return by rule the log loss: mean of families, and of all pairs."""
    rules = {"p_faster": lambda pair: pair.chance, "certain": lambda pair: SURE if pair.ratio < 1 else 1 - SURE}
    rules |= {f"spread {sd}": lambda pair, sd=sd: below(-log(pair.ratio) / sd) for sd in SPREADS}
    scores = {}
    for name, rule in rules.items():
        each = {family: [-log(rule(pair)) for pair in ones] for family, ones in found.items()}
        every = [loss for ones in each.values() for loss in ones]
        scores[name] = (sum(sum(ones) / len(ones) for ones in each.values()) / len(each), sum(every) / len(every))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=20, help="runs of a family that are looked at")
    known = groups(parser.parse_args().most)
    found = {family: [pair for one in members for pair in pairs(one)] for family, members in known.items()}
    found = {family: ones for family, ones in found.items() if ones}
    lines = [f"{sum(map(len, found.values())):,} pairs of {len(found)} families"]
    for name, (families, every) in losses(found).items():
        lines.append(f"{name:<12}  mean of families {families:.3f}  all pairs {every:.3f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
