"""All-for-one: paths against a plain transcription."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import D, N, assert_follows, built

import suffice as sf
from suffice.bounds import Binary, Continuous, Custom
from suffice.simulate import DebiasedSimilarity, ExactSimilarity, Randomness, ReleasedSimilarity, SampledSimilarity

RULES = {
    "custom normalised": sf.AllForOne(criterion=Custom(function=lambda x: x**2), normalised=True),
    "sampled": sf.AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=4)),
    "debiased": sf.AllForOne(criterion=Binary(threshold=0.4), similarity=DebiasedSimilarity(samples=3)),
    "released continuous": sf.AllForOne.released(binary=False),
    "every third": sf.AllForOne(criterion=Continuous(), refresh=3),
}


@pytest.mark.parametrize(("name", "phi"), [("custom normalised", np.square), ("every third", np.positive)])
def test_paths_are_those_of_a_plain_transcription(name, phi):
    """The other rules are followed by the compiled kernel, in tests/simulate/kernels, with variances that differ."""
    rule = RULES[name]

    def plain(at, x, known=None):
        if not at.t:
            return x, known
        slopes = at.slopes(x)
        own = np.einsum("siid->sid", slopes)[:, :, None]
        if (at.t - 1) % rule.refresh == 0:
            known = np.clip(1 - ((slopes - own) ** 2).sum(-1) / (own**2).sum(-1), 0, 1)
        weights = phi(known)
        alpha = weights / (weights * (1 if rule.normalised else known)).sum(-1, keepdims=True)
        return x - at.eta * np.einsum("sik,sikd->sid", alpha, at.peers(x)), known

    assert_follows(rule, plain)


@pytest.mark.parametrize("name", ["sampled", "debiased", "released continuous"])
def test_samples_for_the_weights_are_not_those_of_the_step(name):
    draw = RULES[name].draw(built(), Randomness(seeds=torch.arange(4)), 3)
    noise, samples = draw.noise.flatten().numpy(), draw.extra["similarity"].flatten().numpy()
    assert len(np.intersect1d(noise, samples)) == 0
    assert draw.extra["similarity"].shape == (4, N, RULES[name].similarity.samples, D)


def test_peers_at_rest_with_us_are_similar_and_no_signal_means_no_others():
    rest = sf.Quadratics.of(np.ones((2, 1, 1)), np.zeros((2, 1)), sigma2=0.0)
    apart = sf.Quadratics.of(np.ones((2, 1, 1)), [[0.0], [1.0]], sigma2=0.0)
    for rule in (DebiasedSimilarity(), SampledSimilarity(), ReleasedSimilarity(), ExactSimilarity()):
        for problem, theta, expected in ((rest, rest.start, np.ones((2, 2))), (apart, -apart.xi, np.eye(2))):
            ratio = rule.ratio(problem, theta[None], rule.draw(problem, Randomness(seeds=torch.arange(1)), 1))
            np.testing.assert_array_equal(ratio[0], expected)
