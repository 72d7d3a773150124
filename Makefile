# Everything a contributor types. `make` alone prints this list.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test unit fuzz sanitize fault simulate soak bench operate deb build format lint clean

# Extra flags for every debug build; `.ci/run` makes warnings errors with it.
SWIFT_FLAGS ?=
DEBUG_FLAGS := --explicit-target-dependency-import-check error $(SWIFT_FLAGS)
FORMATTED := Sources Tests Package.swift Benchmarks/Sources

# Another version than the system's for whatever is started below, without installing it: `make test BROKER=4.3`.
BROKER :=
# To which version the scenario cluster-upgrade of `make fault` goes.
NEXT_BROKER :=
POSTGRESQL :=
ifneq ($(BROKER),)
export APUS_RABBITMQ_PROGRAMS := $(or $(shell deploy/bin/fetch-brokers rabbitmq-$(BROKER)),$(error no RabbitMQ $(BROKER)))
endif
ifneq ($(NEXT_BROKER),)
export APUS_RABBITMQ_NEXT_PROGRAMS := $(or $(shell deploy/bin/fetch-brokers rabbitmq-$(NEXT_BROKER)),$(error no RabbitMQ $(NEXT_BROKER)))
endif
ifneq ($(POSTGRESQL),)
export APUS_POSTGRESQL_PROGRAMS := $(or $(shell deploy/bin/fetch-brokers postgresql-$(POSTGRESQL)),$(error no PostgreSQL $(POSTGRESQL)))
endif

help: ## print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

demo: ## the whole job on real parts: private RabbitMQ, simulators, one worker, 21 600 events, a ledger (DEMO_FLAGS=--outbox)
	@deploy/bin/install-packages demo
	@deploy/bin/demo $(DEMO_FLAGS)

test: ## install what is missing, build, run every test (FILTER=regex for some)
	@deploy/bin/install-packages build test
	swift build --build-tests $(DEBUG_FLAGS)
	@deploy/bin/run-tests $(if $(FILTER),--filter '$(FILTER)')

unit: ## build, run every test that starts no process: about a minute (FILTER=regex for some)
	@deploy/bin/install-packages build
	swift build --build-tests $(DEBUG_FLAGS)
	@deploy/bin/run-tests --unit $(if $(FILTER),--filter '$(FILTER)')

fuzz: ## random bytes into all that reads bytes: FUZZ_MINUTES=2 each, FUZZ_TARGETS='event api', FUZZ_REPLAY=file
	@deploy/bin/install-packages build
	@deploy/bin/fuzz $(if $(FUZZ_MINUTES),--minutes $(FUZZ_MINUTES)) $(if $(FUZZ_TARGETS),--targets '$(FUZZ_TARGETS)') \
		$(if $(FUZZ_REPLAY),--replay '$(FUZZ_REPLAY)') $(FUZZ_FLAGS)

sanitize: ## the unit tests under AddressSanitizer and under ThreadSanitizer
	@deploy/bin/install-packages build test
	@deploy/bin/sanitize $(SANITIZE_FLAGS)

fault: ## prove that nothing is lost: kill, stop, starve each part in the middle of load, and compare the books
	@deploy/bin/fault $(FAULT_FLAGS)

simulate: ## workers against models of broker, registry and APNs with faults, in a time of their own: SIMULATE_MINUTES=5
	@deploy/bin/install-packages build
	deploy/bin/build-release --product worker-simulation
	.build/release/worker-simulation --minutes $(or $(SIMULATE_MINUTES),5) $(SIMULATE_FLAGS)

soak: ## every hostile load at once at the registry's API, beside clients that must not notice: SOAK_MINUTES=10
	@deploy/bin/api-soak $(if $(SOAK_MINUTES),--minutes $(SOAK_MINUTES)) $(SOAK_FLAGS)

bench: ## measure against the budgets, beside h2load and a bare rabbitmq-c consumer (BENCH_FLAGS=--small: a trial)
	@deploy/bin/bench $(BENCH_FLAGS)

operate: ## try what operators take, on real parts: CHECKS='package image compose kubernetes dashboards page browser-push backup upgrade'
	@for check in $(or $(CHECKS),package image compose kubernetes dashboards page browser-push backup upgrade); do \
		echo "== deploy/bin/check-$$check"; deploy/bin/check-$$check || exit; \
	done

deb: ## build the Debian package: .build/package/apus_….deb
	@deploy/bin/build-package

build: ## build the command in release mode: .build/release/apus
	@deploy/bin/install-packages build
	deploy/bin/build-release --product apus

format: ## rewrite the sources in the project's format
	swift format --in-place --parallel --recursive $(FORMATTED)

lint: ## refuse what the format or the tidy rules refuse
	swift format lint --strict --parallel --recursive $(FORMATTED)
	swift build --build-tests $(DEBUG_FLAGS)
	@deploy/bin/run-tests --filter TidyTests

clean: ## remove what was built
	rm -rf .build
