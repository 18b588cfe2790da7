# The commands that people and CI both use. Everything happens in .venv, made from a bare Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-all bench lint format clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip --constraint constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY)
	$(BIN)/unmet demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" tests

test-all: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile tests

bench: $(READY)
	@status=0; \
	$(BIN)/python -m benchmarks || status=1; \
	$(BIN)/python -m benchmarks.panel --output out/bench/panel.json || status=1; \
	exit $$status

clean:
	rm -rf $(VENV) .bench-venv build dist out .ruff_cache .mypy_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
