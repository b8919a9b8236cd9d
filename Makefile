# The one door: whatever a developer or CI runs is a target here. `make` alone lists them.
#
# PLATFORM=B runs any of them on PostgreSQL 17 in a chroot (root only, see scripts/install-deps); PGMQ=1.13.0 or PGMQ=sql runs the
# tests on another pgmq.

SHELL := bash
.SHELLFLAGS := -Eeuo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# What to test, and how: make test PKG=./queue RUN=TestEmit COUNT=10. SHORT=1 leaves out the tests of the tests, and kills with fewer events.
# VET=off leaves out the part of go vet that go test runs, for who has run all of it. AT_ONCE= is how many packages run at once.
# The command line, Docker's containers and the service of the tutorial are modules of their own (go.work), which ./... leaves out.
ALL := ./... ./cmd/nexus-node/... ./nexustest/container/... ./examples/6_service/...
PKG ?= $(ALL)
RUN ?=
COUNT ?=
# The SQL breaks itself a few hundred times; a slow machine takes longer than the ten minutes that go test allows a package.
TEST_FLAGS ?= -timeout 40m $(if $(SHORT),-short) $(if $(RUN),-run '$(RUN)') $(if $(COUNT),-count $(COUNT)) $(if $(VET),-vet $(VET)) $(if $(AT_ONCE),-p $(AT_ONCE))

# The race detector needs a C compiler; a machine without one still runs the tests.
RACE ?= $(if $(shell command -v "$$(go env CC)"),-race)

# What these do, the server does, or a process of its own: the race detector would only take time.
ONLY_SQL := /nexus/(sql|migrate|internal/bigdb|internal/doctor|cmd/nexus-node/internal/(cli|docgen))(/|$$)

# RERUN=1 gives up to two tests that failed a second run, and says so: CI should not throw a change away for a stall of its machine. Who
# reads "failed, then passed" there has found a test, or worse, to be mended.
GOTESTSUM := gotest.tools/gotestsum@v1.13.0
go_test = $(if $(RERUN),go run $(GOTESTSUM) --format standard-quiet --rerun-fails=1 --rerun-fails-max-failures=2 --rerun-fails-run-root-test \
	--packages "$(2)" -- $(1),go test $(1) $(2))

# Built with the Go of this machine, so that its language version is never behind the code's.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

ifdef PLATFORM
export NEXUS_PLATFORM := $(PLATFORM)
endif

# Which pgmq the tests get: a version, or `sql` for one installed from its SQL, without the extension. internal/dbtest reads the variable.
ifeq ($(PGMQ),sql)
export NEXUS_TEST_PGMQ := $(CURDIR)/bin/pgmq.sql
else ifdef PGMQ
export NEXUS_TEST_PGMQ := $(PGMQ)
endif

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: install-deps ## the main job on a Postgres of its own: emit, handle, retry, bury, replay, kill -9, schedules; KEEP=1 leaves the server running
	go run ./cmd/nexus-node demo $(if $(KEEP),--keep)

.PHONY: dev
dev: install-deps ## a Postgres of its own with everything installed, until Ctrl-C
	go run ./cmd/nexus-node dev

.PHONY: test
test: install-deps bin/with-postgres ## all tests on a fresh Postgres, with the race detector; PKG= RUN= COUNT= narrow it
ifeq ($(PKG),$(ALL))
	@failed=; \
	bin/with-postgres -- $(call go_test,$(TEST_FLAGS),$$(go list $(ALL) | grep -E '$(ONLY_SQL)')) || failed=1; \
	bin/with-postgres -- $(call go_test,$(RACE) $(TEST_FLAGS),$$(go list $(ALL) | grep -vE '$(ONLY_SQL)')) || failed=1; \
	[[ -z $$failed ]]
else
	bin/with-postgres -- $(call go_test,$(RACE) $(TEST_FLAGS),$(PKG))
endif

.PHONY: test-long
test-long: ## all that takes long: the tests with every planted bug, on both platforms, then chaos with a random seed; an hour or two
	NEXUS_TEST_LONG=1 NEXUS_TEST_NAMESPACES=2000 $(MAKE) test
	NEXUS_TEST_LONG=1 NEXUS_TEST_NAMESPACES=2000 $(MAKE) test PLATFORM=B
	$(MAKE) chaos ROUNDS=$(or $(ROUNDS),20)
	$(MAKE) chaos ROUNDS=$(or $(ROUNDS),20) PLATFORM=B

# The program says which line does a run again. Its other flags go into FLAGS: make chaos FLAGS='-faults kill,deploy -no-killers'.
SEED ?= 0
ROUNDS ?=
.PHONY: chaos
chaos: install-deps bin/chaos ## nodes killed, frozen and cut, servers crashed, tables locked, and then all accounts checked; SEED= ROUNDS= EVENTS= STRIKES= LENGTH=
	bin/chaos -seed $(SEED) $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(EVENTS),-events $(EVENTS)) $(if $(STRIKES),-strikes $(STRIKES)) $(if $(LENGTH),-length $(LENGTH)) $(FLAGS)

.PHONY: test-sql
test-sql: install-deps bin/with-postgres ## only the tests of the SQL: pgTAP, races, catalog lints
	bin/with-postgres -- go test $(TEST_FLAGS) ./sql/...

.PHONY: docs
docs: install-deps bin/with-postgres ## docs/reference from the catalog's comments
	NEXUS_UPDATE_DOCS=1 bin/with-postgres -- go test -count=1 ./cmd/nexus-node/internal/docgen

.PHONY: lint
lint: ## gofmt, go vet, golangci-lint (.golangci.yml says which linters and why)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [[ -n $$unformatted ]]; then printf 'not gofmt-ed, run gofmt -w on:\n%s\n' "$$unformatted"; exit 1; fi
	go vet $(ALL)
	cd bench/peers && GOWORK=off go vet .
	go run $(GOLANGCI_LINT) run $(ALL)

.PHONY: install-deps
install-deps: ## what tests and demo need of the system: Postgres, extensions, pgmq (Debian 12, root)
	@scripts/install-deps $(if $(filter B,$(PLATFORM)),--platform-b)
	@scripts/pgmq-for-tests $(if $(filter B,$(PLATFORM)),--platform-b)

.PHONY: build
build: ## bin/nexus-node
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/nexus-node ./cmd/nexus-node

.PHONY: clean
clean: ## remove what these targets built
	rm -rf bin

# A program, not `go run`, which would swallow its exit code and signals. Go knows best whether it is up to date.
.PHONY: bin/with-postgres
bin/with-postgres:
	@go build -o $@ ./internal/pgdev/cmd/with-postgres

.PHONY: bin/chaos
bin/chaos:
	@go build -o $@ ./chaos
