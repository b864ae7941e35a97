package policy

import "testing"

// Who allowed all that builds the project allowed that, in the project, and nothing else.
func TestBuildsGrant(t *testing.T) {
	p := after(t, bash("npm test 2>&1 | tail -5"), Always, CoverBuilds)
	for command, want := range map[string]Effect{
		"npm test":                         Allow,
		"npm run lint -- --fix":            Allow,
		"npm run test:unit && npx tsc":     Allow,
		"cd web && npm run build":          Allow,
		"make -j4 test":                    Allow,
		"go test ./... -run X -update":     Allow,
		"go vet ./... | head":              Allow,
		".venv/bin/ruff check --fix src":   Allow,
		"timeout 60 pytest -q tests/a.py":  Allow,
		"CI=1 npm test":                    Allow,
		"npm run deploy":                   Ask,
		"npm publish":                      Ask,
		"npm install":                      Ask,
		"npm run dev":                      Ask,
		"make":                             Allow,
		"make deploy":                      Ask,
		"make test deploy":                 Ask,
		"make CC=./x test":                 Ask,
		"make -f other.mk test":            Ask,
		"go run ./cmd/shop":                Ask,
		"go generate ./...":                Ask,
		"go test -exec ./x ./...":          Ask,
		"go test -toolexec ./x":            Ask,
		"go build -o /home/u/.bashrc":      Ask,
		"go test -coverprofile /etc/x":     Ask,
		"go test ./... > out.txt":          Ask,
		"NODE_OPTIONS='-r ./x' npm test":   Ask,
		"PATH=. npm test":                  Ask,
		"npm --prefix ../other test":       Ask,
		"cd ../other && npm test":          Ask,
		"cd node_modules/x && npm test":    Ask,
		"npm test && git push":             Ask,
		"npm test; rm -rf src":             Ask,
		"npm test $(curl https://x.test)":  Ask,
		"npx evil":                         Ask,
		"npx -p evil tsc":                  Ask,
		"npx jest --config /tmp/x.js":      Ask,
		"/tmp/pytest":                      Ask,
		"./pytest":                         Ask,
		"prettier --write ../x":            Ask,
		"prettier --write .git/hooks/x.js": Ask,
		"gofmt -w /etc/x.go":               Ask,
		"ruff check --fix ../other":        Ask,
		"eslint --fix .vscode/tasks.json":  Ask,
		"eslint --rulesdir ./x .":          Ask,
		"pytest -p evil":                   Ask,
		"pytest -c /tmp/x.ini":             Ask,
		"bash -c 'npm test'":               Allow,
		"bash -c 'npm publish'":            Ask,
		"sudo npm test":                    Ask,
		"docker run x npm test":            Ask,
		"ssh host npm test":                Ask,
		"xargs npm test < files":           Ask,
		"find . -exec npm test ;":          Ask,
		"cargo test --manifest-path /x":    Ask,
		"npm test --workspace=web":         Ask,
	} {
		if d := Decide(bash(command), p, testNow); d.Effect != want {
			t.Errorf("%s: %s (%s), want %s", command, d.Effect, d.Reason, want)
		}
	}
	other := bash("npm test")
	other.CWD = "/home/u/src/other"
	agent := bash("npm test")
	agent.Agent = "codex"
	home, nowhere, root, above := bash("npm test"), bash("npm test"), bash("npm test"), bash("npm test")
	home.CWD, nowhere.CWD, root.CWD, above.CWD = "/home/u", "", "/", "/home/u/src"
	for name, c := range map[string]Call{
		"another project": other, "another agent": agent, "the home folder": home, "no folder": nowhere, "the root": root,
		"above the project": above,
	} {
		if d := Decide(c, p, testNow); d.Effect != Ask {
			t.Errorf("%s: %s, want ask", name, d.Effect)
		}
	}
}

// It is offered where all that is new builds the project, and never for all projects.
func TestBuildsOffered(t *testing.T) {
	for command, want := range map[string]bool{
		"npm test": true, "ls && go vet ./...": true, "npm run lint -- --fix": false, "ruff format --check": false,
		"npm install": false, "npm test && npm install": false, "git push": false, "make deploy": false,
		"npm test > /etc/x": false, "cd /tmp && npm test": false, "rm -rf dist && npm run build": false,
		"pytest -p evil": false, "sudo make": false,
	} {
		offers := NewOffers(bash(command), compiled(t, Default()), compiled(t, Default()), testNow)
		for _, scope := range Scopes[1:] {
			if got := offers.GrantText(scope, CoverBuilds) != ""; got != (want && scope != Everywhere) {
				t.Errorf("%s, %s: offered %v, want %v", command, scope, got, want)
			}
		}
	}
}
