# Two commands on a fresh machine with Python >= 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test tested lint pages proofs docs wheel-check clean
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
	$(BIN)/ty check suffice
	$(BIN)/lint-imports

# Linters run beside the tests, as they use one core.
test: .venv/ready
	$(MAKE) --jobs 2 lint tested

# Every process of the tests imports the package: compiled once, also where the environment forbids it.
tested: export PYTHONDONTWRITEBYTECODE :=
tested: .venv/ready
	$(BIN)/pytest --numprocesses 2 --dist worksteal -m "not slow"

pages: .venv/ready
	$(BIN)/python docs/generate.py

# Needs Coq (Debian's package coq); ten seconds.
proofs: .venv/ready
	$(BIN)/python proofs/coq.py build/proofs

.venv/docs-ready: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

# Any warning is an error. The gallery shows heart-disease data where they are found.
docs: .venv/docs-ready
	SUFFICE_DATA="$${SUFFICE_DATA:-$(abspath ../shared/data)}" $(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

wheel-check: .venv/docs-ready
	.ci/wheel-check

clean:
	rm -rf .venv out build *.egg-info
