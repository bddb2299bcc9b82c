# Everything a developer runs. `make demo` and `make test` need git, make and Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The parts of the kernel tower that are finished; `make tests-kernels` runs all of them.
KERNEL_TESTS := tests/cube/test_ir_text.py tests/cube/test_locations.py \
	tests/cube/test_verifier.py $(wildcard tests/cube/test_interpreter_*.py)
EXAMPLES := square fused_linear_relu boxes

.PHONY: help setup demo test test-slow tests-only tests-kernels lint types bench clean

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
	$(BIN)/python -m pytest -n 2 -q --no-cov $(KERNEL_TESTS)
	$(BIN)/python -m pytest -n 2 -m "not slow" --ignore=tests/cube --cov --cov-report=term

test-slow: setup  ## The tests marked slow
	$(BIN)/python -m pytest -m slow

tests-kernels: setup  ## The kernel tower, on whatever runtimes this machine has
	$(BIN)/python -m pytest -m "not slow" --no-cov tests/cube

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
