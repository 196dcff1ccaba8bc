# make study [RUN=default]   set-up, every chapter, the book (book/_build/html/index.html)
# make test                  set-up, every test
# make bench                 benchmarks, ratios on the screen
RUN ?= default
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Threads beyond the cores slow small matrix products down.
export TOKENIZERS_PARALLELISM := false

.PHONY: study test bench setup
study: setup
	snakemake --snakefile notebooks/Snakefile --cores 2 --quiet rules host --config run=$(RUN)
	@echo "The book: book/_build/html/index.html"

test: setup
	$(BIN)/python tests/run_all.py

bench: setup
	$(BIN)/python -m tests.bench

setup: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[all]'
	touch $@
