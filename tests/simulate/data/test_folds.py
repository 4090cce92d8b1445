"""Messages are the rows' own quadratic function, however they are joined, shifted and scaled."""

from __future__ import annotations

import numpy as np
import pytest
from populations import draw, folded, table

import suffice as sf
from suffice import InputError
from suffice.simulate.data.folds import FOLDS, Sums, Units

TRUTH = np.array([[1.0, 2.0], [1.1, 1.9], [0.9, 2.2]])


def test_losses_are_those_of_the_rows_and_models_return_to_the_given_units():
    sites = [(100 + 7 * X, 3 * y - 50) for X, y in draw(0, np.ones((3, 2)), 23)]
    folds = folded(sites)
    units = Units.pooled(folds)
    made = units.messages(folds)
    models = np.random.default_rng(1).normal(size=(3, 3))
    slopes, intercepts = units.given(models)
    by_rows = [((y - X @ slope - intercept) ** 2).sum() for (X, y), slope, intercept in zip(sites, slopes, intercepts)]
    np.testing.assert_allclose(made.fits.loss(models)[0] * units.scale[-1] ** 2, by_rows, rtol=1e-10)
    np.testing.assert_allclose(np.mean([x for X, _ in sites for x in X], axis=0), units.mean[:-1], rtol=1e-12)
    np.testing.assert_allclose(np.std([x for X, _ in sites for x in X], axis=0), units.scale[:-1], rtol=1e-12)
    assert made.fits.rows.shape == (1 + FOLDS, 3)
    assert made.fits.rows[2].tolist() == [18.0] * 3  # 23 rows without the second fold of 5


def test_joining_two_parts_is_the_whole_far_from_zero():
    """The naive sum of squares has no correct digit here: 1e9 squared is 1e18, and the variance is 1."""
    rng = np.random.default_rng(2)
    X, y = 1e9 + rng.normal(size=(40, 1)), rng.normal(size=40)
    whole = Sums.of_rows(X, y)
    joined = Sums.zero(2)
    for part in (slice(13), slice(13, None)):
        joined.add((), Sums.of_rows(X[part], y[part]))
    exact = ((X[:, 0] - 1e9) - (X[:, 0] - 1e9).mean()) @ ((X[:, 0] - 1e9) - (X[:, 0] - 1e9).mean())
    np.testing.assert_allclose([whole.products[0, 0], joined.products[0, 0]], exact, rtol=1e-6)
    assert joined.rows == 40


def test_a_single_message_is_never_held_out():
    sites = draw(4, np.ones((2, 1)), 12)
    (X, y), whole = sites[0], Sums.of_rows(*sites[1])
    sums = Sums.of([[Sums.of_rows(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)], [whole]])
    made = Units.pooled(sums).messages(sums)
    assert made.held_out.rows[:, 1].tolist() == [0.0] * FOLDS
    assert made.fits.rows[:, 1].tolist() == [12.0] * (1 + FOLDS)


def test_a_column_that_never_varies_has_no_part():
    sites = [(np.column_stack((X, np.full(len(X), 7.3))), y) for X, y in draw(5, np.ones((2, 1)), 20)]
    units = Units.pooled(folded(sites))
    assert units.constant.tolist() == [False, True, False]
    assert units.messages(folded(sites)).second[..., 2].any() == np.False_


def shifted(column, by, *, back):
    """The same rows with a column moved `by` so much, and perhaps back, both rounded there."""
    made = table(draw(3, TRUTH, 30))
    far = by + np.array(made[column])
    return made | {column: (far - by * back).tolist()}


@pytest.mark.share(3)
@pytest.mark.parametrize("column", ["x0", "target"])
@pytest.mark.parametrize("by", [1e6, -1e9, 1e12])
@pytest.mark.parametrize("messages", [False, True])
def test_a_column_may_be_far_from_0(column, by, messages):
    def predicted(made):
        if not messages:
            return sf.fit(made).predict(made)
        sites = [
            {name: values[at : at + 30] for name, values in made.items() if name != "client"} for at in (0, 30, 60)
        ]
        fit = sf.fit([sf.summarise(rows, site=f"s{k}") for k, rows in enumerate(sites)])
        return fit.predict(made)

    near, far = (predicted(shifted(column, by, back=back)) for back in (True, False))
    # x'slope and the intercept are of the size of `by`, and means of it are rounded
    np.testing.assert_allclose(far - (by if column == "target" else 0), near, atol=8 * abs(by) * np.finfo(float).eps)


def test_what_does_not_vary_to_12_digits_is_refused_in_true_words():
    made = shifted("target", 1e15, back=False)
    with pytest.raises(InputError, match="the same in every row to 12 digits"):
        sf.fit(made)
    fit = sf.fit(shifted("x0", 1e15, back=False))
    assert fit["s0"].coefficients["x0"] == 0
    assert "x0: the same in all rows to 12 digits, so its coefficient is 0" in fit.left_out


@pytest.mark.parametrize("by", [0.0, 1e9, 1e14])
def test_moments_are_those_about_the_mean(by):
    """Beside exact sums in integers, of values that are multiples of 2^-10, or of 1 where these are no doubles."""
    step = 2.0**-10 if by < 1e12 else 1.0
    whole = np.random.default_rng(0).integers(-4000, 4000, (1000, 2))
    fold = Sums.of_rows(by + step * whole[:, :1], by + step * whole[:, 1])
    sums, n = whole.sum(0), len(whole)
    exact = [[int(n * (a @ b) - p * q) for a, p in zip(whole.T, sums)] for b, q in zip(whole.T, sums)]
    # a mean rounded by eps |by| adds its square n times
    rounding = n * (np.finfo(float).eps * by) ** 2
    np.testing.assert_allclose(fold.products, step**2 * np.array(exact) / n, rtol=1e-12, atol=rounding + 1e-9)
    np.testing.assert_allclose(fold.mean - by, step * sums / n, atol=np.finfo(float).eps * by + 1e-12)


@pytest.mark.parametrize("value", [3.3, 0.1, 1e9 + 0.3, 1e-9 / 3, -7e20])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_constant_has_no_coefficient_whatever_its_digits(value, gaps):
    """Gaps make differences of squares of the column, of which rounding leaves 1e-8 of its size."""
    made = table(draw(3, TRUTH, 30))
    fit = sf.fit(made | {"same": [None if gaps and at % 4 == 1 else value for at in range(90)]})
    assert [model.coefficients["same"] for model in fit] == [0, 0, 0]
    assert any("same in all rows" in note for note in fit.left_out)


def test_sites_constants_with_gaps_are_still_told_apart():
    made = table(draw(3, TRUTH, 30))
    beds = {"s0": 500.1, "s1": 733.3, "s2": 41.7}
    fit = sf.fit(made | {"beds": [None if at % 4 == 1 else beds[site] for at, site in enumerate(made["client"])]})
    assert not any("same in all rows" in note for note in fit.left_out)
    assert fit["s0"].coefficients["beds"] != 0
