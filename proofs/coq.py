"""Theorems proved end to end by Coq: right sides written from the records, all files compiled, axioms looked at.

`python proofs/coq.py BUILD` compiles the files beside it in the folder BUILD.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from suffice.bounds import Theorem, find
from suffice.verification.all_certificates import PROVED

SOURCES = Path(__file__).parent
COUNTED = ("T",)
# The real numbers of Coq's standard library rest on these and nothing else.
AXIOMS_OF_THE_REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
CPU_SECONDS = 100  # of one file, each of which takes about one


class CoqError(Exception):
    """A file that Coq does not accept, or a theorem that rests on more than the axioms of the reals."""


def coq_text(node: Any) -> str:
    """A SymPy expression as Coq text, every operation in parentheses; powers are of natural exponents."""
    if node.is_Symbol:
        return node.name
    if node.is_Rational:
        number = str(abs(node.p)) if node.q == 1 else f"({abs(node.p)} / {node.q})"
        return number if node.p >= 0 else f"(- {number})"
    if node.is_Add or node.is_Mul:
        return f"({(' + ' if node.is_Add else ' * ').join(map(coq_text, node.args))})"
    if node.is_Pow:
        base, exponent = node.args
        if exponent.is_Integer and exponent < 0:
            return f"(/ {coq_text(base if exponent == -1 else base**-exponent)})"
        if exponent.is_Integer or (exponent.is_Symbol and exponent.name in COUNTED):
            return f"({coq_text(base)} ^ {coq_text(exponent)})"
    raise CoqError(f"no Coq text is known for {node}")


def right_side(theorem: Theorem, bound: Any = None) -> str:
    """The Coq definitions of a record's bound, or of `bound` in its place, and of its conditions."""
    name = theorem.key.rpartition("/")[2].replace("-", "_")
    sides = theorem.conditions(**{keyword: _symbol(keyword) for keyword in theorem.condition_keywords})
    conditions = " /\\ ".join(f"({coq_text(left)} <= {coq_text(right)})" for left, right in sides.values())
    return (
        f"Definition bound_of_{name}{_binders(theorem.bound_keywords)} : R :=\n"
        f"  {coq_text(theorem.expression() if bound is None else bound)}.\n"
        f"Definition conditions_of_{name}{_binders(theorem.condition_keywords)} : Prop :=\n"
        f"  {conditions}.\n"
    )


def _symbol(name: str) -> Any:
    import sympy

    return sympy.Symbol(name, positive=True)


def _binders(keywords: tuple[str, ...]) -> str:
    return "".join(f" ({keyword} : {'nat' if keyword in COUNTED else 'R'})" for keyword in keywords)


def right_sides() -> str:
    """The whole file of right sides."""
    definitions = "\n".join(right_side(find(key)) for key in PROVED)
    return f"(* Written from the library's records. *)\n\nRequire Import Reals.\nOpen Scope R_scope.\n\n{definitions}"


def compile_proofs(sources: Path, build: Path, *, definitions: str | None = None) -> str:
    """Compile every file of `sources` in `build` and return what Coq printed; `CoqError` for what it refuses.

    `definitions` takes the place of the right sides written from the records."""
    build.mkdir(parents=True, exist_ok=True)
    names = ["right_side.v", *sorted(source.name for source in sources.glob("*.v"))]
    for name in names[1:]:
        shutil.copy(sources / name, build)
    (build / names[0]).write_text(right_sides() if definitions is None else definitions)
    files = _coq("coqdep", "-sort", *names, folder=build).split()
    printed = "".join(_coq("coqc", "-q", file, folder=build) for file in files)
    assumed = axioms(printed)
    if not assumed <= AXIOMS_OF_THE_REALS:
        raise CoqError(f"assumed without proof: {', '.join(sorted(assumed - AXIOMS_OF_THE_REALS))}")
    return printed


def axioms(printed: str) -> set[str]:
    """What begins a line below "Axioms:", the last that is printed; `CoqError` if it was not."""
    _, found, listed = printed.partition("Axioms:\n")
    if not found:
        raise CoqError("no assumptions were printed")
    return set(re.findall(r"^(\S+)", listed, re.MULTILINE))


def _coq(tool: str, *arguments: str, folder: Path) -> str:
    limited = ["sh", "-c", f'ulimit -t {CPU_SECONDS}; exec "$@"', "sh"]
    run = subprocess.run([*limited, tool, "-Q", ".", "Suffice", *arguments], cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise CoqError(f"{' '.join(arguments)}: {run.stderr.strip() or f'stopped, code {run.returncode}'}")
    return run.stdout


def main(build: str) -> int:
    if shutil.which("coqc") is None:
        print("needs coqc: Debian's package coq", file=sys.stderr)
        return 2
    try:
        print(compile_proofs(SOURCES, Path(build)), end="")
    except CoqError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: python proofs/coq.py BUILD")
