"""Theorems proved by Coq: the right sides are the records', nothing is admitted, and wrong right sides are refused."""

import re
import shutil
from fractions import Fraction
from pathlib import Path

import coq
import pytest
import sympy

from suffice.bounds import find

SOURCES = Path(__file__).resolve().parents[2] / "proofs"
POINT = {
    "eta": Fraction(2, 7),
    "mu": Fraction(3, 5),
    "beta": Fraction(11, 9),
    "e0": Fraction(13, 4),
    "s2": Fraction(17, 6),
    "eps": Fraction(1, 3),
    "q": Fraction(19, 23),
}
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs coqc: Debian's package coq")


def definition(name: str) -> tuple[list[str], str]:
    """The keywords and the text of one definition in the file of right sides."""
    found = re.search(rf"Definition {name}((?: \(\w+ : \w+\))+) : \w+ :=\n  (.*)\.\n", coq.right_sides())
    assert found
    return re.findall(r"\((\w+) :", found[1]), found[2]


def value(text: str, **values) -> Fraction:
    """Coq's text of an expression, evaluated in fractions: `/ x` without a left side is the inverse of x."""
    text = re.sub(r"\b\d+\b", lambda number: f"Fraction({number[0]})", text.replace("(/ ", "(Fraction(1) / "))
    return eval(text.replace("^", "**"), {"Fraction": Fraction, **values})


@pytest.mark.parametrize("T", [0, 1, 2, 7])
def test_right_sides_are_the_records_recursion(T):
    """B_0 = e_0, B_t = (1 - eta mu) B_{t-1} + eta^2 beta s2 / 2, in fractions."""
    eta, mu, beta, s2, eps = (POINT[name] for name in ("eta", "mu", "beta", "s2", "eps"))
    level = POINT["e0"]
    for _ in range(T):
        level = (1 - eta * mu) * level + eta**2 * beta * s2 / 2
    expected = {"": level, "_running": level / eps, "_stopped": eps + level}
    for reading, number in expected.items():
        keywords, text = definition(f"bound_of_theorem_2_constant{reading}")
        assert keywords == list(find(f"adaptive/theorem-2-constant{reading.replace('_', '-')}").bound_keywords)
        assert value(text, **{name: T if name == "T" else POINT[name] for name in keywords}) == number


def test_conditions_are_the_records():
    keywords, text = definition("conditions_of_theorem_2_constant")
    sides = [tuple(part.strip("()").split(" <= ")) for part in text.split(" /\\ ")]
    assert keywords == ["eta", "q", "beta", "mu"]
    assert sides == [("eta", "(q * (/ beta"), ("mu", "beta")]


def test_no_text_for_what_coq_is_not_told():
    x, n = sympy.symbols("x n")
    assert coq.coq_text(sympy.Rational(-3, 2) * x**3) == "((- (3 / 2)) * (x ^ 3))"
    assert coq.coq_text(x**-2) == "(/ (x ^ 2))"
    for expression in (sympy.sqrt(x), sympy.log(x), x**n, sympy.Max(x, 1)):
        with pytest.raises(coq.CoqError, match="no Coq text is known"):
            coq.coq_text(expression)


def test_nothing_is_admitted():
    files = sorted(SOURCES.glob("*.v"))
    assert len(files) >= 10
    for file in files:
        words = set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
        assert not words & {"Admitted", "admit", "Axiom", "Axioms", "Parameter", "Conjecture", "Unset", "bypass_check"}


def test_assumptions_are_printed_of_all_that_is_shown():
    text = (SOURCES / "assumptions.v").read_text(encoding="utf-8")
    shown, _, together = text.partition("Definition everything")
    names = re.findall(r"^Check (\w+)\.$", shown, re.MULTILINE)
    assert {key.rpartition("/")[2].replace("-", "_") for key in coq.PROVED} < set(names)
    assert set(names) <= set(re.findall(r"\w+", together))
    assert together.endswith("Print Assumptions everything.\n")


def test_other_axioms_are_seen():
    kept = "ClassicalDedekindReals.sig_not_dec\n  : forall P : Prop, {~ ~ P} + {~ P}\n"
    assert coq.axioms(f"Axioms:\n{kept}") == {"ClassicalDedekindReals.sig_not_dec"}
    assert coq.axioms(f"Axioms:\n{kept}hole : False\n") - coq.AXIOMS_OF_THE_REALS == {"hole"}
    with pytest.raises(coq.CoqError, match="no assumptions were printed"):
        coq.axioms("Closed under the global context\n")


def test_without_coq_one_line_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert coq.main(str(tmp_path / "build")) == 2
    assert capsys.readouterr().err == "needs coqc: Debian's package coq\n"
    assert not (tmp_path / "build").exists()


@needs_coq
@pytest.mark.slow
def test_all_is_proved_from_the_axioms_of_the_reals(tmp_path):
    printed = " ".join(coq.compile_proofs(SOURCES, tmp_path / "build").split())
    for key, left in zip(
        coq.PROVED, ("excess_while_running P T", "probability_still_running P T", "stopped_excess P T")
    ):
        name = key.rpartition("/")[2].replace("-", "_")
        last = "" if name == "theorem_2_constant" else " (eps P)"
        assert (
            f"{name} : forall P : Setting, hypotheses P -> forall (T : nat) (start : state P), {left} start <= "
            f"bound_of_{name} (eta P) (mu P) (beta P) (excess P start) (s2 P) T{last}"
        ) in printed
    assert "instance_meets : hypotheses instance" in printed
    assert (
        "lowered_floor_refuted : ~ (forall (P : Setting) (T : nat) (start : state P), hypotheses P -> "
        "excess_while_running P T start <= bound_of_theorem_2_constant (eta P) (mu P) (beta P) (excess P start) "
        "(99 / 100 * s2 P) T)"
    ) in printed


PLANTED = {
    "the floor 1 % lower": ("theorem_2.v", "* s2)", "* (99 / 100 * s2))"),
    "one contraction too many": ("theorem_2.v", "^ T) * e0", "^ (S T)) * e0"),
    "steps twice as long": ("setting.v", "(eta <= (q *", "(eta <= ((2 * q) *"),
}


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED)
def test_a_wrong_right_side_is_refused(fault, tmp_path):
    file, right, wrong = PLANTED[fault]
    definitions = coq.right_sides()
    assert right in definitions
    with pytest.raises(coq.CoqError, match=f"(?s)-q {file}.*Error"):
        coq.compile_proofs(SOURCES, tmp_path / "build", definitions=definitions.replace(right, wrong))


@needs_coq
@pytest.mark.slow
def test_an_admitted_lemma_is_refused(tmp_path):
    sources = tmp_path / "proofs"
    shutil.copytree(SOURCES, sources)
    noise = sources / "noise.v"
    text = noise.read_text()
    proof = "Proof. apply second_moment_of, incl_refl. Qed."
    assert proof in text
    noise.write_text(text.replace(proof, "Proof. Admitted."))
    with pytest.raises(coq.CoqError, match=r"assumed without proof: noise\.second_moment"):
        coq.compile_proofs(sources, tmp_path / "build")
