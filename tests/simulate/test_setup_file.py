"""The setup file's three sources, and what its [data] table says."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

TARGET = "[target]\nepsilon = [0.1, 0.05]\nhorizon = 50\nconfidence = 0.01\n"
EYES = np.tile(np.eye(2), (3, 1, 1))
LIBSVM = "".join(f"{1 if j % 3 else -1} 1:{j % 7} 2:{(j * j) % 5}\n" for j in range(40))


def setup(tmp_path, text: str) -> sf.Constants:
    path = tmp_path / "s.toml"
    path.write_text(text + TARGET)
    return sf.read_setup(path)


def test_a_data_table_gives_what_read_gives(tmp_path):
    (tmp_path / "t.svm").write_text(LIBSVM)
    chosen = setup(
        tmp_path,
        '[data]\npath = "t.svm"\nloss = "logistic"\nregularisation = 0.2\nsplit = "iid:3"\nseed = 5\nbatch = 2\n'
        'standardise = "pooled"\nintercept = false\npositive = -1\n',
    )
    same = sf.read(
        tmp_path / "t.svm", loss="logistic", regularisation=0.2, split="iid:3", seed=5, batch=2, standardise="pooled",
        intercept=False, positive=[-1],
    )  # fmt: skip
    assert (chosen.epsilon, chosen.horizon, chosen.confidence) == ([0.1, 0.05], 50, 0.01)
    np.testing.assert_array_equal(chosen.source.optimum, same.optimum)
    np.testing.assert_array_equal(chosen.source.sigma2, same.sigma2)
    assert (chosen.source.batch, chosen.source.features) == (2, 2)


def test_embedded_sets_are_named_in_place_of_a_path(tmp_path):
    chosen = setup(tmp_path, '[data]\npath = "sklearn:diabetes"\nsplit = "contiguous:4"\n')
    assert chosen.source.clients == 4
    assert chosen.source.features == 11


def test_a_stream_is_given_by_its_moments(tmp_path):
    H, theta = np.diag([1.0, 0.5]), np.array([[1.0, 0.0], [0.9, 0.0], [-1.0, 0.0]])
    np.savez(tmp_path / "p.npz", H=H, theta_star=theta, label_noise=np.array([0.1, 0.2, 0.3]), batch=np.array(3))
    chosen = setup(tmp_path, '[problem]\nkind = "least-squares"\nfile = "p.npz"\n').source
    same = sf.plan(chosen, 0.1)
    np.testing.assert_allclose(chosen.optimum, theta)
    np.testing.assert_allclose(chosen.label_noise, [0.1, 0.2, 0.3])
    assert chosen.batch == 3
    np.testing.assert_allclose([row.local_variance for row in same], chosen.sigma2)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"theta_star": np.zeros((2, 2)), "H": -np.eye(2)}, "positive definite"),
        ({"theta_star": np.zeros((2, 3)), "H": np.eye(2)}, "theta_star"),
        ({"theta_star": np.zeros((2, 2)), "H": np.eye(2), "batch": np.array(1.5)}, "batch"),
        ({"theta_star": np.zeros((2, 2)), "H": np.eye(2), "w": np.zeros(1)}, "the file has arrays H, theta_star"),
        ({"A": EYES, "xi": np.zeros((3, 2)), "sigma": -np.ones(3)}, r"sigma = -1\.0"),
        ({"A": EYES * (1 + 1j), "xi": np.zeros((3, 2)), "sigma": np.ones(3)}, "real numbers"),
    ],
)
def test_mistakes_in_arrays_of_a_problem_are_named(tmp_path, arrays, message):
    np.savez(tmp_path / "p.npz", **arrays)
    kind = "quadratic" if "A" in arrays else "least-squares"
    with pytest.raises(sf.InputError, match=message):
        setup(tmp_path, f'[problem]\nkind = "{kind}"\nfile = "p.npz"\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[constants]\nnames = ["a", "b", "c"]\nmu = 1\nbeta = [2, 2, 2]\nsigma = 1.0\nb = [[0, 1], [3, 0]]\n',
            "constants.b = '2 clients': 3 in names, beta; give one number",
        ),
        (
            "[constants]\nmu = 1\nbeta = 2\nsigma2 = 1.0\nb = [[0]]\n",
            "unknown key sigma2 .*mean sigma .the square root",
        ),
        ("[target]\neps = 0.1\n", "unknown key eps .*did you mean epsilon"),
        ("[criterion]\nkindd = 'binary'\n", "unknown key kindd .*did you mean kind"),
    ],
)
def test_what_is_wrong_with_constants_and_what_a_key_should_be_is_said(tmp_path, text, message):
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(sf.InputError, match=message):
        sf.read_setup(tmp_path / "wrong.toml", target=False)


def test_quadratics_and_constants_are_read_as_before(tmp_path):
    A, xi = np.eye(2)[None].repeat(2, 0), np.array([[0.0, 0.0], [0.1, 0.0]])
    np.savez(tmp_path / "q.npz", A=A, xi=xi, sigma=np.ones(2), theta0=np.ones(2))
    chosen = setup(tmp_path, '[problem]\nkind = "quadratic"\nfile = "q.npz"\n').source
    np.testing.assert_array_equal(chosen.start, np.ones((2, 2)))
    constants = setup(tmp_path, "[constants]\nmu = 1\nbeta = 2\nsigma = [1.0, 2.0]\nb = [[0, 1], [3, 0]]\n").source
    np.testing.assert_array_equal(constants.sigma2, [1, 4])
    np.testing.assert_array_equal(constants.heterogeneity.b2, [[0, 1], [9, 0]])


def test_a_list_that_is_not_one_is_told_to_stand_in_brackets(tmp_path):
    with pytest.raises(sf.InputError, match=r"at data.drop; write it in brackets"):
        setup(tmp_path, '[data]\npath = "t.csv"\ndrop = "x"\n')
