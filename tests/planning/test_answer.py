"""The first line of a plan says what its rows do, over drawn times, peers and kinds of plans."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from client_data import near_and_far

import suffice as sf
from suffice.planning.tables.answer import answer
from suffice.simulate.setup_file import read_setup

SAID = re.compile(
    r"(?:At (?P<at>\S+): )?(?:"
    r"train (?:all )?(?P<many>\d+)(?: of (?P<all>\d+))? clients with (?P<least>\d+)(?: to (?P<most>\d+))? others?: "
    r"(?P<bound>at most )?(?P<together>\S+) iterations?(?P<median> in the median)? where "
    r"(?:it takes (?:at most )?(?P<alone>\S+) alone|alone no time is known for (?P<unknown>\d+) of them)"
    r"|train (?:each|the only) client alone: (?:at most )?(?P<none>\S+) iterations?(?: in the median)?"
    r"|no time is known for (?P<nobody>\d+) of (?P<clients>\d+) clients)"
    r"(?:; (?P<same>\d+) gains? nothing by others)?(?:; (?P<there>\d+) starts? there already)?"
    r"(?:; (?P<lost>\d+) ha(?:s|ve) no known time)?(?P<estimated>; nothing of this is guaranteed)?\."
)


@pytest.fixture(scope="module")
def plans():
    """An exact plan, and one of constants alone."""
    setup = Path(__file__).parents[2] / "examples" / "constants.toml"
    return sf.plan(near_and_far(4), "30%"), sf.plan(read_setup(setup).source, 0.05)


def drawn(row, rng, kind):
    """With drawn times, None among them, and drawn peers; the times of guaranteed plans are hitting times."""
    together, alone = (None if rng.random() < 0.2 else int(rng.integers(0, 30)) for _ in range(2))
    members = [k for k in range(len(row.names)) if k == row.client or rng.random() < 0.4]
    if alone == 0 or (alone is None and len(members) == 1):  # nobody helps, or the start is enough
        together = alone
    if kind == "exact":
        plan = replace(
            row.exact, iterations=together, weights=np.isin(np.arange(len(row.names)), members).astype(float)
        )
        return replace(row, exact=plan, exact_local=replace(row.exact_local, iterations=alone)), together, alone
    made = [one._replace(fixed_weights=None, hitting=one.hitting | {"expected_iterations": time})
            for one, time in ((row.schedules, together), (row.local, alone))]  # fmt: skip
    return replace(row, schedules=made[0], local=made[1], cluster=tuple(members)), together, alone


@pytest.mark.parametrize("kind", ["exact", "guaranteed"])
def test_it_is_what_the_rows_say(plans, kind):
    rng, seen = np.random.default_rng(0), set()
    for _ in range(300):
        base = plans[kind == "guaranteed"].rows[: int(rng.integers(1, 5))]
        found = [drawn(row, rng, kind) for row in base]
        rows, refused = [row for row, _, _ in found], bool(rng.random() < 0.3)
        rows = [replace(row, refusal="noise has no bound" * refused) for row in rows]
        text = answer({"10%": rows, "1%": rows} if rng.random() < 0.2 else {"10%": rows})
        busy = [one for one in found if one[2] != 0]
        if not busy:
            assert text == ""
            continue
        said = SAID.fullmatch(text[0].lower() * (text[:3] != "At ") + text[text[:3] != "At " :])
        assert said, text
        helped = [(len(row.peers(kind)), t, a) for row, t, a in busy
                  if row.peers(kind) and t is not None and (a is None or t < a)]  # fmt: skip
        lost = [one for one in busy if one[1] is None and one[2] is None]
        same = len(busy) - len(helped) - len(lost)
        assert bool(said["estimated"]) == (refused and kind == "guaranteed"), text
        if helped:
            peers, times, alone = zip(*helped)
            assert (int(said["many"]), int(said["all"] or said["many"])) == (len(helped), len(found))
            assert (int(said["least"]), int(said["most"] or said["least"])) == (min(peers), max(peers))
            np.testing.assert_allclose(float(said["together"]), np.median(times))
            assert bool(said["median"]) == (len(helped) > 1)
            assert bool(said["bound"]) == (kind == "guaranteed")
            if None in alone:
                assert int(said["unknown"]) == alone.count(None)
            else:
                np.testing.assert_allclose(float(said["alone"]), np.median(alone))
            assert int(said["same"] or 0) == same, text
        elif same:
            others = [a for row, _, a in busy if a is not None]
            np.testing.assert_allclose(float(said["none"]), np.median(others))
        else:
            assert (int(said["nobody"]), int(said["clients"])) == (len(lost), len(found))
        if helped or same:
            assert int(said["lost"] or 0) == len(lost), text
        assert int(said["there"] or 0) == len(found) - len(busy), text
        seen.add((bool(helped), bool(same), bool(lost)))
    assert len(seen) >= 6


def test_it_is_printed_first_and_only_where_there_is_something_to_say(plans):
    for plan in plans:
        assert " ".join(str(plan).split()).startswith(plan.answer)
        assert plan.answer
    there = sf.plan(near_and_far(4), "300%")
    assert there.answer == ""
    assert str(there).startswith("Nothing to plan")
