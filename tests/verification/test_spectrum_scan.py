"""Noise along one end of the spectrum: what a bound that takes the dimension is tried on besides isotropic noise."""

import numpy as np

from suffice.bounds import Quantity
from suffice.verification.check import _record, check
from suffice.verification.families import quadratics
from suffice.verification.problem_measure import measured_family


def limit(*, eta, beta):
    return {"eta <= 1/beta": (eta, 1 / beta)}


def isotropic(*, eta, mu, beta, distance2, sigma2, d, T):
    """Exact as T grows for one steep direction, the others flat, and noise that is alike in all."""
    floor = (d - 1) / (mu * (2 - eta * mu)) + 1 / (beta * (2 - eta * beta))
    return (1 - eta * mu) ** (2 * T) * distance2 + eta * sigma2 / d * floor


def anisotropic(*, eta, mu, distance2, sigma2, d, T):
    return (1 - eta * mu) ** (2 * T) * distance2 + eta * sigma2 / (mu * (2 - eta * mu)) + 0 * d


def evidence_of(bound):
    theorem = _record(bound, limit, Quantity.LAST_DISTANCE)[0]
    family = measured_family(quadratics(features=3), theorem)
    values = family.sharp()
    found = family.evidence(values)
    return values, np.where(found.counted(theorem), found.ratio(theorem), 0.0), found


def test_noise_along_the_flat_end_refutes_a_bound_that_counts_on_isotropic_noise():
    values, ratio, found = evidence_of(isotropic)
    aside = (values["noise"] == 1).any(1)
    assert aside.sum() >= 20
    np.testing.assert_allclose(values["noise"].sum(1), 1, rtol=1e-15)
    assert ratio[~aside].max() <= 1 + 1e-9  # isotropic noise does not refute it
    assert ratio[aside].max() > 1.4
    row = int(np.where(aside, ratio, 0).argmax())
    # by hand: the variance along the only direction that has noise
    eta, T, sigma2 = (float(found.arguments[name][row]) for name in ("eta", "T", "sigma2"))
    h = float(values["curvature"][row].ravel()[values["noise"][row].argmax()])
    keep = (1 - eta * h) ** 2
    np.testing.assert_allclose(found.measured[row], eta**2 * sigma2 * (1 - keep**T) / (1 - keep), rtol=1e-9)
    assert evidence_of(anisotropic)[1].max() <= 1 + 1e-9


def test_a_check_finds_it_and_says_what_noise_was_left_out():
    family = quadratics(features=2, longest=200)
    options = {"conditions": limit, "quantity": "last_distance", "family": family}
    found = check(isotropic, **options)
    assert found.outcome.value == "violated"
    worst = found.counterexample
    given, share = worst["arguments"], np.array(worst["values"]["noise"])
    assert (share.max(), share.sum(), given["distance2"]) == (1, 1, 0)
    keep = (1 - given["eta"] * np.ravel(worst["values"]["curvature"])[share.argmax()]) ** 2
    by_hand = given["eta"] ** 2 * given["sigma2"] * (1 - keep ** given["T"]) / (1 - keep)
    np.testing.assert_allclose(float(worst["measured"]), by_hand, rtol=1e-12)
    assert worst["measured"] > worst["bound"]
    assert "neither isotropic nor along one end of the spectrum" in found.not_tried

    def plain(*, eta, mu, distance2, sigma2, T):
        return anisotropic(eta=eta, mu=mu, distance2=distance2, sigma2=sigma2, d=1, T=T)

    assert "noise that is not isotropic" in check(plain, **options).not_tried
