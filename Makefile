# Each target makes .venv and installs what it needs: a bare machine with Python 3.11+ and make is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help install demo test faults lint format bench lock clean

help:  ## Show this help
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(VENV)/.dev  ## Install the package with everything for development into .venv

demo: $(VENV)/.demo  ## Hold a whole bounty on the bundled census sample, with server, hunters, ledger and report
	@$(BIN)/biasbounty demo --allow-weak-sandbox

test: $(VENV)/.dev  ## Run the tests
	@scripts/prerequisites $(BIN)/python
	@$(BIN)/python -m pytest

faults: $(VENV)/.dev  ## Kill servers and workers 200 times on each database, and see that nothing is lost
	@scripts/prerequisites $(BIN)/python
	@BIASBOUNTY_KILLS=200 $(BIN)/python -m pytest tests/faults

lint: $(VENV)/.dev  ## Check style, types and who imports whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.dev  ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## Run the benchmarks; writes benchmarks/out/results.json
	@$(BIN)/python -m benchmarks

lock: $(VENV)/.dev  ## Pin the requirements anew, with hashes and without addresses
	@scripts/lock $(BIN)/python

clean:  ## Remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist

$(VENV)/.demo: requirements/demo.txt pyproject.toml
	@scripts/install $(PYTHON) $(VENV) demo

$(VENV)/.dev: requirements/dev.txt requirements/torch.txt pyproject.toml
	@scripts/install $(PYTHON) $(VENV) dev
