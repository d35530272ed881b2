# Two commands: `make lab` opens the workbook, `make test` checks it. `make test-all` is for a release.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: lab test test-all lint unit slow notebooks crash-matrix bench book doctor prefetch lock clean

lab: .venv/ready
	@$(BIN)/python -m workbook lab

test: lint unit notebooks

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Tests and notebooks run in so many processes, each with a lab of its own.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

unit: .venv/ready
	$(PYTEST) tests --durations=20

notebooks: .venv/ready
	WORKBOOK_LAB=notebooks-$$$$ $(PYTEST) --nbval-lax --nbval-current-env \
	  --nbval-cell-timeout=300 --durations=10 notebooks

test-all: test slow

# What takes long: every crash point, notebooks at a person's pace, wrong answers in each exercise, ...
slow: .venv/ready
	$(PYTEST) tests -m slow --durations=20

# Every variant of every system killed at every point, ten times each: writes docs/crash-matrix.md
# (about three hours; `make crash-matrix SEEDS=3` is shorter).
crash-matrix: .venv/ready
	$(BIN)/python benchmarks/crash_matrix.py $(if $(SEEDS),--seeds $(SEEDS))

# The systems beside Kafka Streams and Spark's own ways: one table. Small inputs, to see that all
# works; `make bench FULL=1` takes the real ones, some hours on a machine that does nothing else.
bench: .venv/ready
	$(BIN)/python benchmarks/compare.py $(if $(FULL),--full)

# The notebooks, run, and the docs as static pages in site/ (half an hour to an hour; `make book
# CHAPTERS=11_event_time_timeout` renders one chapter).
book: .venv/ready .venv-book/ready
	$(BIN)/python docs/site/build.py $(CHAPTERS)

.venv-book/ready: docs/site/requirements.lock .venv/ready
	@$(PYTHON) -m venv .venv-book
	@$(BIN)/uv pip install --quiet --python .venv-book/bin/python --require-hashes -r $<
	@touch $@

doctor prefetch: .venv/ready
	@$(BIN)/python -m workbook $@

# For those who change a version in pyproject.toml.
lock: .venv/ready
	PATH="$(BIN):$$PATH" $(BIN)/python tests/pins.py

clean:
	rm -rf .venv .venv-book site jupyter_execute .mypy_cache .pytest_cache .ruff_cache

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
	  echo "The workbook needs Python 3.11, 3.12 or 3.13; $(PYTHON) is $$($(PYTHON) -V 2>&1)."; \
	  echo "Name another one: make PYTHON=python3.12 lab"; exit 1; }
	@echo "Installing the packages of requirements.lock into .venv (minutes, and nothing is printed) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet "$$(grep -o '^uv==[0-9.]*' requirements.lock)"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@
