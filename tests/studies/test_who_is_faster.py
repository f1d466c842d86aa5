"""How surely one prediction is shorter than another: what both share cancels, and chances of all sum to 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.outcome.difference import SURE, SURPRISE, Loadings, apart, covariance, loadings, shorter
from simulator.outcome.student import quantile
from simulator.scenario import from_dict
from simulator.simulation import simulate
from simulator.studies import chances
from simulator.studies.faster import less

PARTS = {"compute": 8.0, "tensor": 1.0, "data": 1.0}
RUN = {
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 4},
    "stack": "megatron-core-2024",
    "training": {"tokens": "10G", "sequence_length": 4096, "global_batch": 64, "microbatch": 1},
    "parallelism": {"tensor": 2, "pipeline": 2},
    "failures": {"preset": "llama3", "scale": 50},
    "runs": 5,
}
loads = st.builds(
    Loadings,
    st.dictionaries(st.sampled_from([("run",), ("gpu", "a"), ("gpu", "b"), ("term",)]), st.floats(0.01, 0.5)),
    st.floats(0.01, 0.3),
    st.sampled_from([("here",), ("there",)]),
    st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(float)),
    st.tuples(st.sampled_from(["none", "full"])),
    st.floats(-0.3, 0.3),
)
ratios = st.floats(0.2, 5.0)


def scenario(**changes: object):
    return from_dict(RUN | changes)


def errors(**changes: object) -> Loadings:
    return loadings(scenario(**changes), PARTS)


@given(loads, ratios)
def test_a_prediction_beside_itself_is_even_and_a_ratio_decides_what_is_given(one, ratio):
    assert apart(one, one) == 0
    assert shorter(1.0, one, one) == 0.5
    assert shorter(ratio, SURE, SURE) == (1.0 if ratio < 1 else 0.0 if ratio > 1 else 0.5)


@given(loads, loads, ratios)
def test_one_of_two_is_shorter(one, other, ratio):
    assert shorter(ratio, one, other) + shorter(1 / ratio, other, one) == pytest.approx(1)


@given(loads, loads, ratios, st.floats(0.5, 0.99))
def test_less_is_never_less_likely_to_be_shorter(one, other, ratio, times):
    assert shorter(times * ratio, one, other) >= shorter(ratio, one, other) - 1e-12


@given(st.lists(loads, min_size=1, max_size=8))
def test_errors_of_any_predictions_have_a_distribution(ones):
    assert np.linalg.eigvalsh(covariance(ones)).min() > -1e-9


@given(st.floats(0.05, 0.5), st.floats(0.05, 0.5), st.floats(0.05, 0.5))
def test_a_common_cause_cancels_and_others_add_as_squares(common, mine, its):
    one = Loadings({("both",): common, ("mine",): mine}, 0.0)
    other = Loadings({("both",): common, ("its",): its}, 0.0)
    assert apart(one, other) ** 2 == pytest.approx(mine**2 + its**2)
    assert shorter(np.exp(-quantile(0.9) * apart(one, other)), one, other) == pytest.approx(
        (1 - SURPRISE) * 0.9 + SURPRISE / 2
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(1, 2), loads), min_size=1, max_size=12))
def test_chances_to_be_the_best_sum_to_one(ones):
    found = chances.best([seconds for seconds, _ in ones], [error for _, error in ones], 0)
    assert sum(found) == pytest.approx(1)
    assert min(found) > 0


def test_of_two_layouts_the_chance_to_be_the_best_is_that_to_be_the_shorter():
    one, other = errors(), errors(parallelism={"tensor": 4, "pipeline": 2})
    first, second = chances.best([1.0, 1.03], [one, other], 0)
    assert first == pytest.approx(shorter(1 / 1.03, one, other), abs=0.03)
    assert first > second


def test_two_layouts_differ_by_less_than_two_clusters():
    here = errors()
    layout = errors(parallelism={"tensor": 4, "pipeline": 2})
    cluster = errors(cluster={"host": "dgx-a100", "hosts": 4})
    foreign = errors(cluster={"host": "hls-gaudi-2", "hosts": 4}, stack="generic")
    assert 0 < apart(here, layout) < apart(here, cluster) < apart(here, foreign)
    assert apart(here, errors(parallelism={"tensor": 4, "pipeline": 4})) > apart(here, layout)


def test_what_is_unknown_of_an_accelerator_cancels_between_layouts_on_it():
    foreign = {"cluster": {"host": "hls-gaudi-2", "hosts": 4}, "stack": "generic"}
    one, other = errors(**foreign), errors(**foreign, parallelism={"tensor": 4, "pipeline": 2})
    vendor = max(sd for cause, sd in one.causes.items() if cause[0] == "vendor")
    assert apart(one, other) < vendor


def test_more_exposed_traffic_is_less_sure():
    one = loadings(scenario(), PARTS)
    more = loadings(scenario(), PARTS | {"data": 4.0})
    assert apart(one, more) > 0 == apart(one, loadings(scenario(), PARTS))


def test_days_and_dollars_compare_by_all_that_is_not_known():
    first = scenario()
    told = first, simulate(first)
    same = scenario()
    for figure in ("step time", "days", "dollars"):
        assert less(told, (same, simulate(same)), figure) == 0.5
    cheaper = scenario(prices={"gpu_hour": "$0.01"})
    assert less(told, (cheaper, simulate(cheaper)), "dollars") == 1.0
    double = scenario(cluster={"host": "hgx-h100", "hosts": 8})
    other = double, simulate(double)
    assert 0.9 < (less(told, other, "days") or 0) < 1
    assert (less(told, other, "days") or 0) + (less(other, told, "days") or 0) == pytest.approx(1)
    longer = scenario(training=RUN["training"] | {"global_batch": 128})
    assert less(told, (longer, simulate(longer)), "step time") is None
