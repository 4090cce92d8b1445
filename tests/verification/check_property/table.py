"""Judges a share of the cells and prints what is wrong: `python tests/verification/check_property/table.py 10`.

The arguments are the share (every tenth by default), the root, which of the shares, and a file that keeps what is done,
so that a long run goes on where it ended: `table.py 2 0 0 even.txt & table.py 2 0 1 odd.txt`. The table is that of
`docs/judged.md`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[at]) for at in (1, 3)] + [str(Path(__file__).parents[2] / "helpers")]

from check_property.cells import cells, table  # noqa: E402


def main(share: int = 10, root: int = 0, part: int | None = None, kept: str = "") -> None:
    print(table())
    whole = cells()
    chosen = np.random.default_rng(0).permutation(len(whole))[(root if part is None else part) % share :: share]
    done = Path(kept).read_text().splitlines() if kept and Path(kept).exists() else []
    known = {line.split()[1] for line in done if not line.startswith(" ")}
    for place, at in enumerate(chosen):
        if str(whole[at]) in known:
            continue
        began = time.process_time()
        wrong = whole[at].faults(root)
        lines = [f"{time.process_time() - began:.2f} {whole[at]}", *(f"  {each}" for each in wrong)]
        print(f"{place + 1}/{len(chosen)}", *lines, sep="\n  ", flush=True)
        done += lines
        if kept:
            with Path(kept).open("a") as file:
                file.write("\n".join(lines) + "\n")
    judged = [line.split() for line in done if not line.startswith(" ")]
    routes = Counter(name.rsplit(":", 1)[1] for _, name in judged)
    seconds = sum(float(first) for first, _ in judged)
    print(f"{len(judged)} cells ({dict(routes)}), {seconds:.0f} CPU seconds, {len(done) - len(judged)} judged wrongly")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), kept="".join(sys.argv[4:]))
