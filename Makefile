# make run     the gate's main job, shown: a pull request that fails, and its repaired twin
# make test    everything that proves the project, installing what it needs
# The rest: build, lint, bench, races, fuzz, image, release-rehearsal, pin-images, check-pins.

TOOL := go tool -modfile=.github/tools/go.mod
# How long each fuzz target runs; `make fuzz FUZZTIME=10m` for a soak.
FUZZTIME ?= 30s

# Which figures `make bench` measures, and for how long each.
BENCH ?= .
BENCHTIME ?= 5s
# Those without a bound, which are for finding where the time goes.
UNBOUNDED := ^Benchmark(BareExpressions|ClaimInFile|PacketAlone|ReadDocument|ReadMarkers|ScanCorpus|ScanOrdinary|Thoroughly|Worst)$$

.PHONY: build run test lint needs bench races fuzz image release-rehearsal pin-images check-pins

build:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false \
	  -ldflags "-s -w -buildid= -X main.commit=$$(git rev-parse HEAD 2>/dev/null)" -o handoff-gate .

run: build
	go run ./githubapi/internal/demo -binary ./handoff-gate

# What some tests need besides. Without, they are skipped, which go test says with -v alone.
OPTIONAL := node python3 perl curl zsh fish groff mandoc shellcheck script docker debootstrap

# The linters come first and the tests last, so that their result is what one sees.
test: needs lint
	@missing=; for tool in $(OPTIONAL); do command -v "$$tool" >/dev/null || missing="$$missing $$tool"; done; \
	[ -z "$$missing" ] || echo "SKIPPED: the tests that need one of these, which are not here:$$missing"; \
	[ -d "$${HANDOFF_GATE_SHARED:-../shared}/data" ] || echo 'SKIPPED: the tests that compare with published data of others (CONTRIBUTING.md)'; \
	[ "$$(id -u)" = 0 ] || echo 'SKIPPED: the tests that only root can run'
	go test -count=1 -timeout 30m ./...

lint:
	@files=$$($(TOOL) gofumpt -l main.go gate githubapi schema) && if [ -n "$$files" ]; then echo "not formatted by gofumpt:" $$files >&2; exit 1; fi
	go vet ./...
	$(TOOL) golangci-lint run ./...

# The image test makes stand-ins of the base images with debootstrap where it runs as
# root beside a Docker engine; elsewhere it says that it was skipped.
needs:
	@if command -v docker >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! command -v debootstrap >/dev/null; then \
	  echo 'installing debootstrap for the image test'; \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends debootstrap >/dev/null; \
	fi

# The figures that have a bound, as a table; status 1 when one is missed. Nothing
# in `make test` depends on a clock. All other benchmarks: go test -bench . ./...
bench:
	go test -run '^$$' -bench '$(BENCH)' -skip '$(UNBOUNDED)' -benchtime $(BENCHTIME) ./gate/run ./gate/cli ./gate/snapshot ./gate/lint ./gate/disk ./gate/internal/workflow ./gate/internal/shell ./gate/governance/audit ./gate/packet/... | go run ./gate/internal/bench/table

# A hundred rounds of 32 clones that claim one key at once: some minutes.
races:
	HANDOFF_GATE_ROUNDS=100 go test -count=1 -timeout 30m -v -run TestClones ./gate/packet/ledger/gitledger

# Each package with targets is built once, as most of the time of a short run is building.
fuzz:
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && cache=$$(go env GOCACHE)/fuzz && \
	go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package dir; do \
	  grep -qs '^func Fuzz' "$$dir"/*_test.go || continue; \
	  go test -c -fuzz=. -ldflags='-s -w' -o "$$work/fuzz.test" "$$package" && cd "$$dir" || exit 1; \
	  targets=$$("$$work/fuzz.test" -test.list '^Fuzz') || exit 1; \
	  for target in $$targets; do \
	    echo "$$package $$target"; \
	    "$$work/fuzz.test" -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) \
	      -test.fuzzcachedir "$$cache/$$package" </dev/null || exit 1; \
	  done; \
	done

image: check-pins
	docker build --tag handoff-gate \
	  --build-arg REVISION="$$(git rev-parse HEAD)" \
	  --build-arg SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" \
	  --build-arg CREATED="$$(git log -1 --format=%cI)" .

release-rehearsal:
	go run ./githubapi/internal/release rehearse -out dist

pin-images:
	go run ./githubapi/internal/release pins -update

check-pins:
	go run ./githubapi/internal/release pins
