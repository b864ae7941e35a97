# make run builds nod and starts it, make test tests it. Both first set up what the machine lacks.

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || sed -n 's/^Version = "\(.*\)"/\1/p' FyneApp.toml)
LDFLAGS   := -s -w -X main.version=$(VERSION)
# migrated_fynedo: no warning and no thread checks of Fyne's; release: reads no FyneApp.toml beside the program.
TAGS      := migrated_fynedo,release
# ci: Fyne's test driver in place of OpenGL.
TESTTAGS  := ci
FUZZTIME  ?= 20s
# How long the requests of make demo wait for answers.
DEMOTIME  ?= 5m
# The packages that are tested without a screen.
UNITS     := go list . ./app/... ./assets/... ./cmd/... ./dialogs/... ./interact/... ./ipc/... ./policy/...
# The version comes from LDFLAGS: without this, go build fails in a clone that another user owns.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

.PHONY: build run demo screenshot stop test unit e2e lint fuzz bench figures pictures update-golden clean help need-go

build: setup-build bin/nod bin/nod-desktop ## build both programs into bin/ (what make alone does)

run: setup-run build bin/virtual ## build nod and start it; without a display on a virtual one
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then exec bin/nod-desktop; else exec bin/virtual run bin/nod-desktop; fi

demo: build ## send one real request of each kind to the running nod
	@scripts/demo bin/nod $(DEMOTIME)

screenshot: bin/virtual ## save what the virtual display shows to build/screenshot.png
	@bin/virtual screenshot build/screenshot.png

stop: bin/virtual ## stop the virtual display of make run, and nod on it
	@bin/virtual stop

test: setup-test build lint unit e2e ## run every test

unit: setup-test ## run the tests that need no screen, with the race detector
	packages=$$($(UNITS)) && go test -race -tags $(TESTTAGS) $$packages

e2e: setup-test build ## test the built programs on virtual desktops, with real keys and clicks
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 10m ./e2e/...

lint: setup-build ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "run gofmt -w on:" $$unformatted; exit 1; }
	go vet ./...
	go tool staticcheck ./...

fuzz: setup-test ## run every fuzz target for FUZZTIME
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -tags $(TESTTAGS) -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			go test -tags $(TESTTAGS) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

bench: setup-test ## run the benchmarks
	packages=$$($(UNITS)) && go test -tags $(TESTTAGS) -run '^$$' -bench . -benchmem $$packages

figures: setup-test build ## measure start, first window, memory, processor and size on a virtual desktop
	NOD_E2E=1 NOD_BIN=$(CURDIR)/bin go test -count=1 -timeout 10m -run TestFigures ./e2e -figures -v

pictures: e2e ## copy the pictures of the README from the screenshots of the tests
	@mkdir -p assets/screenshots
	cp build/shots/approve.png build/shots/form.png build/shots/settings.png assets/screenshots/

update-golden: setup-test ## accept what the dialogs draw now as what they should draw: look at the changes
	go test -tags $(TESTTAGS) ./dialogs -update
	git status --short dialogs/testdata

clean: ## remove what make made
	rm -rf bin build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

# go knows best what is up to date.
bin/nod: need-go FORCE
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o $@ ./cmd/nod

bin/nod-desktop: need-go FORCE
	go build -trimpath -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $@ .

bin/virtual: need-go FORCE
	@CGO_ENABLED=0 go build -trimpath -o $@ ./e2e/virtual

.PHONY: setup-build setup-run setup-test FORCE
FORCE:
setup-build setup-run setup-test: setup-%: need-go
	@scripts/setup $*

need-go:
	@command -v go >/dev/null || { echo "make: Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and put it into PATH" >&2; exit 1; }
