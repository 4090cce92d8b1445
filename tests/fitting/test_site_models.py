"""What sites are told of rows unlike those that they had."""

from __future__ import annotations

import numpy as np
import pytest
from populations import draw, folded, table

import suffice as sf
from suffice import InputError
from suffice.fitting.assembly import named
from suffice.fitting.similar_sites import Likeness
from suffice.fitting.table import listed
from suffice.simulate.data.frame import frame_of


def gappy(seed, rows, *, new):
    """Sites far apart in level; gaps at half of the sites only, and each site lacks a level, but not in new rows."""
    rng, draws = np.random.default_rng(seed), np.random.default_rng(100 * seed + new)
    count = int(rng.integers(5, 12))
    level, slope = 4 * rng.normal(size=count), 1 + 0.5 * rng.normal(size=count)
    worth, mark = rng.normal(size=3), rng.normal()
    table, fresh = {"client": [], "x": [], "kind": [], "target": []}, []
    for k in range(count):
        for _ in range(rows):
            x, gap = draws.normal(), draws.random() < (0.3 if new else 0.08 * (k % 2))
            kind = int(draws.choice([j for j in range(3) if new or j != k % 4]))
            table["client"].append(f"s{k}")
            table["x"].append(None if gap else x)
            table["kind"].append("abc"[kind])
            table["target"].append(
                level[k] + slope[k] * x * (not gap) + worth[kind] + mark * gap + 0.5 * draws.normal()
            )
            fresh.append(gap * (k % 2 == 0) or kind == k % 4)
    return table, np.array(fresh)


def rows_of(fit, table):
    return fit.encoding.apply(fit.design.apply(frame_of(table))), np.array(table["client"])


def test_what_a_site_never_had_is_predicted_as_well_as_by_the_population_s_coefficients():
    ours, theirs, pooled = [], [], []
    for seed in range(2, 6):
        table, _ = gappy(seed, 24, new=False)
        test, fresh = gappy(seed, 40, new=True)
        fit, y = sf.fit(table), np.array(test["target"])
        seen, (X, sites) = rows_of(fit, table), rows_of(fit, test)
        predicted, everywhere = fit.scores(X, sites)[:, 0], fit.arrays(None)[0][:, 0]
        swapped = predicted.copy()
        for site in fit.by_name:
            mine, rows = seen[0][seen[1] == site], sites == site
            constant = np.ptp(mine, axis=0) == 0
            step = (everywhere - fit.arrays(site)[0][:, 0])[constant]
            swapped[rows] += (X[rows] - mine.mean(0))[:, constant] @ step
        ones = np.column_stack((np.ones(len(seen[0])), seen[0]))
        shared = np.linalg.lstsq(ones, np.array(table["target"]), rcond=None)[0]
        for losses, values in ((ours, predicted), (theirs, swapped), (pooled, shared[0] + X @ shared[1:])):
            losses.append(((values - y)[fresh] ** 2).mean())
    ratios = np.array(ours) / np.array(theirs)
    # without the rule one of these tables loses 1.2 times as much
    assert ratios.max() < 1.1, ratios
    assert (np.array(ours) < np.array(pooled)).all()


def test_prediction_says_what_it_does_not_know(tmp_path, command):
    """A level and a site that were not fitted, a blank site; each line has the number that it has in the file."""
    table, _ = gappy(1, 12, new=False)
    sf.fit(table).save(tmp_path / "m.json")
    (tmp_path / "new.csv").write_text("client,x,kind\ns0,1,a\n,2,west\nBergen,,b\n")
    done = command("predict", tmp_path / "m.json", tmp_path / "new.csv")
    assert done.returncode == 0
    assert [line.rpartition(",")[0] for line in done.stdout.split()] == ["line,site", "2,s0", "3,", "4,Bergen"]
    assert "population's model: rows without a site, Bergen" in done.stderr
    assert done.stderr.count("kind = west: predicted as kind=") == 1
    kept = command("predict", tmp_path / "m.json", tmp_path / "new.csv", "--keep").stdout.split()
    shown = [line.rpartition(",") for line in kept]
    assert [row for row, _, _ in shown] == (tmp_path / "new.csv").read_text().split()
    values = [line.rpartition(",")[2] for line in done.stdout.split()[1:]]
    assert [value for *_, value in shown[1:]] == values
    # a table with semicolons and decimal commas is read as it is, and written back so
    (tmp_path / "new.csv").write_text("client;x;kind\ns0;1,0;a\n;-2,5;west\n")
    header, first, second = command("predict", tmp_path / "m.json", tmp_path / "new.csv", "--keep").stdout.split()
    assert header == "client;x;kind;prediction"
    assert first == f"s0;1,0;a;{values[0].replace('.', ',')}"
    assert second.startswith(";-2,5;west;")


def test_a_site_that_decides_the_network_s_gain_is_named():
    """Four rows far from what a ridge of their own says, among sites that gain little each."""
    rng = np.random.default_rng(3)
    table = {"client": [], "x": [], "z": [], "target": []}
    for site, rows, scale in (("a", 60, 1.0), ("b", 60, 1.0), ("c", 60, 1.0), ("tiny", 4, 30.0)):
        for _ in range(rows):
            x, z = scale * rng.normal(size=2)
            for name, value in zip(table, (site, x, z, x + z + 0.3 * rng.normal())):
                table[name].append(value)
    fit = sf.fit(table)
    assert fit.rule["network_gain_decided_by"] == "tiny"
    assert fit.rule["network_gain_without"] < fit.rule["network_gain"] / 2
    assert "Most of what sites gain or lose is at tiny (4 rows), without which" in str(fit).replace("\n", " ")
    assert "fewer than 9 rows, 3 for each of 3 coefficients" in " ".join(str(fit).split())
    said = " ".join(str(fit).split())
    assert (
        "Of the 3 sites with a gain here, no single site's gain is beyond chance (above 2.4 standard errors)." in said
    )


def test_a_site_that_differs_is_named_unless_chance_may_be_the_reason():
    """A slope of the other sign at one site of five; of 200 networks of like sites hardly one is divided."""
    slopes = np.ones((5, 2))
    slopes[3, 1] = -0.5
    X, y = draw(0, slopes, 20)[3]
    own = np.linalg.lstsq(np.column_stack((np.ones(20), X)), y, rcond=None)[0]
    rows = table(draw(0, slopes, 20))
    # a column that the site does not have moves its level alone: the other ones are compared still
    there = (np.arange(len(rows["target"])) % 3 == 0).astype(float)
    for more in ({}, {"x2": np.where(np.array(rows["client"]) == "s3", 0.0, there)}):
        fit = sf.fit(rows | more)
        mine = fit.rule["groups"][-1]
        assert (mine["sites"], mine["column"]) == (["s3"], "x1")
        np.testing.assert_allclose(mine["own"], own[2], rtol=1e-9)
        assert " ".join(str(fit).split()).count(f"x1 has {own[2]:.3g} against") == 1
    found = 0
    for seed in range(200):
        folds = folded(draw(seed, np.ones((5, 2)), 20))
        like = Likeness.of(folds, np.full(5, 20))
        found += bool(named(like, folds, tuple("abcde"), ["x0", "x1"], np.arange(5)))
    assert found <= 2  # one in a thousand each, of which three or more have the probability 0.001


def test_of_two_classes_the_one_that_coefficients_are_about_is_named():
    x = np.linspace(-1, 1, 24)
    classes = np.where(x + np.tile([0.4, -0.4, 0.0], 8) > 0, "yes", "no")
    fit = sf.fit({"client": ["a", "b"] * 12, "x": x, "target": classes})
    assert fit["a"].coefficients["x"] > 0
    shown = " ".join(str(fit).split())
    assert "A coefficient above 0 makes target=yes more probable." in shown
    assert "Predictors: x." in shown


def test_collaborators_are_named_in_few_characters_so_that_every_column_is_shown():
    names = ["Brest", "Lyon", "Metz", "Gap"]
    assert [listed(names[:k], 8) for k in range(4)] == ["nobody", "Brest", "Brest, Lyon", "Brest, Lyon + 1"]
    assert (listed(names, 4), listed(["Saint-Germain-en-Laye", "Lyon"], 8)) == ("all 4 others", "2 others")
    assert listed(names, 8, 40) == "Brest, Lyon, Metz, Gap"  # where there is room
    table, _ = gappy(1, 12, new=False)
    sites = [f"{name} by the river" for name in table["client"]]
    shown = str(sf.fit(table | {"client": sites, "target": [1e5 * y for y in table["target"]]})).splitlines()
    assert max(map(len, shown[:12])) <= 80
    assert " learns from " in shown[2]


def test_one_site_gains_from_nobody_and_a_plan_says_its_units():
    table, _ = gappy(1, 12, new=False)
    fit = sf.fit({name: [cell for cell, site in zip(cells, table["client"]) if site == "s0"]
                  for name, cells in table.items()})  # fmt: skip
    (model,) = fit
    assert model.gain is None and model.expected_loss == model.expected_loss_alone  # noqa: PT018
    assert "nothing to gain" in str(fit)
    assert "the target's variance" in str(sf.plan(sf.fit(table), "10%"))


def test_refusals_of_the_command_name_its_options(tmp_path, refused):
    path = tmp_path / "t.csv"
    path.write_text("site,x,y\n" + "".join(f"s{at % 2},{at},word {at}\n" for at in range(120)))
    assert "say which one by --target" in refused("fit", str(path), "--client", "site")
    said = refused("fit", str(path), "--client", "site", "--target", "y")
    assert "merge rare ones, or name another column by --target" in said
    path.write_text("client,x,target\n" + "".join(f"s{at % 2},{at},p{at % 60}\n" for at in range(100)))
    assert "by --loss multinomial, merge some, or name another column by --target" in refused("fit", str(path))
    assert "10%" in refused("plan", str(path), "--epsilon", "ten")
    (tmp_path / "m.json").write_text("{}")
    assert "suffice plan TABLE.csv" in refused("plan", str(tmp_path / "m.json"), "--epsilon", "10%")
    labels = {"x": [1.0, 2.0, 3.0], "target": ["u", "v", "u"]}
    with pytest.raises(InputError, match="needs the rows of all sites; messages are for numbers"):
        sf.summarise(labels, site="Lyon")
