# Each target sets up what it needs in .venv; nothing has to be installed by hand but Python and make.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(shell find src -name '_*.c')
PIP := bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow test-all check format bench folds wheel docs lock clean

demo: .venv/runtime
	$(BIN)/acclock demo

test: .venv/complete
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-slow: .venv/complete
	$(BIN)/pytest -m "slow and not hardware" tests

test-all: test test-slow


check: .venv/complete
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

format: .venv/complete
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: .venv/complete
	$(BIN)/python -m benchmarks

# Models that have not met the people they are tried on; what is there already is not made again.
folds: .venv/complete
	$(BIN)/python -m benchmarks.folds

docs: .venv/complete
	$(BIN)/python docs/make_reference.py

wheel: .venv-build/complete
	.venv-build/bin/python -m build --outdir dist

# After a change of dependencies: write down exactly what is installed now.
lock: .venv/complete
	$(BIN)/pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt

clean:
	rm -rf .venv .venv-build build dist demo src/*.egg-info

.venv/python .venv-build/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "AccLock needs Python 3.11 or newer; name one with: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(@D)
	$(@D)/$(PIP) --upgrade pip
	@touch $@

# Nothing of what the wheel needs to run or to be tested: it takes seconds to set up.
.venv-build/complete: .venv-build/python pyproject.toml constraints.txt
	$(@D)/$(PIP) --group build
	@touch $@

.venv/runtime: .venv/python pyproject.toml setup.py constraints.txt $(KERNELS)
	$(@D)/$(PIP) --editable '.[plot]'
	@touch $@

.venv/complete: .venv/python pyproject.toml setup.py constraints.txt $(KERNELS)
	$(@D)/$(PIP) --editable '.[ble,cluster,executorch,mqtt,plot,postgres]' --group test --group lint
	@touch $@ .venv/runtime
