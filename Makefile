# Each target works from a bare clone with nothing but Python 3.11 or newer and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: install run test test-all check docs bench clean

install: $(READY)
	@echo 'dwell is installed: "source .venv/bin/activate", then "dwell init two-hills".'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[all,dev]"
	touch $@

run: $(READY)
	scripts/run

check: $(READY)
	scripts/check

# The checks take one processor only: kernels are compiled meanwhile.
test: $(READY)
	scripts/warm & warming=$$!; scripts/check || { kill $$warming; exit 1; }; wait $$warming
	scripts/test

# What takes long, too: every page of the docs, kills, all combinations of parameters, more and
# random examples, plain kernels.
test-all: check
	scripts/warm
	scripts/test --all
	scripts/test-more

docs: $(READY)
	scripts/docs

# Peers are installed one at a time: one that cannot be had is a row that says so.
bench: $(READY)
	$(BIN)/python -m bench.peers.install
	$(BIN)/python -m bench --json out/bench.json

clean:
	rm -rf $(VENV) build dist docs/_build out page/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
