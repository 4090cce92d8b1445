"""All certificates of the library for `recheck.py`: proof steps, closed forms for all T, refuted printed statements.

`python -m suffice.verification.all_certificates FILE` writes them; `python -I suffice/verification/recheck.py FILE`
asks them again, with nothing of the library.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from suffice.bounds import THEOREMS, Theorem
from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole

from .closed_form import ClosedForm, closed_form
from .errata import ERRATA
from .errata.exact import EXACT
from .identities import identities
from .recheck import refusal

PROVED = tuple(f"adaptive/theorem-2-constant{reading}" for reading in ("", "-running", "-stopped"))
"""Records that Coq proves end to end from the files in proofs/."""
COVERED = "for phi(r) = r and laws of finitely many outcomes"
"""The part of these records that the proofs cover; the records themselves are about every criterion and any law."""


def step_certificates(key: str | None = None) -> list[dict[str, Any]]:
    """The certificates of all proof steps, or of those of one theorem."""
    return [step.step().certificate(f"{step.key}: {step.says}") for step in identities(key)]


def certificates() -> list[dict[str, Any]]:
    """All certificates: of proof steps; of start and induction step of every corrected bound that solves an affine
    recursion; of the errata whose instances are rational."""
    forms = [closed_form(record) for record in THEOREMS if record.guarantee]
    solved = [one for form in forms if isinstance(form, ClosedForm) for one in form.certificates()]
    refuted = [EXACT[entry.id].certificate(entry) for entry in ERRATA if entry.id in EXACT]
    return [*step_certificates(), *solved, *refuted]


def proof_of(record: Theorem) -> str:
    """The parts of a corrected statement that are proved and re-checked, and the others; "" for a printed statement."""
    if not record.guarantee:
        return ""
    steps = [refusal(one) for one in step_certificates(record.key)]
    said = [f"steps {steps.count('')} of {len(steps)}" if steps else "no steps"]
    if "T" in record.bound_keywords:
        form = closed_form(record)
        known = isinstance(form, ClosedForm) and not any(map(refusal, form.certificates()))
        said.append("closed form for all T" if known else f"no closed form ({form})")
    said.append(f"end to end in Coq {COVERED}" if record.key in PROVED else "not end to end")
    return ", ".join(said)


def main(path: str) -> None:
    make_folder(Path(path).parent, "FILE")  # before seconds are spent
    every = certificates()
    write_whole(Path(path), json.dumps(every, indent=1).encode(), "FILE")
    print(f"{len(every)} certificates: python -I {Path(__file__).with_name('recheck.py')} {path}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m suffice.verification.all_certificates FILE")
    try:
        main(sys.argv[1])
    except InputError as error:
        sys.exit(str(error))
