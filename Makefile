# The one place where commands live. `make` alone lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv/bin

# Endpoints on this machine are plain http, downloads https: Python would ask a proxy for the former.
unexport http_proxy HTTP_PROXY

# Words for pytest or a Spark job, as in: make test ARGS="tests/unit -k framing"
ARGS ?=

.PHONY: help install demo demo-staging demo-sales demo-cdc demo-watch demo-services demo-down up down status check unit test mutants lint tf-check build contract \
  aws-check check-seed format docs lock pr nightly bench proof-schemas proof-faults campaign clean

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z%-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Set up
install: ## Make .venv and fetch the jars, all inside this clone
	@tools/install.sh

##@ The two accounts on this machine
demo: install ## Bring up both accounts and tell the whole story
	@$(VENV)/python -m demo

demo-staging: install ## Stage five related topics and join them, beside the demo or alone
	@$(VENV)/python -m demo.staging

demo-sales: install ## Sum up sales in windows, and enrich them in Avro through Apicurio
	@$(VENV)/python -m demo.sales

demo-cdc: install ## Capture the changes of a PostgreSQL database, alone or beside the demo
	@$(VENV)/python -m demo.cdc

demo-watch: install ## Let Prometheus scrape the brokers, and draw the rates of two topics
	@$(VENV)/python -m demo.watch

demo-services: install ## Let two services write to each other while brokers die and passwords change
	@$(VENV)/python -m demo.services

demo-down: down ## End what the demo left running, and drop its profiles
	@$(VENV)/python -m demo.profiles

up: install ## Start localcloud: the AWS accounts on this machine
	@$(VENV)/python -m localcloud up
	@echo "after make demo or penstock init, $(VENV)/penstock console shows both accounts in a browser"

down: install ## End localcloud and every process it started
	@$(VENV)/python -m localcloud down

status: install ## Show what runs in localcloud
	@$(VENV)/python -m localcloud status

##@ Test
check: install ## Check style, types and documents, and run the unit tests
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target unit lint docs

unit: install
	@$(VENV)/python -m tools.suite unit unit-schemas unit-sinks unit-registry unit-structure localcloud-unit

test: install ## Run every test, real Kafka brokers included (ARGS: words for one pytest)
	@$(if $(ARGS),$(VENV)/pytest $(ARGS),$(VENV)/python -m tools.suite)

check-seed: install ## Compare the tables of the sales jobs with published ones (SALES=FOLDER of the sample)
	@SALES="$(SALES)" $(VENV)/pytest tests/spark/test_sales.py tests/spark/test_sales_avro.py \
	  tests/registries/test_sales_artifacts.py

mutants: install ## Plant bugs one by one, and see the test of each fail (NAMES="loss zlib-bomb")
	@$(VENV)/python -m tools.mutants $(NAMES)

lint: install ## Check style and types
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .
	@$(VENV)/mypy

tf-check: install ## Check the Terraform: format, validity, checkov
	@$(VENV)/python tools/terraform.py check
	@tools/checkov.sh

pr: install ## Run all that CI runs
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint docs tf-check
	@$(MAKE) --no-print-directory test

nightly: install ## Run many more trials, new seeds, mutants, campaigns: the part of today, of an hour (PART=spark, or all)
	@$(VENV)/python -m tools.nightly $(PART)

campaign: install ## Run the whole platform under mixed faults, and judge it (SEED=7 MINUTES=30)
	@$(VENV)/python -m campaign $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

##@ Build
# Not by the target `install`: for that, PYTHON is the interpreter to install with.
build: ## Make the zips of Lambdas and jobs in build/ (PYTHON=3.13 ARCH=arm64, or host; BYTECODE=yes)
	@PYTHON= tools/install.sh
	@$(VENV)/python tools/build_zip.py --python $(or $(PYTHON),3.13) --arch $(or $(ARCH),arm64) $(if $(BYTECODE),--bytecode)
	@$(VENV)/python -m tools.build_plugin

##@ Deploy
contract: install ## Hand a consumer its contract, out of what was applied (CONSUMER=name)
	@$(VENV)/penstock contract $(CONSUMER)

submit-%: install ## Submit a Spark job, such as submit-consume, as the consumer's operator (WAIT=yes PROFILE=name)
	@$(VENV)/penstock $(if $(PROFILE),--profile $(PROFILE)) submit $(if $(WAIT),--wait) $* $(ARGS)

##@ Ask AWS
aws-check: install ## Settle open questions on a real account, cheaply (CONFIRM=yes, ASK=free or names)
	@$(VENV)/python -m tools.aws_check $(ASK)

##@ Develop
format: install ## Rewrite the code in the house style
	@$(VENV)/ruff check --fix .
	@$(VENV)/ruff format .

docs: install ## Check the generated parts of the documents
	@$(VENV)/python tools/check_docs.py

lock: install ## Pin the newest versions that pyproject.toml allows
	@$(VENV)/uv pip compile --quiet --upgrade pyproject.toml --all-extras --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --no-emit-package localcloud --no-emit-package penstock --output-file requirements.lock
	@$(VENV)/python localcloud/tools/lock.py
	@echo checkov | $(VENV)/uv pip compile --quiet --upgrade - --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --output-file tools/checkov.lock

clean: ## Remove everything that make put into this clone
	@rm -rf .venv .cache .localcloud localcloud/{.venv,.cache,.pytest_cache} build jars/*/lib src/penstock/spark/decoding/*.jar .mypy_cache .pytest_cache .ruff_cache .hypothesis

##@ Measure
bench: install ## Run the benchmark ladder (FORM=full or tiny, RUNGS="decode-1 write-4" for some)
	@$(VENV)/python -m bench $(if $(FORM),--form $(FORM)) $(RUNGS)

proof-schemas: install ## Send 30 live schema changes to Penstock and its peers, and write docs/proof.md
	@$(VENV)/python -m proof $(ARGS)

proof-faults: install ## Break Penstock and its peers in the same ways, and write docs/proof.md
	@$(VENV)/python -m proof.faults $(ARGS)
