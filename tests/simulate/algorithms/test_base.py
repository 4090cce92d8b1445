"""An algorithm of a user's own: what has a default, and what is refused."""

from __future__ import annotations

import pytest

from suffice.bounds import InputError
from suffice.simulate import Algorithm, Quadratics, run


class Still(Algorithm):
    """Every model stays where it is."""

    name = "still"
    linear = True

    def init(self, problem, models):
        return {"models": models}

    def step(self, problem, state, draw, eta):
        return state


class Unsaid(Still):
    def __getattribute__(self, name):
        if name == "linear":
            raise AttributeError(name)
        return super().__getattribute__(name)


PROBLEM = Quadratics.of([[[1.0]], [[2.0]]], [[0.0], [1.0]], sigma2=1.0, start=[2.0])


def test_costs_have_defaults():
    trace = run(PROBLEM, Still(), iterations=3, eta=0.1, seeds=2)
    assert trace.oracle_calls.tolist() == [0, 2, 4, 6]
    assert trace.vectors_sent.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("given", "remedy"),
    [(Still, r"give an instance: Still\(\)"), ("still", "such as Local"), (Unsaid(), "say linear = True where")],
)
def test_what_is_no_algorithm_is_refused(given, remedy):
    with pytest.raises(InputError, match=remedy):
        run(PROBLEM, given, iterations=1, eta=0.1, seeds=1)
