"""Sphinx: `make docs` builds this folder into build/docs."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import warnings
from pathlib import Path

HERE = Path(__file__).parent

project = "suffice"
author = "the contributors of suffice"
release = importlib.metadata.version("suffice")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["gallery/*.md5", "gallery/*.py", "gallery/*.ipynb", "gallery/*.json"]
html_theme = "furo"
html_title = f"suffice {release}"
html_copy_source = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_js_files = ["filter.js"]
default_role = "code"
smartquotes = False  # quotes in code stay straight
add_module_names = False  # a public name is `suffice.NAME`; where it is written may change

# Markdown: mathematics between dollars, links to headings by GitHub's anchors.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = True

# Formulas are set by MathJax from the built folder, without the network.
mathjax_path = "mathjax/tex-chtml.js"

bibtex_bibfiles = ["../suffice/bounds/references.bib"]
bibtex_default_style = "unsrt"

# Docstrings are plain text with shapes in parentheses; columns of parameters become sections.
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 10,
    "write_computation_times": False,  # its page would load scripts from the network
}
warnings.filterwarnings("ignore", category=UserWarning, message=r".*non-interactive.*cannot be shown.*")


def _text(line):
    """What stands in backquotes is code; all else is shown as it is written."""
    parts = re.split(r"(`+[^`]+`+)", line)
    parts[::2] = [re.sub(r"([\\*`|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"\\ ``{part.strip('`')}``\\ " for part in parts[1::2]]
    return "".join(parts)


def _parameters(written, known):
    """Lines `name, name  meaning`, the further ones indented, as a section; None for lines about anything else."""
    entries = []
    for line in written:
        head = re.match(r"(\w+(?:, \w+)*)\s{2,}(\S.*)", line)
        if head and set(head[1].split(", ")) <= known:
            entries.append((head[1], [head[2]]))
        elif entries and line.startswith(" "):
            entries[-1][1].append(line.strip())
        else:
            return None
    shown = [":Parameters:"]
    for name, meaning in entries:
        shown += [f"    ``{name}``", *(f"        {_text(one)}" for one in meaning)]
    return shown


def _literal_docstring(app, what, name, obj, options, lines):
    """Paragraphs flow and columns keep their lines; parameters, what is returned and errors have their sections."""
    try:
        signature = inspect.signature(obj)
    except (TypeError, ValueError):  # of a constant, say
        signature = inspect.Signature()
    shown, raised = [], ""
    for paragraph in re.sub(r"\n(?=Raises )", "\n\n", "\n".join(lines)).split("\n\n"):
        if found := re.search(r"(?:^|(?<=\.)\s)Raises (.*)", paragraph, re.DOTALL):
            paragraph, raised = paragraph[: found.start()], found[1]
        written = paragraph.splitlines()
        section = _parameters(written, set(signature.parameters)) if written else None
        columns = any(re.search(r"^ |\S {2,}\S", line) for line in written)
        shown += section or ["| " * columns + _text(line if columns else line.strip()) for line in written]
        shown.append("")
    gives = signature.return_annotation
    if what in ("function", "method") and gives not in (signature.empty, None, "None", "Any"):
        shown.append(f":Returns: ``{gives}``")
    if raised:
        shown += [":Raises: " + _text(" ".join(raised.split()))]
    lines[:] = [*shown, ""]


def _page_of_bounds(app, error):
    """What `suffice explore` writes, beside the documentation."""
    if error is None and app.builder.name == "html":
        from suffice.explorer import explore

        explore(Path(app.outdir) / "every-bound.html")


def setup(app):
    app.connect("autodoc-process-docstring", _literal_docstring)
    app.connect("build-finished", _page_of_bounds)
