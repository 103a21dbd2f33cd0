# Forethought's commands. They need python3 (3.11 to 3.13) and make, and install everything else into .venv once.
#
# .venv/.made, .venv/.run, .venv/.dev, .venv/.train and .venv/.alfworld are stamps: only a changed pyproject.toml
# makes them install again. uv installs, because it is fast; if uv fails, pip does.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-kills test-train test-scale test-alfworld test-local-model bench bench-documents bench-folder bench-stream check format dev vendor

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.run $(VENV)/.dev $(VENV)/.train $(VENV)/.alfworld $(VENV)/.bench $(VENV)/.documents $(VENV)/.servers $(VENV)/.stream
INTERPRETERS := $(PYTHON) python3 python3.13 python3.12 python3.11
USABLE := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
BROWSER := $(if $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname)),,--no-browser)

help:
	@echo 'make demo           run the demo on recorded model replies (no key; the network only to install)'
	@echo 'make test           run the tests'
	@echo 'make test-kills     kill 260 processes and resume their runs (ten minutes)'
	@echo 'make test-train     train a tiny model (installs the extra `train`, with torch)'
	@echo 'make test-alfworld  play generated ALFWorld games (installs the extra `alfworld`)'
	@echo 'make test-scale     run a batch while its workers are killed (starts its own Postgres)'
	@echo 'make test-local-model  run a tiny model on two local servers (installs them and 98 MB; an hour on two cores)'
	@echo 'make bench          compare cost and speed with smolagents and create_agent (QUICK=1: three minutes)'
	@echo 'make bench-documents  compare the readers of documents with four others (installs 7 GB)'
	@echo 'make bench-folder   index and search 10,000 generated documents (QUICK=1: 1,000)'
	@echo 'make bench-stream   correct an agent once, and see whether it stays right (BENCH="--model ...")'
	@echo 'make check          run ruff (lint and format) and mypy'
	@echo 'make format         format the code with ruff'
	@echo 'make vendor         download the scripts of the run viewer again (needs npm)'
	@echo 'make dev            start the LangGraph server with Studio (reads .env; see .env.example)'

demo: $(VENV)/.run
	@$(BIN)/forethought run --demo

# Tests start some hundred interpreters, so bytecode is kept. Files run in their order: some of the longest have
# few tests, and one of them would otherwise run alone at the end.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test-kills: $(VENV)/.dev
	$(BIN)/python -m benchmarks.kills --kills 260

test-train: $(VENV)/.train
	$(BIN)/python -m pytest -m train

test-alfworld: $(VENV)/.alfworld
	$(BIN)/python -m pytest -m alfworld

test-scale: $(VENV)/.dev
	$(BIN)/python -m pytest -m scale

# The servers have an environment of their own: they are no dependencies of the project.
test-local-model: $(VENV)/.dev
	@$(MAKE) --no-print-directory VENV=.venv-local-model .venv-local-model/.servers
	$(BIN)/python -m benchmarks.local_model --python .venv-local-model/bin/python $(BENCH)

# In a separate environment, because smolagents and bm25s are no dependencies of the project.
bench:
	@$(MAKE) --no-print-directory VENV=.venv-bench .venv-bench/.bench
	.venv-bench/bin/python -m benchmarks.peers $(if $(QUICK),--quick) $(BENCH)

# The other readers have an environment of their own, because their versions conflict with the project's.
bench-documents: $(VENV)/.dev
	@$(MAKE) --no-print-directory VENV=.venv-bench-documents .venv-bench-documents/.documents
	$(BIN)/python -m benchmarks.documents $(BENCH)

bench-folder:
	@$(MAKE) --no-print-directory VENV=.venv-bench .venv-bench/.bench
	.venv-bench/bin/python -m benchmarks.folder_speed $(if $(QUICK),--quick) $(BENCH)

# Another environment, because LangMem is no dependency of the project.
bench-stream:
	@$(MAKE) --no-print-directory VENV=.venv-bench-stream .venv-bench-stream/.stream
	.venv-bench-stream/bin/python -m benchmarks.stream $(BENCH)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

dev: $(VENV)/.dev
	@echo 'The viewer is at /view on the address that follows.'
	LANGSMITH_TRACING=$${LANGSMITH_TRACING:-false} $(BIN)/langgraph dev --n-jobs-per-worker 4 $(BROWSER)

$(VENV)/.made:
	@found=; for python in $(INTERPRETERS); do \
	  if $$python -c '$(USABLE)' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'forethought needs Python 3.11, 3.12 or 3.13 with its venv module; choose one with: make PYTHON=/path/to/python' >&2; \
	  exit 1; \
	fi; \
	echo "creating $(VENV) with $$found"; \
	$$found -m venv $(VENV)
	@touch $@

comma := ,

# $(call install,WHAT). uv takes 60 MB, so it is removed afterwards.
define install
	@uv=$$(mktemp -d) && trap 'rm -rf "$$uv"' EXIT && \
	{ $(BIN)/python -m pip install --quiet --target "$$uv" uv && \
	  PYTHONPATH="$$uv" $(BIN)/python -m uv pip install --python $(BIN)/python $(1); } || \
	{ echo 'uv failed; installing with pip, which is slower' && $(BIN)/python -m pip install $(1); }
endef

# uv ignores pip's settings, so the environment's indexes and certificates are passed to it.
ifdef PIP_INDEX_URL
$(STAMPS): export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_EXTRA_INDEX_URL
$(STAMPS): export UV_INDEX ?= $(PIP_EXTRA_INDEX_URL)
endif
ifdef PIP_CERT
$(STAMPS): export SSL_CERT_FILE ?= $(PIP_CERT)
endif

$(VENV)/.run: pyproject.toml $(VENV)/.made
	$(call install,-e .)
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.made
	$(call install,-e '.[dev]')
	@touch $(VENV)/.run $@

$(VENV)/.train: pyproject.toml $(VENV)/.made
	$(call install,-e '.[dev$(comma)train]')
	@touch $(VENV)/.run $(VENV)/.dev $@

$(VENV)/.alfworld: pyproject.toml $(VENV)/.made
	$(call install,-e '.[dev$(comma)alfworld]')
	@touch $(VENV)/.run $(VENV)/.dev $@

$(VENV)/.bench: pyproject.toml benchmarks/peers/requirements.txt $(VENV)/.made
	$(call install,-e '.[evals]' -r benchmarks/peers/requirements.txt)
	@touch $@

# A virtual machine's processor may lack instructions that it lists.
$(VENV)/.servers: export CMAKE_ARGS ?= -DGGML_NATIVE=OFF
$(VENV)/.servers: benchmarks/local_model/requirements.txt $(VENV)/.made
	$(call install,-r benchmarks/local_model/requirements.txt)
	@touch $@

$(VENV)/.documents: benchmarks/documents/requirements.txt $(VENV)/.made
	$(call install,-r benchmarks/documents/requirements.txt)
	@touch $@

$(VENV)/.stream: pyproject.toml benchmarks/stream/requirements.txt $(VENV)/.made
	$(call install,-e '.[evals]' -r benchmarks/stream/requirements.txt)
	@touch $@

# $(call vendor,NAME,PACKAGE@VERSION,SHA-512 of the archive,FILE,FOLDER)
define vendor
	@tgz=$$(npm pack --silent --pack-destination $(5) $(2)) && \
	sum=$$(openssl dgst -sha512 -binary "$(5)/$$tgz" | openssl base64 -A) && \
	if [ "$$sum" != '$(3)' ]; then echo "$(2): wrong checksum, SHA-512 $$sum: check the version in the Makefile" >&2; exit 1; fi && \
	tar -xzf "$(5)/$$tgz" -C $(5) && \
	grep -v '^//# sourceMappingURL=' $(5)/package/$(4) > $(VENDORED)/$(1).min.js && \
	cp $(5)/package/LICENSE $(VENDORED)/$(1).LICENSE && rm -r $(5)/package && echo "$(2)"
endef

VENDORED := forethought/app/viewer/static/vendor

vendor:
	@rm -rf build/vendor && mkdir -p build/vendor
	$(call vendor,dagre,@dagrejs/dagre@3.1.3,X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg==,dist/dagre.min.js,build/vendor)
	$(call vendor,idiomorph,idiomorph@0.8.0,R47JBL+6jHDQvcnbppIUtXXcxi5h6+wuCEEZXnRhUltsgzPFKzThL5PuHppP9ypJuy+7WawcY1TsSBD/iQbMhw==,dist/idiomorph.min.js,build/vendor)
	@cd $(VENDORED) && sha256sum *.js *.LICENSE > sums.txt
	@rm -r build/vendor
