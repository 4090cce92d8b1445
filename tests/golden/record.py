"""What commands, classes and saved files gave on a recorded day, to tell a moved file from a changed result.

`python tests/golden/record.py [NAME ...]` records again, from the root of the repository. The difference in git is then
the list of changed results, and CHANGELOG says why each changed.
"""

from __future__ import annotations

import contextlib
import csv
import inspect
import io
import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests" / "golden"
TABLE = "examples/diabetes_by_age.csv --client age_group --target progression"
LONG = 12
"""Longer lists of numbers are recorded by four of them and two sums."""

QUICK = {
    "theorem": "theorem --json",
    "theorem-one": "theorem adaptive/theorem-2-constant --json",
    "errata": "errata --json",
    "errata-one": "errata adaptive-theorem-2-constant --json",
    "verify-one": "verify adaptive/property-1 adaptive/lemma-2 cobo/lemma-4 --json",
    "plan-constants": "plan examples/constants.toml --json",
    "plan-table": f"plan {TABLE} --epsilon 10% --epsilon 1000 --json",
    "simulate": f"simulate {TABLE} --algorithm all-for-one --iterations 50 --seeds 16 --json",
    "fit": f"fit {TABLE} --json",
    "predict": "predict tests/golden/models-3.json examples/diabetes_by_age.csv --client age_group --json",
}
SLOW = {
    "verify": "verify --json",
    "plan-simulated": f"plan {TABLE} --epsilon 10% --simulate --seeds 32 --schedule --json",
    "simulate-adaptive": f"simulate {TABLE} --algorithm cobo --iterations 20 --seeds 4 --json",
}
SEEDED = ["adaptive-1", "adaptive-2a", "adaptive-2b", "adaptive-2b-regimes", "cobo-5"]
SEEDLESS = ["cobo-1", "sample-optimal-speedup", "sharpness", "theorem-2-truth"]
LEFT_OUT = {"seconds", "statement"}
"""Fields that differ from run to run, or are as long as a page and recorded under `theorem`."""


def typed(line: str) -> str:
    """What the command prints on stdout, run inside this process."""
    from suffice.cli import main

    before, out = sys.argv, io.StringIO()
    sys.argv = ["suffice", *line.split()]
    try:
        with contextlib.redirect_stdout(out), contextlib.chdir(ROOT), contextlib.suppress(SystemExit):
            main()
    finally:
        sys.argv = before
    return out.getvalue()


def reduced(found: Any) -> Any:
    """JSON with its long lists of numbers as a few of them and two sums, which differ when any number does."""
    if isinstance(found, dict):
        return {key: reduced(value) for key, value in found.items() if key not in LEFT_OUT}
    if not isinstance(found, list):
        return found
    for names in (("key", "edition"), ("id",)):  # so that a further record leaves the others where they are
        if found and all(isinstance(entry, dict) and all(name in entry for name in names) for entry in found):
            return {" ".join(entry[name] for name in names): reduced(entry) for entry in found}
    if len(found) > LONG and all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in found):
        # The weights of the second sum are between 1 and 2 and all different, so that exchanged numbers show.
        weights = [1 + math.modf(k * (math.sqrt(5) - 1) / 2)[0] for k in range(len(found))]
        some = [found[round(k * (len(found) - 1) / 3)] for k in range(4)]
        size = math.fsum(abs(entry) for entry in found)
        return {
            "length": len(found),
            "some": some,
            "size": size,
            "sum": math.fsum(w * entry for w, entry in zip(weights, found)),
        }
    return [reduced(entry) for entry in found]


def printed(line: str) -> Any:
    return reduced(json.loads(typed(line)))


def drawn(name: str) -> Any:
    """The columns of a figure's CSV, with few seeds."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = " --seeds 8" if name in SEEDED else ""
        typed(f"figure {name}{seeds} --out {folder}")
        with open(Path(folder) / f"{name}.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    columns: dict[str, list[Any]] = {key: [] for key in rows[0]}
    for row in rows:
        for key, cell in row.items():
            try:
                columns[key].append(float(cell))
            except ValueError:
                columns[key].append(cell)
    words = {key: sorted({c for c in cells if isinstance(c, str)}) for key, cells in columns.items()}
    numbers = {key: [c for c in cells if isinstance(c, float) and math.isfinite(c)] for key, cells in columns.items()}
    return {key: {"words": words[key], "numbers": reduced(numbers[key])} for key in columns}


def interface() -> Any:
    """Public names with their signatures, and the public attributes of what people hold in their hands."""
    import suffice as sf

    def signature(found: Any) -> str:
        try:
            return re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(found)))
        except (TypeError, ValueError):
            return type(found).__name__

    names = {name: signature(getattr(sf, name)) for name in sorted(sf.__all__)}
    attributes = {
        kind.__name__: [name for name in dir(kind) if not name.startswith("_")]
        + [name for name in getattr(kind, "__dataclass_fields__", {}) if not hasattr(kind, name)]
        for kind in (sf.Plan, sf.Fit, sf.Verdict, sf.Figure, sf.Trace)
    }
    return {"names": names, "attributes": {kind: sorted(set(found)) for kind, found in attributes.items()}}


def messages() -> Any:
    """What sites send, and the models that follow."""
    import suffice as sf

    with open(ROOT / "examples" / "diabetes_by_age.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sites = sorted({row["age_group"] for row in rows})
    sent = []
    with tempfile.TemporaryDirectory() as folder:
        for site in sites:
            path = Path(folder) / f"{site}.csv"
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, [key for key in rows[0] if key != "age_group"])
                writer.writeheader()
                writer.writerows(
                    {key: row[key] for key in row if key != "age_group"} for row in rows if row["age_group"] == site
                )
            sent.append(sf.summarise(path, site=site, target="progression"))
    return reduced(sf.fit(sent).to_dict())


def cases(*, slow: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    if slow:
        yield from ((name, lambda line=line: printed(line)) for name, line in SLOW.items())
        yield from ((f"figure-{name}", lambda name=name: drawn(name)) for name in SEEDED + SEEDLESS)
        return
    yield from ((name, lambda line=line: printed(line)) for name, line in QUICK.items())
    yield "interface", interface
    yield "messages", messages


def main(wanted: list[str]) -> None:
    for name, compute in (*cases(slow=False), *cases(slow=True)):
        if not wanted or name in wanted:
            text = json.dumps(compute(), indent=0, ensure_ascii=False)
            (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")
            print(name, len(text))


if __name__ == "__main__":
    main(sys.argv[1:])
