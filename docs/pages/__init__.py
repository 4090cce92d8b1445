"""The generated pages, one file each; `docs/generate.py` writes them."""
