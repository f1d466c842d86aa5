"""Every figure of the validation, against numbers worked out by hand."""

from __future__ import annotations

from math import sqrt

import pytest

from simulator.validation import scores


def test_errors_of_five_rows() -> None:
    """Sorted |e| are 0, 0.1, 0.1, 0.2 and 0.5; P90 lies 0.6 of the way from the fourth to the fifth."""
    found = scores.errors([10, 10, 10, 10, 10], [11, 8, 10, 15, 9])
    assert found.count == 5
    assert found.median == pytest.approx(0.1)
    assert found.mape == pytest.approx(0.9 / 5)
    assert found.p90 == pytest.approx(0.2 + 0.6 * 0.3)
    assert found.bias == pytest.approx(0.0)


def test_bias_is_the_median_of_the_signed_error() -> None:
    assert scores.errors([1, 1, 1], [0.9, 0.8, 1.5]).bias == pytest.approx(-0.1)


def test_ranks_of_equal_values_are_shared() -> None:
    assert scores.ranks([5, 1, 5, 7]).tolist() == [2.5, 1, 2.5, 4]


def test_spearman_of_distinct_values_is_one_minus_six_d_squared() -> None:
    """Ranks 1 2 3 4 against 2 1 4 3: d^2 = 4, so 1 - 6 x 4 / (4 x 15)."""
    assert scores.spearman([1, 2, 3, 4], [20, 10, 40, 30]) == pytest.approx(1 - 24 / 60)


def test_spearman_with_a_tie_is_the_correlation_of_ranks() -> None:
    """Ranks 1 2 3 against 1.5 1.5 3: covariance 1.5, variances 2 and 1.5."""
    assert scores.spearman([1, 2, 3], [7, 7, 9]) == pytest.approx(1.5 / sqrt(2 * 1.5))


def test_a_constant_prediction_ranks_nothing() -> None:
    found = scores.ranking([1, 2, 3, 4], [5, 5, 5, 5])
    assert found.spearman == 0
    assert found.regret == pytest.approx(3.0)


def test_regret_is_how_much_slower_the_predicted_best_really_is() -> None:
    found = scores.ranking([2.0, 3.0, 4.0], [5.0, 4.0, 6.0])
    assert found.regret == pytest.approx(0.5)
    assert found.top3 == pytest.approx(0.0)


def test_predictions_within_a_thousandth_of_the_best_are_tied_and_the_slowest_decides() -> None:
    assert scores.ranking([1.0, 1.5], [10.0, 10.009]).regret == pytest.approx(0.5)
    assert scores.ranking([1.0, 1.5], [10.0, 10.011]).regret == pytest.approx(0.0)


def test_equal_predictions_fill_the_first_three_with_the_slowest() -> None:
    assert scores.ranking([1.0, 1.2, 1.3, 1.4], [5.0, 5.0, 5.0, 5.0]).top3 == pytest.approx(0.2)


def test_probabilities_of_four_runs() -> None:
    """0.9 and 0.6 where memory ran out, 0.1 and 0.7 where it did not: three right, half of all tight."""
    found = scores.fit([1, 1, 0, 0], [0.9, 0.6, 0.1, 0.7])
    assert (found.count, found.out_of_memory) == (4, 2)
    assert found.accuracy == pytest.approx(3 / 4)
    assert found.recall == pytest.approx(1.0)
    assert found.false_fits == 0
    assert found.tight == pytest.approx(1 / 2)
    assert found.accuracy_outside_tight == pytest.approx(1.0)
    assert found.brier == pytest.approx((0.01 + 0.16 + 0.01 + 0.49) / 4)


def test_a_run_out_of_memory_that_surely_fitted_is_counted() -> None:
    found = scores.fit([1, 0], [0.1, 0.1])
    assert (found.false_fits, found.recall) == (0.5, 0.0)


def test_coverage_counts_the_ends_of_an_interval() -> None:
    found = scores.coverage([1.0, 2.0, 3.0], [1.0, 2.0, 2.0], [1.0, 1.5, 1.0], [1.5, 2.0, 2.9])
    assert found.share == pytest.approx(2 / 3)
    assert found.width == pytest.approx(0.5)
