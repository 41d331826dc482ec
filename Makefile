# `make help` lists what there is. Nothing here needs root; a target is at most three lines.
.DEFAULT_GOAL := help
.PHONY: help setup setup-torch setup-dstack protos certs lint fix quick test test-all test-docker soak test-gpu certify \
  certify-kit web web-dev web-check demo up down up-team down-team logs demo-compose bench check
SHELL := /bin/sh
RUN := .venv/bin
# Tests run next to each other on this many processes: more than there are cores, as many wait for a server or a clock.
WORKERS ?= $(shell expr $$(nproc) + 2)
# One file needs no second process, and tests that are named run whatever their tier.
ONE_FILE = $(and $(findstring .py,$(TESTS)),$(filter 1,$(words $(TESTS))))
PYTEST = TIER=$(if $(TESTS),all,$(1)) $(RUN)/pytest -n $(if $(ONE_FILE),0,$(2)) $(TESTS)
ROUNDS ?= 10
NODE = export PATH="$(CURDIR)/.cache/web/bin:$$PATH"

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Make .venv from uv.lock and prepare the cpu device's compiler
	@deploy/setup
	@$(RUN)/python -m hipcpu.prepare && $(RUN)/python -m services.executor.devices.gfx942.prepare

setup-torch: ## Install torch, which evaluates problem definitions that come with submissions
	@deploy/setup-torch

setup-dstack: ## Install a dstack server, which the tests of the dstack provider run against
	@deploy/setup-dstack

protos: setup ## Generate the Python code of protos/ again, and the pages of who may call what and what is refused
	$(RUN)/python protos/generate.py && $(RUN)/python protos/access_page.py && $(RUN)/python protos/refusals_page.py
	$(RUN)/python deploy/env_example.py

certs: setup ## Make or renew the services' certificates in the folder CERTS (.wavepool/tls) for WAVEPOOL_TLS_DIR
	@$(RUN)/python deploy/certs.py $(CERTS)

lint: setup ## Check style, types, imports, protos, dependencies, and words and facts that have one home
	$(RUN)/ruff check && $(RUN)/ruff format --check && $(RUN)/pyright
	$(RUN)/lint-imports && $(RUN)/buf lint && .ci/breaking && $(RUN)/deptry . && (cd client && ../$(RUN)/deptry .)
	$(RUN)/towncrier build --draft --version next >/dev/null && $(RUN)/pytest -q tests/test_names.py

fix: setup ## Correct the style that can be corrected by itself
	$(RUN)/ruff check --quiet --fix --exit-zero && $(RUN)/ruff format

quick: setup ## Run the tests of one process and SQLite, in about a minute: before each commit
	$(call PYTEST,quick,$(shell expr $$(nproc) + 1))

test: setup ## Run quick, both databases, and one of each kind end to end, or the tests in TESTS
	$(call PYTEST,test,$(WORKERS))

test-all: setup ## Run all tests that can run here but long lists, as CI does
	$(call PYTEST,all,$(WORKERS))

test-docker: setup ## Run the tests that need a Docker engine; fail where there is none
	REQUIRE_ALL=1 $(RUN)/pytest -m docker

soak: setup ## Run what `test-all` leaves out, then all attacks ROUNDS times alone, and as often beside four busy processes
	TIER=soak $(RUN)/pytest -n $(WORKERS) -m soak
	@for busy in 0 4; do for round in $$(seq $(ROUNDS)); do echo "round $$round beside $$busy busy processes"; \
	  TIER=soak BUSY_PROCESSES=$$busy $(RUN)/pytest -n 1 tests/attacks || exit 1; done; done

test-gpu: setup ## Run the tests that need a real GPU
	REQUIRE_GPU=1 $(RUN)/pytest tests/gpu

certify: setup ## Find out what works on this machine's DEVICE (rocm), and write result.json and a page
	$(RUN)/wavepool certify --device $(or $(DEVICE),rocm) $(CERTIFY)

certify-kit: setup ## Make one file that certifies a machine without a network (dist/wavepool-certify.pyz)
	$(RUN)/python deploy/certify_kit/build.py

web: setup ## Build the page's files (web/dist) again, with Node.js from uv.lock; for those who change web/
	@deploy/setup-web
	@$(NODE) && $(RUN)/python -m gateway.openapi | node web/types.mjs && cd web && npm run --silent build

web-dev: setup ## Serve the page with reload against the gateway at WAVEPOOL_URL (http://127.0.0.1:8080)
	@deploy/setup-web
	@$(NODE) && cd web && npm run --silent dev

web-check: web ## Check the page's types, style and pure parts, and that its built files are those in the tree
	@$(NODE) && cd web && npm run --silent check
	@! git status --porcelain -- web/dist web/src/gateway/types.ts | grep . || { echo "run 'make web', and commit what it changes" >&2; exit 1; }

demo: setup ## Start everything, submit a right and a wrong kernel, show both results, stop
	@$(RUN)/python -m cli.demo

up: setup ## Start Wavepool on this machine until Ctrl-C
	@$(RUN)/wavepool up

down: ## Stop the Wavepool that `make up` started
	@$(RUN)/wavepool down

up-team: ## Start Wavepool for a team in containers (compose.yaml); needs Docker and the image of deploy/image
	@deploy/team up

down-team: ## Stop it; its data stay
	@deploy/team down

logs: ## Follow the logs of its containers
	@deploy/team logs --follow --tail 20

demo-compose: ## Submit a right and a wrong kernel to it, through its proxy
	@deploy/team demo

bench: setup ## Measure the overhead of the services and the speed of the cpu device
	@for program in benchmarks/*.py; do $(RUN)/python "$$program" || exit 1; done

check: lint test-all ## Everything that CI checks

# After the targets with names of their own: `make test-billing`, `make test-gateway`, `make test-hipcpu`.
test-%: setup
	TIER=all $(RUN)/pytest -n $(WORKERS) $(or $(wildcard tests/services/$* tests/$*),$(error no tests of $*))
