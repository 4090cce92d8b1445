"""The command as a stranger types it: contracts of stdout, exit codes, and one clear line for every mistake."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import typer
from rich.text import Text

from suffice.bounds import InputError
from suffice.cli import load
from suffice.cli.app import app
from suffice.cli.errata import saved_errata
from suffice.cli.verify import verdict_table
from suffice.figures import makers
from suffice.verification import errata, unchecked, verify

CONSTANTS = """
[constants]
mu = 0.5
beta = 1.0
sigma = [1.0, 1.0]
b = [[0.0, 0.1], [0.1, 0.0]]
excess = 5.0
[target]
epsilon = 0.05
"""


def test_a_precision_far_below_the_start_is_asked_about_and_the_table_of_bounds_fits(command, tmp_path):
    names = [f"Strasbour{site}" for site in range(9)]
    b = [[0.0 if i == k else 1e9 for k in range(9)] for i in range(9)]
    setup = tmp_path / "s.toml"
    setup.write_text(f"[constants]\nmu = 0.5\nbeta = 1.0\nsigma = 1234.5\nexcess = 1e6\nb = {b}\nnames = {names}\n")
    done = command("plan", setup, "--epsilon", 0.05, "--epsilon", 20.5, "--epsilon", "10%")
    assert done.stderr == "epsilon 0.05 is 5e-08 of the initial excess; did you mean 5%?\n"
    lines = done.stdout.splitlines()
    assert lines[2].startswith("client      ")
    assert all(line.startswith("Strasbour") for line in lines[3:30])
    assert "Peers save no client an iteration at any of these precisions." in done.stdout


def test_theorems_are_shown_and_evaluated_and_an_erratum_is_shown_by_its_id(command):
    assert "step size eta <= q/beta" in command("theorem", "adaptive/theorem-2-constant").stdout
    assert "r_k" in command("theorem", "adaptive/lemma-2", "b=3", "c=0", "mu=1", "eps=4.5").stdout
    value = json.loads(command("theorem", "adaptive/lemma-2", "b=1", "c=0.25", "mu=1", "eps=1", "--json").stdout)
    np.testing.assert_allclose(value["bound"], 1 - 1 / 2 - 0.25, rtol=1e-12)
    first = json.loads(command("errata", "--json").stdout)[0]
    assert first["claim"] in command("errata", first["id"]).stdout
    rows = json.loads(command("verify", "adaptive/property-1", "--json").stdout)
    assert [(row["edition"], row["verdict"]) for row in rows] == [("printed", "violated"), ("corrected", "holds")]


def test_parts_of_names_papers_and_patterns_list_what_they_name(command, refused):
    done = command("theorem", "adaptive/theorem-2")
    assert done.returncode == 0
    assert "adaptive/theorem-2-constant-running" in done.stdout
    assert "adaptive/theorem-3" not in done.stdout
    assert "say which: adaptive/theorem-2-constant, " in refused("theorem", "adaptive/theorem-2", "eta=1")
    for name in ("Adaptive Theorem 2", "all-for-one theorem 2", "All-for-One/Theorem-2"):
        assert command("theorem", name).stdout == done.stdout
    assert command("theorem", "all for all theorem 1").stdout == command("theorem", "sample-optimal/theorem-1").stdout
    rows = json.loads(command("errata", "cobo", "--json").stdout)
    assert len(rows) > 10
    assert all(row["id"].startswith("cobo-") for row in rows)
    assert "cobo-code-ifca" in command("errata", "cobo").stdout
    checked = json.loads(command("verify", "cobo/lemma-[34]", "--edition", "printed", "--json").stdout)
    assert [row["key"] for row in checked] == ["cobo/lemma-3", "cobo/lemma-4"]
    assert "no claim" in refused("verify", "cobo/lemma-9*")


def test_statements_without_a_number_are_counted_and_explained(command):
    out = command("theorem", "Theorem 2").stdout
    assert "adaptive/theorem-2-constant" in out
    assert "scafflix/theorem-2" in out
    assert "Order only: the statement gives no number" in out
    summary = verdict_table([], unchecked(["Cobo Selection Time", "adaptive/remark-3-binary"])).text()
    assert "Not evaluated: order only (1 printed); no claim checks adaptive/remark-3-binary" in " ".join(
        summary.split()
    )
    assert "Order only" not in command("theorem", "worst-case").stdout
    with pytest.raises(InputError, match=r"^theorem = 'cobo/selection-time': it gives an order only\. The text"):
        verify(["cobo/selection-time"], edition="printed")


def test_the_answer_stands_in_the_first_line(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    checked = command("verify", "adaptive/property-1", "cobo/lemma-4").stdout
    assert checked.startswith("Of 2 corrected statements 2 hold. Of 2 printed statements 2 are violated.\nclaim ")
    setup = ("examples/diabetes_by_age.csv", "--client", "age_group", "--target", "progression")
    run = ("simulate", *setup, "--algorithm", "local", "--iterations", "20", "--seeds", "4", "--root", "1")
    row = json.loads(command(*run, "--json").stdout)
    words = r"local (lowers|raises) the excess loss, in the mean of (\d+) clients, from (\S+) to (\S+) in 20 iterations"
    said = re.match(words, command(*run).stdout)
    assert said
    ends = [sum(row["excess_mean"][at]) / len(row["clients"]) for at in (0, -1)]
    assert [float(said[3]), float(said[4])] == pytest.approx(ends, rel=1e-3)
    assert (said[1], int(said[2])) == ("lowers" if ends[1] < ends[0] else "raises", len(row["clients"]))


def test_errata_are_found_by_paper_result_and_id_in_any_spelling(command):
    some = errata("Adaptive/Theorem 2")
    assert {entry.id for entry in some} == {each.id for each in errata() if each.id.startswith("adaptive-theorem-2-")}
    assert [entry.id for entry in errata("Adaptive Theorem 2 Expectation")] == ["adaptive-theorem-2-expectation"]
    assert [row["id"] for row in saved_errata("Adaptive/Theorem 2")] == [entry.id for entry in some]
    assert errata("adaptive/theorem-2-constant") == some  # a row of the result
    assert set(some) < set(errata("theorem 2"))  # and that of other papers
    assert [row["id"] for row in saved_errata("theorem 2")] == [entry.id for entry in errata("theorem 2")]
    assert [row["id"] for row in saved_errata(None)] == [entry.id for entry in errata()]
    assert saved_errata("Adaptive Theorem 2 Expectation") == []
    assert errata("worst-case") == []
    assert command("errata", "worst-case").stdout == "worst-case: no errata\n"


def test_true_statements_are_shown_apart_and_withdrawn_ids_with_the_reason(command):
    true = "No error, and not counted: what is printed stands, and something is to be added\n"
    first, second = command("errata", "scafflix").stdout.split(f"\n{true}")
    counted = [entry.id for entry in errata("scafflix") if entry.counts]
    assert first.startswith(f"{len(counted)} errors in print, the most damaging first.")
    assert "scafflix-smoothness-logistic" not in first.replace("scafflix-code-smoothness-logistic", "")
    assert "scafflix-smoothness-logistic" in second
    assert "loose: no error, what is printed stands" in command("errata", "scafflix-smoothness-logistic").stdout
    alone = command("errata", "sample-optimal/theorem-4").stdout
    assert alone.startswith(true)
    withdrawn = command("errata", "Adaptive/Table S1 hospitals").stdout
    assert "\nkind      withdrawn\n" in withdrawn
    assert "\nreason    The eight training accuracies fit four hospitals too" in withdrawn
    assert "adaptive-table-s1-hospitals" not in command("errata").stdout


def test_a_theorem_is_shown_with_its_kept_verdict(command):
    for edition, shown in (("corrected", "holds on"), ("printed", "violated,")):
        lines = command("theorem", "adaptive/property-1", "--edition", edition).stdout.splitlines()
        assert lines[-1].startswith(f"verdict     {shown} "), lines[-1]


def test_figures_are_listed_when_none_is_named(command):
    done = command("figure")
    assert done.returncode == 0
    *lines, options = done.stdout.splitlines()
    assert "--option NAME=VALUE" in options
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(makers())
    assert max(map(len, lines)) <= 80
    assert all(len(line.split()) > 4 for line in lines if not line.startswith(" "))  # each with what it shows


def test_brackets_of_help_texts_are_no_markup():
    load()
    commands = typer.main.get_command(app).commands
    texts = {(name, entry.name): getattr(entry, "help", None) for name in commands for entry in commands[name].params}
    texts = {where: text for where, text in texts.items() if text}
    assert sum("\\[" in text for text in texts.values()) >= 1
    for where, text in texts.items():
        assert Text.from_markup(text).plain == text.replace("\\[", "["), f"{where}: escape its brackets"


def test_numbers_need_no_precision(command, refused, tmp_path):
    rows = [f"{site},{x},{slope * x + 0.1 * (-1) ** x}" for site, slope in (("A", 1), ("B", 2)) for x in range(6)]
    (tmp_path / "t.csv").write_text("\n".join(("client,x,target", *rows)))
    (tmp_path / "t.toml").write_text('[data]\npath = "t.csv"\n')
    for name in ("t.csv", "t.toml"):
        answer = json.loads(command("plan", tmp_path / name, "--numbers", "--json").stdout)
        assert answer["clients"] == []
        assert len(answer["numbers"]["excess"]["value"]) == 2
    assert "Constants of the clients" in command("plan", tmp_path / "t.csv", "--numbers").stdout
    for more in (("--plot", tmp_path / "p.png"), ("--epsilon", "10%"), ("--simulate",)):
        assert "nothing is planned beside them" in refused("plan", tmp_path / "t.csv", "--numbers", *more)
    rows = json.loads(command("plan", tmp_path / "t.csv", "--json").stdout)["clients"]
    assert {row["epsilon_of"] for row in rows} == {"noise"}


def test_the_folder_that_one_is_in_can_be_planned(command, tmp_path, monkeypatch):
    for name, slope in (("Lyon", 1.0), ("Oslo", -1.0)):
        rows = [f"{x},{slope * x + 0.1 * (-1) ** x}" for x in range(6)]
        (tmp_path / f"{name}.csv").write_text("\n".join(("x,target", *rows)))
    monkeypatch.chdir(tmp_path)
    done = command("plan", ".", "--epsilon", "0.1")
    assert done.returncode == 0, done.stderr
    assert "Lyon" in done.stdout


MISTAKES = {
    "unknown key": ("beta = 1.0", "betta = 1.0", "betta"),
    "wrong type": ("mu = 0.5", 'mu = "half"', "mu"),
    "mu over beta": ("mu = 0.5", "mu = 1.5", "mu = 1.5: mu <= beta"),
    "negative mu": ("mu = 0.5", "mu = -0.5", "mu = -0.5"),
    "nan": ("b = [[0.0, 0.1]", "b = [[0.0, nan]", "constants.b = nan"),
    "ragged": ("b = [[0.0, 0.1], [0.1, 0.0]]", "b = [[0.0, 0.1], [0.1]]", "constants.b"),
    "wrong length": ("sigma = [1.0, 1.0]", "sigma = [1.0]", "constants.sigma"),
    "zero sigma": ("sigma = [1.0, 1.0]", "sigma = 0.0", "sigma"),
    "negative b": ("b = [[0.0, 0.1]", "b = [[0.0, -0.1]", "constants.b = -0.1"),
    "diagonal": ("b = [[0.0, 0.1]", "b = [[0.3, 0.1]", "diagonal"),
    "no precision": ("epsilon = 0.05", "epsilon = 0.0", "epsilon = 0.0"),
    "horizon": ("epsilon = 0.05", "epsilon = 0.05\nhorizon = 0", "horizon = 0"),
    "confidence": ("epsilon = 0.05", "epsilon = 0.05\nconfidence = 2.0", "confidence = 2.0"),
    "threshold": ("epsilon = 0.05", "epsilon = 0.05\n[criterion]\nthreshold = 0.0", "threshold = 0.0"),
    "threshold over one": ("epsilon = 0.05", "epsilon = 0.05\n[criterion]\nthreshold = 1.01", "threshold = 1.01"),
    "no target": (CONSTANTS[CONSTANTS.index("[target]") :], "", "no [target] table; add it with epsilon = 0.1"),
    "no precisions": ("epsilon = 0.05", "epsilon = []", "at least one precision"),
    "tiny confidence": ("epsilon = 0.05", "epsilon = 0.05\nconfidence = 1e-320", "confidence"),
    "tiny sigma": ("sigma = [1.0, 1.0]", "sigma = [1e-150, 1.0]", "constants.sigma = 1e-150"),
    "huge b": ("b = [[0.0, 0.1]", "b = [[0.0, 1e300]", "constants.b = 1e+300"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_setup_file_is_one_line_that_names_it(refused, tmp_path, name):
    old, new, named = MISTAKES[name]
    assert old in CONSTANTS
    path = tmp_path / "setup.toml"
    path.write_text(CONSTANTS.replace(old, new))
    assert named in refused("plan", path)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("verify", "adaptive/lemma-3"), "did you mean"),
        (("errata", "adaptive-property-2"), "did you mean"),
        (("verify", "adaptive/lemma-2", "--root", "99999999999999999999"), "root"),
        (("theorem", "--edition", "new"), "edition = 'new'"),
        (("plan", "examples/constants.toml", "--target", "y"), "--target"),
        (("plan", "clients.csv", "--foo"), "--foo"),
        (("simulat",), "simulat"),
        (("plan", ""), "setup = ''"),
        (("simulate", "clients.csv", "--algorithm", "local"), "setup = 'clients.csv': no such file or folder"),
        (("simulate", "examples/constants.toml", "--algorithm", "local", "--client", "c"), "--client = 'examples"),
        (
            ("plan", "examples/constants.toml", "--seeds", "9"),
            "seeds = 9: without --simulate or --methods nothing",
        ),
        (("plan", "examples/constants.toml", "--root", "1"), "root = 1: without --simulate or --methods nothing"),
        (("plan", "sklearn:wine", "--epsilon", "1", "--target", "y"), "target = 'y': only a CSV has named columns"),
        (("plan", "sklearn:wine", "--epsilon", "1", "--split", "contiguous:2", "--seed", "1"), "seed = 1: only the"),
        (("plan", "tests", "--epsilon", "1", "--client", "site"), "client = 'site': only a CSV"),
        (
            ("campaign", "absent.toml", "--collect", "--jobs", "2"),
            "jobs = 2: --scheduler and --collect start no process",
        ),
        (("campaign", "absent.toml", "--scheduler", "tcp://x:1", "--jobs", "2"), "jobs = 2: --scheduler and --collect"),
        (("figure", "--edition", "stated"), "figure = 'missing': name the figure"),
        (("plan", "examples/constants.toml", "--numbers"), "numbers = 'Constants'"),
        (("plan", "examples/constants.toml", "--simulate"), "problem = 'constants'"),
        (("plan", "examples/constants.toml", "--batch", "2"), "--batch = "),
        (("plan", "examples/constants.toml", "--plot", "a.docx"), "plot = 'a.docx'"),
        (("theorem", "--bibtex"), "name one to cite"),
        (("theorem", "adaptive/theorem-2", "--bibtex"), "name one to cite"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_that_names_it(refused, arguments, named):
    assert named in refused(*arguments)


def test_the_command_alone_shows_what_to_try(command):
    done = command()
    assert done.returncode == 0
    assert done.stdout.count("\n  suffice ") == 4
    assert max(map(len, done.stdout.splitlines())) <= 80
