"""Campaign files that several tests share, and how to start one as a user does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAD = """
name = "small"
out = "results"
root = 3
"""
SMALL = f"""{HEAD}
[[verify]]
keys = ["adaptive/property-1"]
editions = ["printed", "corrected"]
[[sharpness]]
keys = ["worst-case/quadratic-norms", "adaptive/property-1"]
instances = 50
block = 20
"""
BRISK = """
name = "brisk"
out = "results"
[[sharpness]]
keys = ["adaptive/definition-1-weights", "adaptive/remark-3-binary", "cobo/alignment", "worst-case/sharp-step"]
instances = 100
block = 4
"""
"""100 cells of a few milliseconds."""
MANY, CHEAP = (BRISK.replace("100", count).replace("4", block) for count, block in (("100", "2"), ("8", "2")))
"""200 cells and 16 of them."""


def written(folder: Path, text: str) -> Path:
    """A campaign file in `folder`, made if absent."""
    folder.mkdir(exist_ok=True)
    path = folder / "campaign.toml"
    path.write_text(text)
    return path


def start(path: Path, *options: str) -> subprocess.Popen[str]:
    """`suffice campaign` in a process group of its own, its output in pipes.

    SIGINT is a new shell's: one that runs in the background starts its processes with SIGINT ignored.
    """
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    call = [sys.executable, "-c", f"{code}\nfrom suffice.cli import main; main()", "campaign", str(path), *options]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
