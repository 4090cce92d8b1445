"""Judges a share of the cells and prints what is wrong: `python tests/verification/check_property/table.py 10`.

The argument is the share, every tenth by default; a second one the root. The table is that of `docs/judged.md`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = map(str, (Path(__file__).parents[1], Path(__file__).parents[3]))

from check_property.cells import cells, table  # noqa: E402


def main(share: int = 10, root: int = 0) -> None:
    print(table())
    whole = cells()
    chosen = np.random.default_rng(0).permutation(len(whole))[root::share]
    for place, at in enumerate(chosen):
        began = time.process_time()
        wrong = whole[at].faults(root)
        print(
            f"{place + 1}/{len(chosen)} {time.process_time() - began:5.1f} s  {whole[at]}",
            *wrong,
            sep="\n  ",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
