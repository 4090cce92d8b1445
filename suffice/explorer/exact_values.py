"""Exact values of bounds, and errata with numbers, take half a minute and are kept in `exact_values.json`.

`python docs/generate.py exact-values` renews it; what packages of other papers add is computed when it is asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import THEOREMS, Theorem
from suffice.bounds.evaluate import EVALUATED
from suffice.bounds.papers import OWN, PAPERS

if TYPE_CHECKING:  # what measures takes seconds to import
    from suffice.verification.errata import Erratum


FILE = Path(__file__).with_name("exact_values.json")
_ROWS = 20_000


def exact_values() -> dict[str, Any]:
    """`rows` by key and edition: instances, and where the sliders stand first if not at the first; `errata`."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    if others := {paper.key for paper in PAPERS} - set(OWN):
        more = measured(others)
        found |= {"rows": found["rows"] | more["rows"], "errata": found["errata"] + more["errata"]}
    return found


def measured(papers: Collection[str] = tuple(OWN)) -> dict[str, Any]:
    """The same as `exact_values` for these papers, computed now."""
    from suffice.verification.claims import all_claims
    from suffice.verification.errata import ERRATA

    from .measured_instances import truths

    found = truths(claim for claim in all_claims() if _paper(claim.theorem.key) in papers)
    errata = [erratum(entry) for entry in ERRATA if entry.id.startswith(tuple(f"{paper}-" for paper in papers))]
    shown = {(row["key"], row["edition"]): row["at"] for row in reversed(errata) if row["at"]}
    rows = {}
    for record in THEOREMS:
        if _paper(record.key) in papers:
            instances = [
                {"at": _short(truth.at), "value": short(truth.value), "words": truth.words, "curves": truth.curves}
                for truth in found.get((record.key, record.edition), ())
            ]
            start = shown.get((record.key, record.edition)) or (None if instances else middle(record))
            rows[f"{record.key} {record.edition}"] = ({} if start is None else {"at": start}) | {"instances": instances}
    return {"rows": rows, "errata": errata}


def paths(count: int = 30) -> dict[str, Any]:
    """Simulated paths of client 0 on the counterexample to Theorem 2: `excess` after each of eight steps, by path."""
    from suffice.verification.instances.quadrature_1d import counterexample

    line, given = counterexample()
    rng, theta = np.random.default_rng(1), np.full(count, line.theta0)
    excess = [line.excess(theta)]
    for _ in range(8):
        mean, variance = line.step(theta)
        theta = mean + np.sqrt(variance) * rng.normal(size=count)
        excess.append(line.excess(theta))
    at = _short({name: given[name] for name in ("eta", "mu", "beta", "q", "e0")})
    kept = [[float(f"{value:.5g}") for value in path] for path in np.transpose(excess)]
    return {"key": "adaptive/theorem-2-constant", "along": "T", "at": at, "eps": given["eps"], "excess": kept}


def text() -> str:
    """The file: a line a record, and a line an erratum."""
    found = measured()
    rows = ",\n".join(f"{json.dumps(name)}: {_json(row)}" for name, row in found["rows"].items())
    errata = ",\n".join(map(_json, found["errata"]))
    return f'{{"paths": {_json(paths())},\n"rows": {{\n{rows}\n}}, "errata": [\n{errata}\n]}}\n'


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _paper(key: str) -> str:
    return key.partition("/")[0]


def _short(values: Mapping[str, float]) -> dict[str, float]:
    return {name: short(float(value)) for name, value in values.items()}


def middle(record: Theorem, /, **given: float) -> dict[str, float]:
    """Values of the typical ranges, nearest to their middles where the conditions are met; `given` ones stay."""
    from suffice.verification.evidence import met

    rng, points, away = np.random.default_rng((11, 0)), {}, np.zeros(_ROWS)
    centre = {one.name: math.sqrt(math.prod(one.typical)) for one in record.parameters} | given
    for one in record.parameters:
        drawn = np.exp(rng.uniform(*np.log(one.typical), _ROWS))
        whole = np.floor(drawn) if one.integer else drawn
        points[one.name] = np.full(_ROWS, given[one.name], dtype=float) if one.name in given else whole
        away += np.log(points[one.name] / centre[one.name]) ** 2 if one.name not in given else 0.0
    good = np.flatnonzero(met(record, points, (_ROWS,)))
    if len(good):
        nearest = good[int(np.argmin(away[good]))]
        centre = {name: float(value[nearest]) for name, value in points.items()}
    return {one.name: rounded(centre[one.name], one.integer) for one in record.parameters} | given


def rounded(value: float, whole: bool) -> float:
    return float(math.floor(value)) if whole else float(f"{value:.3g}")


def erratum(entry: Erratum) -> dict[str, Any]:
    """One erratum with its numbers, and the arguments at which a record gives the printed one, where a record does."""
    asked: list[Any] = []
    token = EVALUATED.set(asked)
    try:
        row = entry.to_dict()
    finally:
        EVALUATED.reset(token)
    gave = (
        (theorem, values)
        for theorem, values, bound in asked
        if np.ndim(bound) == 0 and math.isclose(bound, row["printed"], rel_tol=1e-12)
    )
    theorem, values = next(gave, (None, {}))
    return {
        "id": entry.id,
        "paper": next(paper.key for paper in PAPERS if entry.id.startswith(f"{paper.key}-")),
        **{name: row[name] for name in ("location", "kind", "claim", "truth")},
        "correct": entry.key or "",
        "direction": entry.side,
        # the last digits of a computed number differ between processors
        "inputs": [[name, f"{x:.12g}" if isinstance(x, float) else str(x)] for name, x in row["inputs"].items()],
        **{name: short(row[name]) for name in ("printed", "measured")},
        "key": theorem.key if theorem is not None else "",
        "edition": theorem.edition if theorem is not None else "",
        "at": _short(values),
    }


def short(value: float) -> float:
    """The value without its last roundings: 0.5 * 0.2**2 is meant as 0.02. One that needs all its digits keeps them."""
    brief = float(f"{value:.12g}")
    return brief if math.isclose(brief, value, rel_tol=2.0**-51) else float(value)
