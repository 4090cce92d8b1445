"""Exact plans of tables with a column of sites: median iterations alone and together, and sites that gain, at a share.

    python examples/sites.py 12 10% ../shared/data/sites/*.csv

takes the first 12 sites of each table (of a folder all its files), one row a step, predictors and target standardised
over these sites.
"""

import csv
import sys
import tempfile
from pathlib import Path

import numpy as np

import suffice as sf


def first_sites(path, sites, folder):
    """A copy of the table with the rows of its first sites."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    at = header.index("site")
    kept = set(list(dict.fromkeys(row[at] for row in rows))[:sites])
    with open(folder / path.name, "w", newline="") as file:
        csv.writer(file).writerows([header, *(row for row in rows if row[at] in kept)])
    return folder / path.name


def line(path, sites, share):
    with tempfile.TemporaryDirectory() as folder:
        if path.is_dir():  # one file per site, as they are
            problem = sf.read(path, loss="least-squares", standardise_target=True)
        else:
            table = first_sites(path, sites, Path(folder))
            problem = sf.read(table, client="site", target="target", standardise_target=True)
    rows = sf.plan(problem, share).rows
    plans = [(row.exact_local.iterations, row.exact.iterations) for row in rows]
    alone, together = np.array([[np.inf if steps is None else steps for steps in pair] for pair in plans]).T
    gains = alone / np.maximum(together, 1)
    helped = (alone - together >= 1) & (gains >= 1.02)
    return (
        f"| {path.stem} | {np.median(alone):g} | {np.median(together):g} | {helped.sum()} of {len(rows)} | "
        f"{(alone <= 1).sum()} | {np.median(gains):.2f} |"
    )


if __name__ == "__main__":
    sites, share, *paths = sys.argv[1:]
    print("| table | alone | together | sites that gain | alone in 1 | median speed-up |\n|---|---|---|---|---|---|")
    for path in paths:
        print(line(Path(path), int(sites), share), flush=True)
