# Everything a developer runs. `make demo` and `make test` need git, make and Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
EXAMPLES := square fused_linear_relu boxes

.PHONY: help setup demo test test-slow tests-only lint types bench clean

help:  ## This list
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST)

setup: $(READY)  ## A virtual environment with firebrick, its tests and linters

$(READY): pyproject.toml tools/setup.sh
	@sh tools/setup.sh "$(PYTHON)" "$(VENV)"
	@touch $(READY)

demo: setup  ## The examples, checked on every backend of this machine
	@for name in $(EXAMPLES); do $(BIN)/python examples/$$name.py || exit 1; done
	PYTHONPATH=examples $(BIN)/firebrick check $(EXAMPLES)
	$(BIN)/firebrick devices

test: setup lint types tests-only  ## All that must pass before a change goes in

tests-only: setup
	$(BIN)/python -m pytest -n 2 -m "not slow" --cov --cov-report=term

test-slow: setup  ## The tests marked slow
	$(BIN)/python -m pytest -m slow

lint: setup  ## ruff, and the layers of docs/architecture.md
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup  ## pyright, strict
	$(BIN)/pyright

bench: setup  ## Ratios against peers measured in the same process
	$(BIN)/python -m benchmarks

clean:  ## Removes the virtual environment and what tools leave behind
	rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .pytest_cache .ruff_cache \
		.import_linter_cache .pyright
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
