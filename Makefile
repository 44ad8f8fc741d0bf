# On a machine with nothing but Python and make: `make demo`, then `make test`.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
DOCS := $(VENV)/.docs
RLLIB := .venv-rllib
PEERS := .venv-peers
# Neighbours stay on one process, so that what one compiles serves the next; who is done takes over.
SIDE_BY_SIDE := -n 2 --dist worksteal

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 14

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[train,view]'
	@touch $@

$(DEV): $(CORE)
	$(PIP) --editable '.[train,lab,dev,sb3,torchrl,wandb,mlflow,popgym,ray,view,docs]'
	@touch $@

$(DOCS): $(CORE)
	$(PIP) --editable '.[docs]'
	@touch $@

demo: $(CORE) ## learn what to remember, and look at it
	$(BIN)/python examples/demo.py

test: $(DEV) ## the quick tests, in minutes
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

test-slow: $(DEV) ## the long tests
	$(BIN)/python -m pytest -m slow $(SIDE_BY_SIDE)

test-faults: $(DEV) ## a thousand faults: nothing lost, nothing silently wrong
	PYTHONPATH=tests $(BIN)/python -m faults

$(RLLIB)/.made: pyproject.toml constraints-rllib.txt
	$(PYTHON) -m venv $(RLLIB)
	$(RLLIB)/bin/python -m pip --disable-pip-version-check --quiet install \
		--constraint constraints-rllib.txt --editable '.[rllib]' pytest hypothesis
	@touch $@

test-rllib: $(RLLIB)/.made ## RLlib, and the wrappers under the oldest Gymnasium
	$(RLLIB)/bin/python -m pytest tests/integrations/rllib tests/memory tests/wrappers

check: $(DEV) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(DOCS) ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(DEV) ## the speed figures, as ratios measured in one run
	$(BIN)/adastack bench

$(PEERS)/%/.made: constraints-peers.txt
	$(PYTHON) -m venv $(PEERS)/$*
	$(PEERS)/$*/bin/python -m pip --disable-pip-version-check --quiet install \
		--constraint constraints-peers.txt $*
	@touch $@

bench-peers: $(DEV) $(PEERS)/memorax/.made $(PEERS)/sb3-contrib/.made $(PEERS)/rejax/.made ## recurrent PPO beside other libraries
	$(BIN)/python benchmarks/peers/compare.py $(BIN)/python \
		$(PEERS)/sb3-contrib/bin/python $(PEERS)/memorax/bin/python $(PEERS)/rejax/bin/python

clean: ## remove what make made
	rm -rf $(VENV) $(RLLIB) $(PEERS) build site .pytest_cache .mypy_cache .ruff_cache

.PHONY: help demo test test-slow test-faults test-rllib check docs bench bench-peers clean
