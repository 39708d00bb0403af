# On a fresh machine with Python 3.11, make and git: `make demo`, `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Hundreds of processes start in the tests; none is to compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint types architecture tests tests-held tests-edges tests-read tests-agents tests-podman tests-dockerd user-tests oracle twins self-check conformance clients docs bench peers benchmarks fix clean

help:  ## list what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade -c constraints.txt pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev -e '.[all]'
	@touch $@

demo: $(READY)  ## a short tour, with what a model would see
	@$(BIN)/python docs/demo.py

# The longest first, some at a time: they wait as much as they work, and stand others beside them.
LANES := tests-podman tests-dockerd tests-agents tests-read tests-held tests-edges types lint architecture
ifneq (,$(findstring user-tests,$(NACRE_REQUIRE)))
LANES := user-tests $(LANES)
endif

test: $(READY)  ## everything that must hold
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target $(LANES)
ifeq (,$(findstring user-tests,$(NACRE_REQUIRE)))
	@echo "skipped: root's tests once more as an ordinary user; make user-tests, or NACRE_REQUIRE=user-tests, runs them"
endif

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/basedpyright
	$(BIN)/mypy

architecture: $(READY)
	$(BIN)/lint-imports

HELD := tests/attacks tests/engine tests/process tests/sandbox tests/soak
EDGES := tests/cli tests/docs
AGENTS := tests/adapters tests/server
CONTAINERS := tests/containers

tests: $(READY)  ## all tests, as this user
	$(BIN)/python -m pytest

tests-held: $(READY)
	$(BIN)/python -m pytest $(HELD)

tests-edges: $(READY)
	$(BIN)/python -m pytest $(EDGES)

tests-read: $(READY)
	$(BIN)/python -m pytest tests $(HELD:%=--ignore=%) $(EDGES:%=--ignore=%) $(AGENTS:%=--ignore=%) $(CONTAINERS:%=--ignore=%)

tests-agents: $(READY)
	$(BIN)/python -m pytest $(AGENTS)

tests-podman: $(READY)
	$(BIN)/python -m pytest $(CONTAINERS) -k "not dockerd"

tests-dockerd: $(READY)
	$(BIN)/python -m pytest $(CONTAINERS) -k dockerd

user-tests: $(READY)  ## when root: the tests of processes and sandboxes again, as an ordinary user
	@$(BIN)/python tests/as_ordinary_user.py

oracle: $(READY)  ## many scripts run where they do no harm, against their readings
	PYTHONPATH=tests $(BIN)/python -m oracle

twins: $(READY)  ## thousands of scripts by a spare and by a plain bash, compared
	PYTHONPATH=tests $(BIN)/python -m twins

self-check: $(READY)  ## inspect-ai's own checks of a sandbox, the slow ones too
	NACRE_REQUIRE=self-check $(BIN)/python -m pytest tests/adapters/test_inspect_ai_self_check.py

conformance: $(READY)  ## the MCP server on the conformance suite, which npm fetches
	PYTHONPATH=tests $(BIN)/python -m mcp_conformance

clients: $(READY)  ## real MCP clients, which npm fetches, on the MCP server
	PYTHONPATH=tests $(BIN)/python -m mcp_clients

docs: $(READY)  ## write the table of conformance, and what is made of docs/benchmarks.json, anew
	$(BIN)/python docs/conformance.py > docs/conformance.md
	$(BIN)/python docs/benchmarks.py

bench: peers  ## the table of ratios, with the tools that `make peers` has installed
	$(BIN)/nacre bench

peers: $(READY)  ## install the tools that nacre is measured beside, which PyPI and npm have, in .peers
	@$(BIN)/python -m nacre.cli.benchmarks.peers.install .peers

# A bar that does not hold makes nacre's exit code 1, and the page is to say so all the same.
benchmarks: peers  ## measure all of it, and write docs/benchmarks.* anew
	$(BIN)/nacre bench --json > .peers/benchmarks.json || test -s .peers/benchmarks.json
	mv .peers/benchmarks.json docs/benchmarks.json
	$(BIN)/python docs/benchmarks.py

fix: $(READY)  ## format, and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## forget the environment
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .conformance .clients .peers
