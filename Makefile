# Everything a fresh machine with Python 3.11, make, git and a package index needs. `make help` lists the targets.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit fuzz mutation verify bench eval lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.runtime: lock/runtime.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed: install it, or run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	@echo "creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-deps --require-hashes -r lock/runtime.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(PIP) check
	@touch $@

$(VENV)/.test: $(VENV)/.runtime lock/test.txt
	@$(PIP) install --no-deps --require-hashes -r lock/test.txt
	@$(PIP) check
	@touch $@

# Servers and clients that nobody here wrote, in an environment of their own; Node.js comes with it.
FOREIGN := $(VENV)/foreign
$(VENV)/.foreign: $(VENV)/.test lock/foreign.txt tests/foreign/package-lock.json
	@echo "installing foreign servers for the end-to-end tests"
	@$(PYTHON) -m venv $(FOREIGN)
	@$(FOREIGN)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes -r lock/foreign.txt
	@$(FOREIGN)/bin/python -m pip --disable-pip-version-check --quiet check
	@mkdir -p $(FOREIGN)/npm && cp tests/foreign/package.json tests/foreign/package-lock.json tests/foreign/.npmrc $(FOREIGN)/npm/
	@PATH="$(CURDIR)/$(FOREIGN)/bin:$$PATH" NODE_OPTIONS=--use-system-ca npm install --silent --no-save --ignore-scripts --prefix $(FOREIGN)/npm
	@touch $@

$(VENV)/.bench: $(VENV)/.runtime lock/bench.txt
	@$(PIP) install --no-deps --require-hashes -r lock/bench.txt
	@$(PIP) check
	@touch $@

$(VENV)/.peers: $(VENV)/.runtime $(VENV)/.foreign lock/peer-fastmcp.txt lock/peer-mcp-gateway.txt lock/peer-contextforge.txt benchmarks/utcp/package-lock.json
	@for peer in fastmcp mcp-gateway contextforge; do $(PYTHON) -m venv $(VENV)/peers/$$peer && \
		$(VENV)/peers/$$peer/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes -r lock/peer-$$peer.txt && \
		$(VENV)/peers/$$peer/bin/python -m pip --disable-pip-version-check --quiet check || exit 1; done
	@mkdir -p $(VENV)/peers/utcp && cp benchmarks/utcp/package.json benchmarks/utcp/package-lock.json benchmarks/utcp/.npmrc benchmarks/utcp/bench.mjs $(VENV)/peers/utcp/
	@cd $(VENV)/peers/utcp && PATH="$(CURDIR)/$(FOREIGN)/bin:$$PATH" NODE_OPTIONS=--use-system-ca npm ci --silent --ignore-scripts
	@touch $@

demo: $(VENV)/.runtime ## A real gateway, an agent at work, fourteen attacks, and programs in the sandbox
	@$(BIN)/ironcurtain demo

test: lint types unit ## The everyday suite

lint: $(VENV)/.test ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test ## mypy, strict
	$(BIN)/mypy

unit: $(VENV)/.foreign ## All tests
	$(BIN)/python -m pytest -n 4 --dist worksteal -q

fuzz: $(VENV)/.test ## The engine against the reference, the fuzz targets, every fault and every escape, at length
	@rm -f .comparisons
	HYPOTHESIS_PROFILE=long COMPARISONS=.comparisons $(BIN)/python -m pytest -n 2 -q tests/spec tests/properties tests/analysis tests/fuzz tests/faults tests/sandbox tests/e2e/test_code.py tests/e2e/test_agent.py tests/e2e/test_bad_servers.py \
		tests/e2e/test_http.py tests/e2e/test_asking_servers.py tests/corpus tests/language tests/compiler/test_models.py tests/compiler/test_annotate.py \
		tests/unit/test_command_line.py tests/unit/test_edges.py tests/unit/test_import_original.py tests/unit/test_active_policy.py
	@awk '{n += $$1} END {print n " comparisons of the engine with the reference"}' .comparisons

mutation: $(VENV)/.test ## Break every condition of engine and resolve, one at a time
	$(BIN)/python tools/mutate.py

verify: test fuzz mutation ## Everything, with the long sweeps

bench: $(VENV)/.test $(VENV)/.bench $(VENV)/.peers ## Speed and memory, beside peers
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.gateway
	$(BIN)/python -m benchmarks.compiler
	$(BIN)/python -m benchmarks.code

eval: $(VENV)/.test ## How well tools and constitutions are understood
	$(BIN)/python -m evaluation

lock: $(VENV)/.test ## Write the lock files anew
	$(PIP) install uv
	tools/lock

clean: ## Remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
