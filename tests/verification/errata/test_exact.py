"""Refuted statements whose numbers are fractions: a second route to the numbers of an erratum, re-checked exactly."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.errata import ERRATA
from suffice.verification.errata.exact import EXACT, exact
from suffice.verification.recheck import refusal

KNOWN = {entry.id: entry for entry in ERRATA}


@pytest.mark.parametrize("name", EXACT)
def test_both_numbers_are_those_that_the_erratum_computes_and_the_refutation_is_re_checked(name):
    one, entry = EXACT[name], KNOWN[name]
    found = entry.compute()
    # 1e-9: one instance reads the factor of a model off the square of a small distance
    np.testing.assert_allclose(
        [float(n) for n in one.numbers()], [found.printed, found.measured], rtol=1e-9, atol=1e-12
    )
    certificate = one.certificate(entry)
    assert refusal(certificate) == ""
    claim = certificate["claim"]
    assert "exceed" in refusal({**certificate, **_hashed({**claim, "left": claim["right"], "right": claim["left"]})})


def _hashed(claim):
    from suffice.verification.recheck import digest

    return {"claim": claim, "sha256": digest(claim)}


def test_every_keyword_has_its_number():
    with pytest.raises(ValueError, match="are the keywords"):
        exact(1, lambda x: x, y=1)
