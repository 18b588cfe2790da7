# The commands that people and CI both use. Everything happens in .venv, made from a bare Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RELEASE := .release-venv
DOCS := .docs-venv

.PHONY: demo test test-all test-skpro guards bench docs lint format lock release release-check clean

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

guards: $(READY)
	$(BIN)/python -m tests.guards

bench: $(READY)
	@status=0; \
	$(BIN)/python -m benchmarks || status=1; \
	$(BIN)/python -m benchmarks.panel --output out/bench/panel.json || status=1; \
	exit $$status

$(RELEASE)/.ready: constraints.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --constraint constraints.txt uv build pip-audit cyclonedx-bom
	touch $(RELEASE)/.ready

lock: $(RELEASE)/.ready
	scripts/lock $(RELEASE)

release-check: $(RELEASE)/.ready
	scripts/release-check $(RELEASE)

$(DOCS)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --upgrade pip --constraint constraints.txt
	$(DOCS)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $(DOCS)/.ready

# The site in out/docs: every code block and tutorial runs, warnings are errors, and nothing is fetched.
docs: $(DOCS)/.ready
	rm -rf out/docs out/docs-trees
	$(DOCS)/bin/python docs/_ext/code_blocks.py
	$(DOCS)/bin/python -m sphinx -q -W --keep-going -b html -d out/docs-trees docs out/docs
	$(DOCS)/bin/python docs/_ext/check_site.py out/docs

# Wheel and sdist in dist/, checked, each installed into a bare environment that runs the ten lines.
release:
	$(PYTHON) scripts/release

# skpro pins an older pandas than ours, so its checks run in an environment of their own.
test-skpro:
	$(PYTHON) scripts/test-skpro

clean:
	rm -rf $(VENV) $(RELEASE) $(DOCS) .bench-venv .skpro-venv build dist out
	rm -rf .ruff_cache .mypy_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
