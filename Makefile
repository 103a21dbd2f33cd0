# Forethought's commands. They need python3 (3.11 to 3.13) and make; everything else goes into .venv, once.
#
# .venv/.made, .venv/.run, .venv/.dev, .venv/.train and .venv/.alfworld are stamps: a changed pyproject.toml installs again, nothing else does.
# uv does the installing because it is quick; where it is not to be had, or cannot reach what pip can, pip does it.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-kills test-train test-scale test-alfworld bench check format dev vendor

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.run $(VENV)/.dev $(VENV)/.train $(VENV)/.alfworld $(VENV)/.bench
INTERPRETERS := $(PYTHON) python3 python3.13 python3.12 python3.11
USABLE := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
BROWSER := $(if $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname)),,--no-browser)

help:
	@echo 'make demo    answer the demo question with recorded model replies (no key; network only to install)'
	@echo 'make test    run the tests'
	@echo 'make test-kills  kill 260 real processes and go on with what they leave (ten minutes)'
	@echo 'make test-train  train a tiny model in tests, for which the extra `train` (torch) is installed'
	@echo 'make test-alfworld  play generated ALFWorld games in tests, for which the extra `alfworld` is installed'
	@echo 'make test-scale  carry a batch out with workers that are killed, on a Postgres of its own'
	@echo 'make bench   compare cost and speed with smolagents and create_agent, with a scripted model (QUICK=1: three minutes)'
	@echo 'make check   ruff (lint and format) and mypy'
	@echo 'make format  let ruff format the code'
	@echo 'make vendor  download the scripts of the run viewer again (needs npm)'
	@echo 'make dev     start the LangGraph server with Studio (reads .env; see .env.example)'

demo: $(VENV)/.run
	@$(BIN)/forethought run --demo

# Kept bytecode, since tests start some hundred interpreters; files in their order, since those of few tests are
# some of the longest, and one of them would run alone at the end.
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

# In an environment of its own, since smolagents is no dependency of the project.
bench:
	@$(MAKE) --no-print-directory VENV=.venv-bench .venv-bench/.bench
	.venv-bench/bin/python -m benchmarks.peers $(if $(QUICK),--quick) $(BENCH)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

dev: $(VENV)/.dev
	LANGSMITH_TRACING=$${LANGSMITH_TRACING:-false} $(BIN)/langgraph dev --n-jobs-per-worker 4 $(BROWSER)

$(VENV)/.made:
	@found=; for python in $(INTERPRETERS); do \
	  if $$python -c '$(USABLE)' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'forethought needs Python 3.11, 3.12 or 3.13 with its venv module; name one with: make PYTHON=/path/to/python' >&2; \
	  exit 1; \
	fi; \
	echo "making $(VENV) with $$found"; \
	$$found -m venv $(VENV)
	@touch $@

comma := ,

# $(call install,WHAT). uv weighs 60 MB, so it goes when it is done.
define install
	@uv=$$(mktemp -d) && trap 'rm -rf "$$uv"' EXIT && \
	{ $(BIN)/python -m pip install --quiet --target "$$uv" uv && \
	  PYTHONPATH="$$uv" $(BIN)/python -m uv pip install --python $(BIN)/python $(1); } || \
	{ echo 'uv is not to be had here; pip does its work, more slowly' && $(BIN)/python -m pip install $(1); }
endef

# uv does not read pip's settings: what the environment tells pip of indexes and certificates, it is told as well.
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
	$(call install,-e . -r benchmarks/peers/requirements.txt)
	@touch $@

# $(call vendor,NAME,PACKAGE@VERSION,SHA-512 of the archive,FILE,FOLDER)
define vendor
	@tgz=$$(npm pack --silent --pack-destination $(5) $(2)) && \
	sum=$$(openssl dgst -sha512 -binary "$(5)/$$tgz" | openssl base64 -A) && \
	if [ "$$sum" != '$(3)' ]; then echo "$(2): the archive is another one: SHA-512 $$sum" >&2; exit 1; fi && \
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
