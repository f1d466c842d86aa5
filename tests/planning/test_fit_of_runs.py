"""Laws fitted to runs: the miniature study, constants recovered from runs that a law made, honest intervals."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.errors import ScenarioError
from simulator.random import stream
from simulator.studies.plan.fit.fitted import fitted, track
from simulator.studies.plan.fit.frontier import frontier
from simulator.studies.plan.fit.isoflop import isoflop
from simulator.studies.plan.fit.runs import TrainingRuns, parse, runs
from simulator.studies.plan.laws.base import Choice
from simulator.studies.plan.laws.besiroglu_2024 import Besiroglu

TOKENS = (51_200, 102_400, 204_800, 409_600, 819_200, 1_228_800, 1_638_400)
STUDY = {
    12_288: (3.43, 3.01, 2.70, 2.50, 2.36, 2.24, 2.14),
    55_296: (3.14, 2.86, 2.55, 2.38, 2.20, 2.01, 1.89),
    221_184: (2.92, 2.61, 2.40, 2.17, 1.85, 1.69, 1.59),
    589_824: (2.82, 2.50, 2.34, 2.01, 1.68, 1.56, 1.48),
    1_769_472: (2.68, 2.44, 2.23, 1.87, 1.60, 1.49, 1.43),
}
"""Byte-level GPTs on the source of Python's standard library: validation loss after so many tokens."""
TRUE = Besiroglu()
CONSTANTS = ("e", "a", "b", "alpha", "beta", "exponent")


def study() -> TrainingRuns:
    return runs(
        [(size, tokens, loss) for size, losses in STUDY.items() for tokens, loss in zip(TOKENS, losses, strict=True)]
    )


def made(count: int, noise: float, seed: int) -> TrainingRuns:
    """Return runs as Chinchilla's, with losses of the true law and lognormal noise."""
    random = stream(seed, "made runs")
    sizes = np.exp(random.uniform(np.log(5e7), np.log(1.6e10), count))
    tokens = np.exp(random.uniform(np.log(1e18), np.log(3e21), count)) / (6 * sizes)
    losses = [TRUE.loss(Choice(*one)) for one in zip(sizes, tokens, strict=True)]
    return runs(list(zip(sizes, tokens, losses * np.exp(noise * random.standard_normal(count)), strict=True)))


def test_the_frontier_of_the_miniature_study_has_15_points_and_exponent_minus_0_102():
    edge = frontier(study())
    assert len(edge.flops) == 15
    assert edge.exponent == pytest.approx(-0.102, abs=0.0005)


def test_best_sizes_of_the_miniature_study_grow_with_the_budget():
    slices = isoflop(study(), (1e10, 3e10, 1e11, 3e11, 1e12, 3e12)).slices
    assert [one.best for one in slices] == [12_288, 12_288, 12_288, 55_296, 221_184, 589_824]


def test_runs_without_noise_give_their_constants_back():
    found = fitted(made(60, 0.0, 1), resamples=0).law
    for name in CONSTANTS:
        assert getattr(found, name) == pytest.approx(getattr(TRUE, name), rel=1e-3)


def test_constants_lie_in_their_intervals():
    found = fitted(made(120, 0.01, 2), resamples=200)
    for name in CONSTANTS:
        interval = found.interval(lambda law, name=name: getattr(law, name))
        assert interval.low <= getattr(TRUE, name) <= interval.high
    assert found.scatter == pytest.approx(0.01, rel=0.3)


def test_a_few_wild_runs_change_little():
    table = made(120, 0.005, 3)
    wild = table.losses.copy()
    wild[::20] *= 1.5
    clean, dirty = (
        fitted(TrainingRuns(table.parameters, table.tokens, losses, table.flops), resamples=0).law
        for losses in (table.losses, wild)
    )
    assert dirty.optimal_parameters(1e22) == pytest.approx(clean.optimal_parameters(1e22), rel=0.1)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    hits = dict.fromkeys((*CONSTANTS, "loss at a bigger budget"), 0)
    for seed in range(100):
        found = fitted(made(60, 0.01, seed), resamples=200, seed=seed)
        for name in CONSTANTS:
            interval = found.interval(lambda law, name=name: getattr(law, name))
            hits[name] += interval.low <= getattr(TRUE, name) <= interval.high
        interval = found.interval(lambda law: law.optimal_loss(1e24))
        hits["loss at a bigger budget"] += interval.low <= TRUE.optimal_loss(1e24) <= interval.high
    assert all(85 <= count <= 95 for count in hits.values()), hits


def test_isoflop_parabolas_find_the_exponent():
    sizes = np.geomspace(0.2, 5, 7)
    rows = []
    for flops in (1e19, 1e20, 1e21):
        best = TRUE.optimum(flops).parameters
        rows += [(n * best, flops / (6 * n * best), TRUE.loss(Choice(n * best, flops / (6 * n * best)))) for n in sizes]
    found = isoflop(runs(rows))
    assert len(found.slices) == 3
    assert found.exponent == pytest.approx(TRUE.exponent, abs=0.01)


def test_the_same_seed_gives_the_same_intervals():
    one, two = (fitted(made(30, 0.01, 4), resamples=20, seed=5) for _ in range(2))
    assert one == two


def test_a_run_is_on_track_behind_or_ahead():
    found = fitted(made(60, 0.01, 6), resamples=100)
    choice = Choice(1e9, 2e10)
    expected = TRUE.loss(choice)
    words = [track(found, choice, expected * factor).word for factor in (1.0, 1.1, 0.9)]
    assert words == ["on track", "behind", "ahead"]


def test_a_table_may_name_its_columns_in_several_ways_and_bring_its_own_flops():
    rows = "\n".join(f"{n},{d},2.5,{7 * n * d}" for n in (1e6, 2e6, 3e6) for d in (1e8, 2e8))
    table = parse(f"N,Tokens,final loss,FLOPs\n{rows}\n", "t.csv")
    assert len(table) == 6
    assert table.flops[0] == pytest.approx(7e14)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "t.csv:1: no column 'params'"),
        ("params,tokens,loss\n1e6,x,2\n", "t.csv:2: tokens: expected a number, found 'x'"),
        ("params,tokens,loss\n1e6,1e8,-1\n", "t.csv:2: loss: expected a number above zero"),
        ("params,tokens,loss\n1e6,1e8,nan\n", "above zero"),
        ("params,tokens,loss\n1e6,1e8,2\n", "at least 6"),
        ("", "no column 'params'"),
    ],
)
def test_a_wrong_table_says_where_it_is_wrong(text, message):
    with pytest.raises(ScenarioError, match=message):
        parse(text, "t.csv")


def test_runs_whose_loss_does_not_fall_have_no_law():
    rows = [(n * 1e8, d * 1e9, 3.0 + 0.1 * d) for n in (1, 3, 10) for d in (2, 6, 20)]
    with pytest.raises(ScenarioError, match="does not fall with parameters and with tokens"):
        fitted(runs(rows), resamples=8)


@pytest.mark.parametrize("cell", ["1e-30", "1e40"])
def test_sizes_of_no_model_are_refused(cell):
    table = "params,tokens,loss\n" + "1e8,2e9,3.1\n" * 8 + f"{cell},2e9,3\n"
    with pytest.raises(ScenarioError, match=r"mine\.csv:10: params: .* is out of bounds for a training run"):
        parse(table, "mine.csv")
