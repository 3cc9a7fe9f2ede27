# Every target is one line of work; what takes more is a script below scripts/.

TOOL     := go tool -modfile=tools/go.mod
PACKAGES ?= ./...
# More flags for go test: make test TEST_FLAGS='-run Cursor -v'
TEST_FLAGS ?=
# Flags of the benchmarks: make bench BENCH_FLAGS='--rows 100k'
BENCH_FLAGS ?=
# Which database is started for run, services, test and bench: documentdb, mongodb, secantus
# or, where it is empty, the one that scripts/README.md names: make test ENGINE=documentdb
ENGINE ?=
export ENGINE

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## start the services, fill an empty database, serve on 127.0.0.1:8080
	@scripts/run

.PHONY: stop
stop: ## end the services that make run, make test and make services started; data is kept
	@scripts/services down

.PHONY: services
services: ## start only the database and Redis and print their addresses
	@scripts/services up

.PHONY: status
status: ## tell which services of this clone are running
	@scripts/services status

.PHONY: test
test: ## start the services and run every test with the race detector
	@scripts/test $(TEST_FLAGS) $(PACKAGES)

.PHONY: test-scripts
test-scripts: ## test the scripts that start and stop the services
	@bash scripts/tests/run

.PHONY: soak
soak: ## run the long property tests (up to two hours)
	@CATALOGUE_SOAK=1 scripts/test -run 'Soak|Property' -timeout 2h $(TEST_FLAGS) $(PACKAGES)

.PHONY: allocations
allocations: ## count the allocations of the hot paths, without the race detector
	@scripts/test -race=false -run Allocations $(TEST_FLAGS) $(PACKAGES)

.PHONY: bench
bench: build ## measure pages at any depth against what users would pick instead
	@scripts/bench $(BENCH_FLAGS)

.PHONY: build
build: ## build bin/catalogue
	@scripts/need go
	@go build -ldflags "-X main.version=$$(git describe --tags --always --dirty 2>/dev/null)" -o bin/catalogue ./cmd/catalogue

.PHONY: generate
generate: ## run the code generators
	@scripts/need go
	@go generate ./...

.PHONY: format
format: ## format the code
	@scripts/need go
	@$(TOOL) golangci-lint fmt

.PHONY: lint
lint: ## run the linters
	@scripts/need go
	@$(TOOL) golangci-lint run

.PHONY: vuln
vuln: ## look for known vulnerabilities (needs the internet)
	@scripts/need go
	@$(TOOL) govulncheck ./...

.PHONY: clean
clean: ## remove what was built; data and the shared cache are kept
	@rm -rf bin

.PHONY: reset
reset: ## end the services and delete this clone's data
	@scripts/services reset
