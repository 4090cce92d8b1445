# Two commands on a fresh machine with Python >= 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint theorem-pages errata-page clean
.DEFAULT_GOAL := demo

# The stamp is remade when what is installed could have changed.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

demo: .venv/ready
	$(BIN)/suffice demo

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest --numprocesses 2 --dist worksteal -m "not slow"

theorem-pages: .venv/ready
	$(BIN)/python -m suffice.pages docs/theorems

errata-page: .venv/ready
	$(BIN)/python -m suffice.errata_page docs/errata.md

clean:
	rm -rf .venv out build *.egg-info
