# Every target works from a fresh clone: it builds the environment it needs first.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

IS_311 := import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))
PYTHON ?= $(shell for p in python3.11 python3; do $$p -c '$(IS_311)' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PEERS := .venv-peers/bin
COMPILE = $(BIN)/uv pip compile --quiet --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCK_FLAGS)

# One BLAS thread: sums in a fixed order (same result each run), and no more threads than cores.
test test-jobs test-tools test-rest test-fast test-fast-half test-fast-rest bench fuzz soak: export OPENBLAS_NUM_THREADS := 1
test test-jobs test-tools test-rest test-fast test-fast-half test-fast-rest bench fuzz soak: export OMP_NUM_THREADS := 1
# Every process that a test starts would compile all of our modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: chromium environments ## Lint, then all tests, and the documentation (EML_DATA=folder adds those on data sets)
	$(MAKE) --no-print-directory lint
	$(MAKE) --jobs=4 --output-sync=target --no-print-directory docs test-jobs test-tools test-rest  # most of it waits

.PHONY: environments
environments:
	$(MAKE) --jobs=3 --no-print-directory .venv/.packages .venv-peers/.packages .venv-docs/.packages
	$(MAKE) --no-print-directory .venv/.ready .venv-peers/.ready  # one after another: both build the project

# The tests on a real broker, registry and Flink, in two halves that take about as long, each with a stack of its own.
JOBS := $(addprefix tests/integration/test_,job.py recovery.py restart.py scenarios.py graph.py cluster.py)

.PHONY: test-jobs
test-jobs: .venv/.ready
	$(BIN)/pytest --durations=10 $(JOBS)
	$(BIN)/pytest --durations=10 tests/hostile

.PHONY: test-tools
test-tools: .venv/.ready .venv-peers/.ready
	$(BIN)/pytest --durations=10 tests/integration $(addprefix --ignore=,$(JOBS))

.PHONY: test-rest
test-rest: .venv/.ready .venv-peers/.ready
	$(BIN)/pytest --durations=10 tests/unit tests/operator
	$(PEERS)/pytest tests/peers

# The browser that looks at `eml watch`. Without it its tests are skipped, and say how to get it.
.PHONY: chromium
chromium: ## Install Debian's Chromium for the tests of the page, where it is missing and this is root
	@if ! command -v chromium chromium-browser google-chrome >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium ..."; \
		timeout 120 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 600 apt-get install -qq --no-install-recommends chromium >/dev/null \
			|| echo "Chromium cannot be had: the tests in a browser are skipped" >&2; \
	fi

.PHONY: test-fast
test-fast: .venv/.ready ## Tests without the slow ones, the data sets, the peers and the linters
	$(MAKE) --jobs=2 --output-sync=target --no-print-directory test-fast-half test-fast-rest

# About half of their time.
HALF := tests/unit/core tests/unit/evaluate tests/unit/watch tests/operator
FAST := $(BIN)/pytest -m "not slow and not data"

.PHONY: test-fast-half
test-fast-half: .venv/.ready
	$(FAST) $(HALF)

.PHONY: test-fast-rest
test-fast-rest: .venv/.ready
	$(FAST) tests/unit $(addprefix --ignore=,$(HALF))

.PHONY: lint
lint: .venv/.ready ## Check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: .venv/.ready ## Format the code and fix what can be fixed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: docs
docs: .venv/.ready .venv-docs/.packages ## Build the documentation in build/site; a broken link is an error
	$(BIN)/python -m tools.reference build/reference
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

.PHONY: benchmarks
benchmarks: .venv/.ready ## Write the tables of docs/benchmarks.md and docs/sizing.md anew from the runs in evidence/bench
	$(BIN)/python -m tools.benchmarks

.PHONY: evidence
evidence: .venv/.ready ## Write docs/evidence.md and README's table anew from the trials in evidence/
	$(BIN)/python -m tools.evidence

.PHONY: demo
demo: .venv/.ready ## Run the demonstration
	$(BIN)/eml demo

.PHONY: bench
bench: .venv-peers/.ready ## Measure speed, beside River's models
	$(PEERS)/python -m tests.bench

.PHONY: fuzz
fuzz: .venv-fuzz/.ready ## Fuzz decoder, schemas and models for FUZZ_SECONDS (300), guided by coverage
	PYTHONPATH=jobs:. .venv-fuzz/bin/python -m tests.hostile.fuzz

.PHONY: soak
soak: .venv/.ready ## Mixed hostile and good traffic of 200 keys for SOAK_MINUTES (20) at the highest rate
	$(BIN)/python -m tests.hostile.soak --minutes $(or $(SOAK_MINUTES),20) --keys 200

.PHONY: lock
lock: .venv/.ready ## Pin requirements/*.txt anew from pyproject.toml (LOCK_FLAGS=--upgrade for newest)
	$(COMPILE) pyproject.toml --extra evaluate --extra local --extra watch --extra dev \
		--constraints requirements/job.constraints.txt --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --extra job --constraints requirements/dev.txt --output-file requirements/job.txt
	$(COMPILE) pyproject.toml --extra peers --extra test \
		--overrides requirements/peers.overrides.txt --output-file requirements/peers.txt
	$(COMPILE) requirements/fuzz.in --output-file requirements/fuzz.txt
	$(COMPILE) requirements/docs.in --output-file requirements/docs.txt

.PHONY: clean
clean: ## Remove the environments, caches and build output
	rm -rf .venv .venv-peers .venv-fuzz .venv-docs .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -rf build dist jobs/eml.egg-info
	find jobs tests -name __pycache__ -prune -exec rm -rf {} +

# $(call packages,FOLDER,REQUIREMENTS,FLAGS): a new environment with exactly these packages.
define packages
	@$(or $(PYTHON),false) -c '$(IS_311)' 2>/dev/null || { \
		echo "EML needs Python 3.11 with its venv module (Debian: apt install python3.11 python3.11-venv)," \
			"or name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Building $1 from $2 (a minute or two) ..."
	@$(PYTHON) -m venv --clear $1
	@$1/bin/pip install --quiet --disable-pip-version-check --require-hashes $3 -r $2
	@touch $@
endef

# The project itself, editable; the build backend is in the environment, pinned like the rest.
define project
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
endef

.venv/.packages: requirements/dev.txt
	$(call packages,.venv,$<)

# The list is complete; what it leaves out (requirements/peers.overrides.txt) must not be asked for again.
.venv-peers/.packages: requirements/peers.txt
	$(call packages,.venv-peers,$<,--no-deps)

# Compiled once here, and not by every test and job at the same time.
.venv/.ready: .venv/.packages pyproject.toml
	$(project)
	@$(BIN)/python -c 'from eml.core import predictor; predictor.warm_up()'

.venv-peers/.ready: .venv-peers/.packages pyproject.toml
	$(project)

.venv-docs/.packages: requirements/docs.txt
	$(call packages,.venv-docs,$<)

# atheris alone; all else is found in .venv, whose packages it must not change.
.venv-fuzz/.ready: requirements/fuzz.txt .venv/.ready
	$(call packages,.venv-fuzz,$<)
	@realpath .venv/lib/python3.11/site-packages > .venv-fuzz/lib/python3.11/site-packages/eml.pth
	@touch $@
