"""Every bound of the table has its verdict, and its wrong variants are refuted."""

from __future__ import annotations

import pytest

import suffice as sf

from .bounds import BOUNDS

NAMES = [bound.function.__name__ for bound in BOUNDS]


def judged(bound, function):
    return sf.check(function, **{"family": bound.family, **bound.call})


def test_the_table_has_forty_short_bounds_of_twenty_papers():
    assert len(set(NAMES)) == len(NAMES) >= 40
    assert len({bound.paper for bound in BOUNDS}) >= 20
    for bound in BOUNDS:
        assert len(bound.text().splitlines()) <= 13, bound.function.__name__  # twelve, and a blank one
        assert len(bound.wrong) == 2


CASES = [(bound, at) for bound in BOUNDS for at in (0, 1, 2)]


@pytest.mark.share(28)
@pytest.mark.parametrize(("bound", "at"), CASES, ids=[f"{bound.function.__name__} {at}" for bound, at in CASES])
def test_a_printed_bound_stands_and_its_wrong_variants_do_not(bound, at):
    verdict = judged(bound, [bound.function, *bound.variants()][at])
    if at:
        assert verdict.outcome.value == "violated"
    else:
        assert verdict.outcome.value == bound.outcome, str(verdict)
        assert verdict.worst_ratio == pytest.approx(bound.ratio, rel=0.01)


@pytest.mark.parametrize(
    "name", ["schmidt_le_roux", "vaswani_3", "vaswani_6", "vaswani_8", "khaled_richtarik_2", "khaled_richtarik_3"]
)
def test_only_noise_that_grows_refutes_the_second_variant(name):
    bound = BOUNDS[NAMES.index(name)]
    none = {"rho": lambda: 1.0, "B2": lambda: 1.0, "A": lambda: 0.0, "B": lambda: 1.0}
    names = {letter: none.get(letter, meant) for letter, meant in bound.call["names"].items()}
    assert sf.check(bound.variants()[1], **{"family": bound.family, **bound.call, "names": names}).valid
