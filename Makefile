# Everything runs in .venv, which is made on first use and renewed when a lock in envs/ changes.
# You need make, Python 3.11 or newer, and a package index that uv or pip can reach.

PYTHON  ?= python3
CORES   ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
# One more than processors: tests wait for processes now and then.
TESTERS ?= $(shell expr $(CORES) + 1)
PYTEST  ?=
TARGETS ?=
SERVE   ?=
WEB     ?=
MUTATE  ?=
GAMES   ?=

VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip -qq
UV      := $(VENV)/.uv
SOLVE   := $(VENV)/.solve
RUNTIME := $(VENV)/.runtime
DEV     := $(VENV)/.dev
DOCS    := $(VENV)/.docs
REFEREE := $(VENV)/.referee
PROFILE := profiles/default
# The arena and the tournament need more than the solver does.
INSTALLED := $(if $(findstring arena,$(TARGETS))$(findstring extreme,$(TARGETS)),$(RUNTIME),$(SOLVE))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help env solve web serve test test-all check docs bench certificates theorem mutate format lock paper clean

help: ## show this list
	@echo "usage: make TARGET [CORES=n] [PYTHON=python3]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile

solve: export PYTHONDONTWRITEBYTECODE =
solve: $(INSTALLED) ## run the workflow: solve, evaluate, report (TARGETS="..." for parts of it)
	@test -x $(BIN)/snakemake || { \
		echo "The workflow needs Snakemake, which is not in $(VENV): run 'make clean', then 'make solve' again." >&2; exit 1; }
	$(BIN)/snakemake --cores $(CORES) --workflow-profile $(PROFILE) $(TARGETS)

web: $(RUNTIME) ## serve everything in data/ on this machine: play, explore, watch (WEB="..." adds options, such as --port 8090)
	$(BIN)/pttt web $(WEB)

serve: $(RUNTIME) ## start the course (SERVE="..." adds options, such as --data DIR)
	$(BIN)/pttt course serve $(SERVE)

test: $(DEV) $(REFEREE) ## run the tests but the slow ones, in five minutes (PYTEST="..." adds options, such as -k store)
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m "not slow and not full and not long" $(PYTEST)

test-all: $(DEV) $(REFEREE) ## run all tests, as CI does (PYTEST="-m full": the full-size game; "-m long": further cases, hours)
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal $(PYTEST)

check: $(DEV) ## lint, formatting and types, of the package and of the workflow
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	! $(BIN)/snakemake --lint 2>&1 | grep -v 'Specify a conda environment' | grep -E '^    \* |rror'

docs: $(DOCS) ## build the documentation as a website in build/docs, and check its links
	rm -rf build/docs # pages that are gone would stay
	$(BIN)/python -m sphinx --jobs $(CORES) --fail-on-warning --keep-going --nitpicky --quiet docs build/docs

bench: $(DEV) ## run the benchmarks
	$(BIN)/python -m benchmarks

certificates: $(DEV) ## make all certificates of docs/exact.md anew in build/proof, verify them, and add the pages that use them
	$(BIN)/python -m docs.make.certificates build/proof
	$(BIN)/python docs/make/pages.py build/proof

theorem: ## prove the values of certificates as theorems of Coq (needs coqc; GAMES="..." for some of them)
	$(PYTHON) proof/coq/prove.py $(GAMES)
	if command -v ocamlopt > /dev/null; then $(PYTHON) proof/coq/prove.py --program $(GAMES); fi

mutate: $(DEV) $(REFEREE) ## change the package in small ways and check that a test fails each time (MUTATE="..." adds options)
	$(BIN)/python -m tests.mutation.mutation $(MUTATE)

format: $(DEV) ## format the sources as check wants them
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

lock: $(DEV) ## write the locks in envs/ from pyproject.toml (UPGRADE=1: newest versions)
	$(COMPILE) --group installer --output-file envs/requirements-uv.txt
	$(COMPILE) pyproject.toml --group build --extra all --output-file envs/requirements.txt
	$(COMPILE) pyproject.toml --group build --extra course --extra exact --extra workflow --constraints envs/requirements.txt --output-file envs/requirements-solve.txt
	$(COMPILE) pyproject.toml --group build --extra slurm --constraints envs/requirements.txt --output-file envs/requirements-slurm.txt
	$(COMPILE) pyproject.toml --group build --extra dev --constraints envs/requirements.txt --constraints envs/requirements-slurm.txt --output-file envs/requirements-dev.txt
	$(COMPILE) pyproject.toml --group build --extra docs --constraints envs/requirements-dev.txt --output-file envs/requirements-docs.txt
	$(COMPILE) pyproject.toml --group build --extra openspiel --constraints envs/requirements-dev.txt --output-file envs/requirements-referee.txt

paper: ## build the paper as build/paper.pdf (needs pandoc and xelatex)
	mkdir -p build
	cd docs/paper && pandoc paper.md --citeproc --pdf-engine=xelatex --variable geometry:margin=2.5cm --variable author="The pttt-ooc developers" --output ../../build/paper.pdf

clean: ## remove .venv, caches and everything built, docs included; data/ and .snakemake/ stay
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find pttt_ooc tests benchmarks tools docs workflow -name __pycache__ -type d -prune -exec rm -rf {} +

env: $(DEV) $(REFEREE) ## make .venv with everything for development

# One set of versions for all supported Pythons and platforms, without addresses of indexes and without local paths.
COMPILE = $(BIN)/uv pip compile --quiet \
	--universal --python-version 3.11 --fork-strategy fewest $(if $(UPGRADE),--upgrade) \
	--generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

# Refuse at once what would fail later: an old Python, or a path that Snakemake does not cope with.
# The target is pip because venv installs it last: if venv was interrupted, it runs again.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed, but '$(PYTHON)' is not: set it, as in 'make PYTHON=python3.12'." >&2; exit 1; }
	@$(PYTHON) -B -m pttt_ooc.pipeline.stages.path_check
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments: install its venv module (Debian: python3-venv)." >&2; exit 1; }
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)

# uv installs several times as fast as pip.  Where uv cannot be installed, or finds no package index, pip is used.
install = { test -x $(BIN)/uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(1); } || $(PIP) install $(1) || { \
	echo "The packages of $(VENV) cannot be installed, as told above: is there a connection to a package index?" >&2; false; }

# uv leaves byte code to the first import of each module, and so does Python for the package, which is not copied.  Where
# Python is told to write none, as in many containers, that would be every import: a second or two at each start.
# `make solve` lets its imports write it, a third of all.  What cannot be compiled is not imported either.
bytecode = $(BIN)/python -m compileall -qq -j 0 -x 'site-packages/(.*/tests|pip|setuptools|fontTools)/' $(VENV)/lib/python3*/site-packages pttt_ooc || true

$(UV): envs/requirements-uv.txt | $(BIN)/pip
	@$(PIP) install --only-binary :all: --require-hashes -r envs/requirements-uv.txt || true
	@touch $@

# What `make solve` needs, and the pages of `pttt web`, which add 5 MB.  The other targets add to it; nothing is removed.
$(SOLVE): envs/requirements-solve.txt pyproject.toml | $(UV)
	@echo "Installing envs/requirements-solve.txt (less than a minute) ..."
	@$(call install,--require-hashes -r envs/requirements-solve.txt)
	@$(call install,--no-deps --no-build-isolation -e .)
	@touch $@

$(RUNTIME): envs/requirements.txt $(SOLVE)
	@echo "Installing envs/requirements.txt ..."
	@$(call install,--require-hashes -r envs/requirements.txt)
	@$(bytecode)
	@touch $@

$(DEV): envs/requirements-dev.txt $(RUNTIME)
	@echo "Installing envs/requirements-dev.txt ..."
	@$(call install,--require-hashes -r envs/requirements-dev.txt)
	@$(bytecode)
	@touch $@

$(DOCS): envs/requirements-docs.txt $(RUNTIME)
	@echo "Installing envs/requirements-docs.txt ..."
	@$(call install,--require-hashes -r envs/requirements-docs.txt)
	@$(bytecode)
	@touch $@

# Optional: without it, tests that compare with it are skipped.  Wheels only, because it takes very long to build.
$(REFEREE): envs/requirements-referee.txt $(DEV)
	@echo "Installing envs/requirements-referee.txt ..."
	@if $(call install,--only-binary :all: --require-hashes -r envs/requirements-referee.txt); then \
		$(bytecode); touch $@; \
		else echo "open_spiel cannot be installed here, for the reason above: tests that need it are skipped." >&2; fi
