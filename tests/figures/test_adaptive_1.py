"""Figure 1: exact jumps, both editions, and files that hold what was drawn."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from suffice import InputError
from suffice.bounds import QuadraticCertificate
from suffice.figures import figure
from suffice.figures.adaptive_1 import DRAW, HIGH, LOW, estimated_mu, size_at
from suffice.figures.figure import SEPARATOR
from suffice.figures.regression import SAMPLES
from suffice.simulate import Randomness, Stream

CLIENTS, FEATURES = 20, 10
PUBLISHED_PICTURE = {  # read off the published figure, reproduction.md section 1
    "0.001": {1e-5: 14, 1e-4: 20, 1e-3: 20},
    "0.01": {1e-5: 1, 1e-4: 1, 1e-3: 10, 1e-2: 20, 1e-1: 20},
    "0.1": {1e-3: 1, 1e-2: 1, 1e-1: 10, 1.0: 20, 10.0: 20},
    "1": {1e-1: 1, 1.0: 1, 10.0: 10},
}


@pytest.fixture(scope="module")
def stated():
    return figure("adaptive-1", edition="stated")


@pytest.fixture(scope="module")
def published():
    return figure("adaptive-1", edition="published")


@pytest.fixture(scope="module")
def saved(published, tmp_path_factory):
    return published.save(tmp_path_factory.mktemp("figures") / "new folder")


def one(drawn, spread):
    return drawn.data[SEPARATOR.join((spread, DRAW))]["epsilon"]


@pytest.mark.parametrize("curve", PUBLISHED_PICTURE)
def test_every_published_point_lies_within_the_spread_of_draws(published, curve):
    for epsilon, size in PUBLISHED_PICTURE[curve].items():
        fewest, most = (size_at(published.data[SEPARATOR.join((curve, side))], epsilon) for side in (LOW, HIGH))
        assert fewest <= size <= most


def test_stated_clusters_are_smaller_by_exactly_the_forgotten_factor(stated, published):
    # b^2 is 4 |xi_i - xi_k|^2, the code has 2: entries are twice as late, up to the code's estimate of mu = 2
    for curve in PUBLISHED_PICTURE:
        ratio = one(stated, curve)[1:] / one(published, curve)[1:]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
        assert 2 * 0.9 < ratio[0] < 2


def test_jumps_of_the_seeded_draw_are_the_squared_distances(stated):
    import torch

    xi = Randomness(seeds=torch.arange(1)).normal(iteration=0, stream=Stream.DATA, clients=CLIENTS, features=FEATURES)
    distance2 = np.sort(((xi[0] - xi[0, 0]) ** 2).sum(-1).numpy())
    # R = |theta - theta_i|^2: |grad gap|^2 = 4 v^2 |xi_i - xi_k|^2 <= 2 mu eps = 4 eps
    np.testing.assert_allclose(one(stated, "0.1"), 0.01 * distance2, rtol=1e-12)


def test_each_jump_is_where_the_certificate_turns_positive(stated):
    import torch

    v = 0.1
    xi = v * Randomness(seeds=torch.arange(1)).normal(
        iteration=0, stream=Stream.DATA, clients=CLIENTS, features=FEATURES
    )
    certificate = QuadraticCertificate(A=np.tile(np.eye(FEATURES), (CLIENTS, 1, 1)), xi=-xi[0].numpy())
    jumps = one(stated, "0.1")[1:]
    assert len(jumps) == CLIENTS - 1
    for rank, epsilon in enumerate(jumps, start=1):
        below, above = (
            certificate.similarity(np.full(CLIENTS, 4 * epsilon * nudge))[0] for nudge in (1 - 1e-9, 1 + 1e-9)
        )
        assert ((below > 0).sum(), (above > 0).sum()) == (rank, rank + 1)


def test_estimated_mu_has_the_law_of_ten_thousand_rows():
    import torch

    direct = []
    for seed in range(40):
        rows = Randomness(seeds=torch.tensor([seed]), root=9).normal(
            iteration=0, stream=Stream.DATA, clients=SAMPLES, features=FEATURES
        )[0]
        direct.append(2 * np.linalg.eigvalsh((rows.T @ rows / SAMPLES).numpy())[0])
    bartlett = estimated_mu(range(1000), FEATURES)
    # two-sample z-test; |z| > 6 has probability 2e-9
    z = (np.mean(direct) - bartlett.mean()) / np.hypot(np.std(direct) / np.sqrt(40), bartlett.std() / np.sqrt(1000))
    assert abs(z) < 6
    assert 0.5 < np.std(direct) / bartlett.std() < 2


def test_saving_writes_four_files_and_the_csv_holds_every_jump(published, saved):
    assert sorted(saved[0].parent.iterdir()) == sorted(saved)
    assert {path.suffix for path in saved} == {".pdf", ".png", ".csv", ".json"}
    rows = list(csv.reader(next(path for path in saved if path.suffix == ".csv").read_text().splitlines()))
    assert rows[0] == ["spread", "statistic", "epsilon", "size"]
    assert len(rows) == 1 + 16 * CLIENTS
    stored = np.array([float(row[2]) for row in rows[1:] if row[:2] == ["0.01", DRAW]])
    np.testing.assert_array_equal(stored, one(published, "0.01"))
    about = json.loads(next(path for path in saved if path.suffix == ".json").read_text())
    assert about["edition"] == "published"
    assert about["setup"]["draws"] == 1000
    assert {"suffice", "numpy", "torch"} <= set(about["versions"])


def test_a_folder_with_the_other_edition_is_refused(stated, saved):
    kept = {path: path.read_bytes() for path in saved}
    with pytest.raises(InputError, match="holds adaptive-1 as published"):
        stated.save(saved[0].parent)
    assert {path: path.read_bytes() for path in kept} == kept


def test_the_same_figure_saved_twice_is_the_same_file(published, saved):
    first = {path: path.read_bytes() for path in saved}
    assert {path: path.read_bytes() for path in published.save(saved[0].parent)} == first


@pytest.mark.parametrize(("name", "edition"), [("adaptive-2", "stated"), ("adaptive-1", "corrected")])
def test_unknown_names_and_editions_are_refused(name, edition):
    with pytest.raises(InputError, match=name if name != "adaptive-1" else edition):
        figure(name, edition=edition)
