# Each target sets up its own .venv from the project's files; nothing else is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-engines test-neural fuzz mutants lint bench screenshots docs notebooks notebooks-write package package-extras clean

demo: $(VENV)/.learn
	$(BIN)/surefoot demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not heavy and not package"

test-engines: $(VENV)/.test $(VENV)/.engines  # fuzzers, kills, Spark, and libraries that take minutes to start
	SUREFOOT_ENGINES=1 $(BIN)/python -m pytest -n auto --dist worksteal tests -m "heavy or engines"

test-neural: $(VENV)/.test $(VENV)/.neural  # networks, with the small build of PyTorch
	SUREFOOT_NEURAL=1 $(BIN)/python -m pytest -n auto --dist worksteal tests/neural src/surefoot/neural docs/neural.md -m "not package"

fuzz: $(VENV)/.test  # the tests of tests/fuzz with many more inputs; SUREFOOT_FUZZ says how many times as many
	SUREFOOT_FUZZ=$${SUREFOOT_FUZZ:-40} $(BIN)/python -m pytest tests/fuzz -s

mutants: $(VENV)/.test $(VENV)/.engines  # small wrong changes, each of which a test must notice; MUTANTS picks some by parts of their names
	$(BIN)/python tests/mutants/run.py $(MUTANTS)

lint: $(VENV)/.test $(VENV)/.lint  # mypy looks into what the tests install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/near_ties.py

screenshots: $(VENV)/.test
	$(BIN)/python docs/make_screenshots.py

docs: $(VENV)/.learn $(VENV)/.docs  # into site/; a broken link, anchor or reference fails, and so does anything fetched from elsewhere
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	$(BIN)/python docs/check_site.py site

notebooks: $(VENV)/.learn $(VENV)/.notebooks  # runs all of examples/, in a copy
	$(BIN)/python examples/run.py

notebooks-write: $(VENV)/.learn $(VENV)/.notebooks  # the same, and keeps what they print
	$(BIN)/python examples/run.py --write

package: $(VENV)/.test $(VENV)/.package  # builds, checks and installs what a release is, and runs it; PACKAGE are options, such as --no-build
	$(BIN)/python -m tools.check_package $(PACKAGE)
	$(BIN)/python -m pytest tests/release -m package

package-extras: $(VENV)/.package  # each extra alone in an environment of its own, with its smallest example; EXTRAS picks some
	$(BIN)/python -m tools.check_extras $(EXTRAS)

GROUPS_OF_BUILDS := test lint engines neural docs notebooks package
BUILD_STAMPS := $(addprefix $(VENV)/.,core learn $(GROUPS_OF_BUILDS))

# One stamp per purpose: each installs what that purpose needs, and again when pyproject.toml changes.
$(VENV)/.core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.learn: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[learn]'
	touch $@

$(VENV)/.%: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group $*
	touch $@

# All of it in one resolution, for builds.
$(VENV)/.all: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[learn]' $(GROUPS_OF_BUILDS:%=--group %)
	touch $(BUILD_STAMPS) $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist site
