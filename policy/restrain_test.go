package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who always allows a command allows none that does more.
func TestAlwaysKeepsWhatRestrains(t *testing.T) {
	for _, tt := range []struct{ granted, input string }{
		{"git push --dry-run origin main", "git push origin main"},
		{"git push -n origin main", "git push origin main"},
		{"git push --dry origin main", "git push origin main"},
		{"npm ci --ignore-scripts", "npm ci"},
		{"npm ci --ignore-scripts", "npm ci --ignore-scripts=false"},
		{"npm ci --ignore-scripts", "npm ci --ignore-scripts false"},
		{"npm ci --ignore-scripts", "npm ci --ignore-scripts --no-ignore-scripts"},
		{"npm --ignore-scripts ci", "npm ci"},
		{"npm install --dry-run", "npm install"},
		{"npm install --package-lock-only", "npm install"},
		{"npm ci --omit=dev", "npm ci"},
		{"npm ci --omit=dev", "npm ci --omit=dev --include=dev"},
		{"npm audit fix --dry-run", "npm audit fix"},
		{"npm run deploy -- --dry-run", "npm run deploy"},
		{"npm run deploy --help", "npm run deploy"},
		{"./deploy.sh --help", "./deploy.sh"},
		{"./deploy.sh --check", "./deploy.sh"},
		{"black --check .", "black ."},
		{"black --diff .", "black ."},
		{"tsc --noEmit", "tsc"},
		{"npx tsc --noEmit", "npx tsc --noEmit false"},
		{"ruff format --check", "ruff format"},
		{"ruff check --no-fix --fix", "ruff check --fix"},
		{"cargo fmt --check", "cargo fmt"},
		{"cargo build --locked --offline", "cargo build --locked"},
		{"cargo publish --dry-run", "cargo publish"},
		{"cargo install x --dry-run", "cargo install x"},
		{"mix format --check-formatted", "mix format"},
		{"mix ecto.rollback --step 1", "mix ecto.rollback"},
		{"mix ecto.rollback -n 1", "mix ecto.rollback -n 9"},
		{"mix ecto.rollback", "mix ecto.rollback --all"},
		{"mix ecto.rollback", "mix ecto.rollback -n 9"},
		{"mix ecto.rollback", "mix ecto.rollback --to 0"},
		{"mix deps.clean x", "mix deps.clean --all"},
		{"frob prune -d 7", "frob prune -d 0"},
		{"frob forget --last 7", "frob forget --last 2"},
		{"frob logs --keep 7", "frob logs --keep 0"},
		{"frob logs --older-than=7", "frob logs --older-than=0"},
		{"terraform fmt -check", "terraform fmt"},
		{"terraform fmt -check", "terraform fmt -check=false"},
		{"terraform fmt -write=false", "terraform fmt"},
		{"terraform init -backend=false", "terraform init"},
		{"isort --check-only .", "isort ."},
		{"isort -c .", "isort ."},
		{"go mod tidy -diff", "go mod tidy"},
		{"go generate -n ./...", "go generate ./..."},
		{"go test -list . ./...", "go test ./..."},
		{"go clean -testcache", "go clean"},
		{"alembic upgrade head --sql", "alembic upgrade head"},
		{"apt-get install --simulate x", "apt-get install x"},
		{"apt-get install -s x", "apt-get install x"},
		{"apt-get install --just-print x", "apt-get install x"},
		{"apt-get install --no-act x", "apt-get install x"},
		{"apt-get install --download-only x", "apt-get install x"},
		{"git rm --cached a.txt", "git rm a.txt"},
		{"git rm -n a.txt", "git rm a.txt"},
		{"git restore --staged a.txt", "git restore a.txt"},
		{"git restore --staged a.txt", "git restore --staged --worktree a.txt"},
		{"git restore -S a.txt", "git restore -SW a.txt"},
		{"git reset --soft HEAD~1", "git reset HEAD~1"},
		{"git merge --ff-only x", "git merge x"},
		{"git merge --no-commit x", "git merge --no-commit --commit x"},
		{"git merge --abort", "git merge x"},
		{"git rebase --abort", "git rebase main"},
		{"git cherry-pick -n abc", "git cherry-pick abc"},
		{"git stash --keep-index", "git stash"},
		{"git clean -n", "git clean"},
		{"git clean -f -e keep.txt", "git clean -f"},
		{"git commit --dry-run", "git commit -m x"},
		{"git commit --short", "git commit -m x"},
		{"git add -n .", "git add ."},
		{"git add --intent-to-add .", "git add ."},
		{"git apply --check a.patch", "git apply a.patch"},
		{"git apply --stat a.patch", "git apply a.patch"},
		{"git am --abort", "git am a.patch"},
		{"git worktree prune -n", "git worktree prune"},
		{"git remote prune -n origin", "git remote prune origin"},
		{"git fetch --dry-run", "git fetch"},
		{"git clone --no-checkout https://example.com/x", "git clone https://example.com/x"},
		{"make -n deploy", "make deploy"},
		{"make --recon deploy", "make deploy"},
		{"make deploy DRY_RUN=1", "make deploy"},
		{"just -n deploy", "just deploy"},
		{"task --dry deploy", "task deploy"},
		{"ninja -n", "ninja"},
		{"rake -n db:drop", "rake db:drop"},
		{"rails db:migrate --pretend", "rails db:migrate"},
		{"rsync -n a b", "rsync a b"},
		{"kubectl apply --dry-run=client -f x.yml", "kubectl apply -f x.yml"},
		{"helm upgrade a b --dry-run", "helm upgrade a b"},
		{"pip install --dry-run x", "pip install x"},
		{"pip install --no-deps x", "pip install x"},
		{"pip install --require-hashes x", "pip install x"},
		{"pip install --only-binary=:all: x", "pip install x"},
		{"uv pip install --no-deps x", "uv pip install x"},
		{"uv sync --frozen", "uv sync"},
		{"poetry install --dry-run", "poetry install"},
		{"poetry install --only main", "poetry install"},
		{"composer install --no-scripts", "composer install"},
		{"yarn install --mode=skip-build", "yarn install"},
		{"pnpm install --ignore-scripts", "pnpm install"},
		{"bun install --frozen-lockfile", "bun install"},
		{"docker run --rm --network none --read-only x", "docker run x"},
		{"docker compose up --no-deps web", "docker compose up web"},
		{"ansible-playbook --check x.yml", "ansible-playbook x.yml"},
		{"gradle -m publish", "gradle publish"},
		{"gradle build -x deploy", "gradle build"},
		{"mvn -DskipTests package", "mvn package"},
		{"mvn -DskipTests package", "mvn -DskipTests=false package"},
		{"pytest --collect-only", "pytest"},
		{"pint --test", "pint"},
		{"gh pr create --dry-run", "gh pr create"},
		{"gh pr review --comment 3", "gh pr review --approve 3"},
		{"gh pr review 3 --approve", "gh pr review 3 --request-changes"},
		{"gh pr review 3 --approve", "gh pr review 3 -r"},
		{"gh pr review --comment 3", "gh pr review -a 3"},
		{"gh pr close 3", "gh pr close 3 -d"},
		{"gh pr close 3", "gh pr close 3 --delete-branch"},
		{"gh pr ready 3", "gh pr ready 3 --undo"},
		{"gh pr ready 3 --undo", "gh pr ready 3"},
		{"gh pr checkout 3", "gh pr checkout 3 -b main"},
		{"gh pr checkout 3 -b x", "gh pr checkout 3"},
		{"gh pr edit 3 --add-label bug", "gh pr edit 3 --body 'Another text'"},
		{"gh pr edit 3 --add-label bug", "gh pr edit 3 -t 'Another title'"},
		{"gh issue edit 3 --body 'Some text'", "gh issue edit 3 --title 'Another title'"},
		{"gh workflow run deploy.yml", "gh workflow run deploy.yml -r dev"},
		{"gh workflow run deploy.yml -r dev", "gh workflow run deploy.yml"},
		{"pip uninstall x", "pip uninstall -y x"},
		{"pip install x", "pip install -U x"},
		{"uv sync", "uv sync -U"},
		{"uv sync", "uv sync -P x"},
		{"uv lock", "uv lock -U"},
		{"uv add x", "uv add -U x"},
		{"uv pip install x", "uv pip install -U x"},
		{"task deploy", "task -y deploy"},
		{"task deploy", "task -f deploy"},
		{"pnpm run deploy", "pnpm run -r deploy"},
		{"pnpm run deploy", "pnpm -w run deploy"},
		{"pnpm update x", "pnpm update -L x"},
		{"pnpm test", "pnpm test -r"},
		{"deno task deploy", "deno task -r deploy"},
		{"flatpak uninstall x", "flatpak uninstall -y x"},
		{"brew uninstall x", "brew uninstall -y x"},
		{"glab mr create -t 'A b'", "glab mr create -t 'A b' -y"},
		{"docker compose up", "docker compose up -y"},
		{"git fetch origin", "git fetch -p origin"},
		{"git fetch origin", "git fetch -qt origin"},
		{"git pull", "git pull -p"},
		{"git pull", "git pull -t"},
		{"golangci-lint fmt -d", "golangci-lint fmt"},
		{"golangci-lint fmt --diff-colored", "golangci-lint fmt"},
		{"nox -R", "nox"},
		{"port -y install x", "port install x"},
		{"dotnet test -t", "dotnet test"},
		{"apt-get remove x", "apt-get -qq remove x"},
		{"apt-get remove x", "apt-get remove -q -q x"},
		{"apt-get -q remove x", "apt-get -qq remove x"},
		{"apt-get remove x", "apt-get remove -q --quiet x"},
		{"rubocop", "rubocop -x"},
		{"rubocop", "rubocop -dx"},
		{"python3 -m venv .venv", "python3 -m venv --clear .venv"},
		{"uv venv", "uv venv --clear"},
		{"uv pip install x", "uv pip install --exact x"},
		{"poetry install", "poetry install --sync"},
		{"python manage.py flush", "python manage.py flush --noinput"},
		{"python manage.py migrate", "python manage.py migrate shop zero"},
		{"python manage.py migrate shop 2", "python manage.py migrate shop 1"},
		{"git merge dev", "git merge --abort"},
		{"git merge dev", "git merge --quit"},
		{"git rebase dev", "git rebase --abort"},
		{"git rebase dev", "git rebase --skip"},
		{"git rebase dev", "git rebase --quit"},
		{"git cherry-pick abc", "git cherry-pick --skip"},
		{"git revert abc", "git revert --abort"},
		{"make release", "make -i release"},
		{"mvn deploy", "mvn -fn deploy"},
		{"composer update a/b", "composer update a/b -W"},
		{"composer update a/b", "composer update a/b --with-dependencies"},
		{"nx run-many -t test", "nx run-many -t deploy"},
		{"nx run-many -t test", "nx run-many"},
		{"nx run-many -t test", "nx run-many --targets=deploy"},
		{"nx run-many -t test", "nx run-many -t test -t deploy"},
		{"nx run-many -t test", "nx run-many -t test -c production"},
		{"nx affected -t test", "nx affected -t deploy"},
		{"nx run-many -t a --exclude b", "nx run-many -t a"},
		{"npx nx deploy a", "npx nx deploy a --configuration=production"},
		{"nox -k lint", "nox -k release"},
		{"nox -k lint", "nox"},
		{"nox -s lint", "nox -s release"},
		{"nox", "nox -k release"},
		{"turbo run deploy --filter a", "turbo run deploy"},
		{"turbo run deploy --filter a", "turbo run deploy -F b"},
		{"pnpm --filter a run deploy", "pnpm --filter b run deploy"},
		{"pnpm --filter a run deploy", "pnpm run deploy"},
		{"pnpm run deploy", "pnpm -F b run deploy"},
		{"pnpm --filter a update x", "pnpm update x"},
		{"bun run --filter a deploy", "bun run --filter b deploy"},
		{"bun run --filter a deploy", "bun run deploy"},
		{"deno task -f a deploy", "deno task -f b deploy"},
		{"deno task -f a deploy", "deno task deploy"},
		{"yarn workspaces foreach --include a run deploy", "yarn workspaces foreach --include b run deploy"},
		{"yarn workspaces foreach --include a run deploy", "yarn workspaces foreach run deploy"},
		{"yarn workspaces foreach run build", "yarn workspaces foreach -A run build"},
		{"mvn deploy -pl a", "mvn deploy"},
		{"mvn deploy -pl a", "mvn deploy -pl b"},
		{"mvn deploy", "mvn deploy -P production"},
		{"mvn verify -P lint", "mvn verify"},
		{"npm run deploy -w a", "npm run deploy"},
		{"npm -w a run deploy", "npm -w b run deploy"},
		{"rubocop --lint", "rubocop"},
		{"prettier --check src", "prettier src"},
		{"clang-format -n a.c", "clang-format a.c"},
		{"gcc -fsyntax-only a.c", "gcc a.c"},
		{"ctest -N", "ctest"},
		{"rm -i a", "rm a"},
		{"cp -n a b", "cp a b"},
		{"mv -n a b", "mv a b"},
		{"tool deploy --read-only", "tool deploy"},
		{"tool deploy --stage dev", "tool deploy --stage prod"},
		{"tool deploy --wet false", "tool deploy --wet true"},
		{"timeout 60 npm ci --ignore-scripts", "timeout 60 npm ci"},
		{"git push -nv origin main", "git push -v origin main"},
		{"git push --dry-run origin main", "git push --dry-run=false origin main"},
		{"git push --dry-run origin main", "git push origin main -- --dry-run"},
		{"git push --dry-run origin main", "git push origin main # --dry-run"},
		{"black --check .", "black . -- --check"},
		{"./deploy --mode=dry", "./deploy -- --mode=dry"},
		{"DRY_RUN=1 ./deploy", "./deploy DRY_RUN=1"},
		{"./deploy DRY_RUN=1", "DRY_RUN=1 ./deploy"},
		{"git push --dry-run origin main", "git push origin main; echo --dry-run"},
		{"for f in 1 2; do git push --dry-run origin main; done", "git push origin main"},
		{"(git push --dry-run origin main) || true", "git push origin main"},
		{"env git push --dry-run origin main", "git push origin main"},
		{"git -C sub push --dry-run origin main", "git -C sub push origin main"},
		{"make -n deploy", "make -n -f Makefile deploy"},
		{"make -n deploy", "make -n deploy MAKEFLAGS="},
		{"make -n deploy", "MAKEFLAGS= make -n deploy"},
		{"cargo build --offline", "cargo build --config net.offline=false --offline"},
		{"bash -c 'npm ci --ignore-scripts'", "npm ci"},
		{"npm ci --ignore-scripts", "xargs npm ci"},
		{"find . -name package.json -exec npm ci --ignore-scripts ';'", "npm ci"},
		{"MIX_ENV=prod mix test", "mix test"},
		{"mix test", "MIX_ENV=prod mix test"},
		{"env MIX_ENV=test mix test", "mix test"},
		{"mix test", "env MIX_ENV=prod mix test"},
		{"export MIX_ENV=test; mix test", "mix test"},
		{"mix test", "export MIX_ENV=prod; mix test"},
		{"mix test", "MIX_ENV=prod timeout 9 mix test"},
		{"mix test", "MIX_ENV=prod bash -c 'mix test'"},
		{"MIX_ENV=test timeout 9 mix test", "timeout 9 mix test"},
		{"NODE_ENV=test npm run migrate", "npm run migrate"},
		{"DRY_RUN=1 make deploy", "make deploy"},
		{"DRY_RUN=1 make deploy", "DRY_RUN=0 make deploy"},
		{"GOOS=js go build", "go build"},
		{"go test ./...", "go test -coverprofile=main.go ."},
		{"go test ./...", "go test -o main.go ."},
		{"go test ./...", "go test -cpuprofile main.go ."},
		{"go test ./...", "go test -outputdir cmd ."},
		{"go test ./a", "go test -fuzz=X ./a"},
		{"go test -coverprofile=c.out ./...", "go test -coverprofile=main.go ./..."},
		{"go build ./...", "go build -o main.go ."},
		{"curl https://example.com/a", "curl -o main.go https://example.com/a"},
		{"gcc a.c", "gcc -o main.go a.c"},
		{"pytest", "pytest --junitxml=main.py"},
		{"eslint .", "eslint -o main.js ."},
		{"tsc", "tsc --outDir src"},
		{"bun build a.ts", "bun build --outfile main.ts a.ts"},
		{"npm run lint", "cd node_modules/x && npm run lint"},
		{"npm run lint", "cd packages/a/node_modules/x && npm run lint"},
		{"npm run lint", "npm --prefix node_modules/x run lint"},
		{"npm run lint", "(cd vendor/x; npm run lint)"},
		{"npm run lint", "pushd node_modules/x && npm run lint"},
		{"npm run lint", "env -C node_modules/x npm run lint"},
		{"cd node_modules/x && npm run lint", "npm run lint"},
		{"cd node_modules/x && npm run lint", "cd node_modules/y && npm run lint"},
		{"make", "make -C vendor/x"},
		{"git commit -m x", "git -C vendor/x commit -m x"},
		{"go test ./...", "go -C vendor/x test ./..."},
		{"cargo test", "cargo test --manifest-path vendor/x/Cargo.toml"},
		{"pytest tests", "pytest node_modules/x"},
	} {
		for _, p := range allowedBefore(t, tt.granted) {
			if d := Decide(bash(tt.input), p, testNow); d.Effect == Allow {
				t.Errorf("%q, once allowed, covers %q: %+v", tt.granted, tt.input, d)
			}
		}
	}
}

// A rule that allows a command with what restrains it allows none without.
func TestRulesKeepWhatRestrains(t *testing.T) {
	config := Default()
	config.Rules = []Rule{{ID: "red", Effect: Allow, Run: []string{
		"git push --dry-run", "black --check", "MIX_ENV=test mix test", "rm -i", "npm run lint",
	}}}
	p, err := Compile(config, Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Effect{
		"git push --dry-run origin": Allow, "black --check src": Allow, "MIX_ENV=test mix test": Allow,
		"npm run lint": Allow, "cd packages/a && npm run lint": Allow,
		"git push origin": Ask, "black src": Ask, "mix test": Ask, "MIX_ENV=prod mix test": Ask, "rm a": Ask,
		"cd node_modules/a && npm run lint": Ask,
	} {
		if d := Decide(bash(command), p, testNow); d.Effect != want {
			t.Errorf("%q: %+v, want %s", command, d, want)
		}
	}
}

// allowedBefore are policies with each of the grants that a prompt for a command offers, edits aside, which are for
// files, whatever changes them.
func allowedBefore(t *testing.T, command string) (all []*Compiled) {
	t.Helper()
	c, none := bash(command), withGrants(t)
	for _, offer := range NewOffers(c, none, none, testNow).Grants {
		if offer.Cover == CoverEdits {
			continue
		}
		list, err := NewGrants(c, offer.Scope, offer.Cover, none, testNow)
		if err != nil {
			t.Fatalf("%q: %s for %s is offered: %v", command, offer.Cover, offer.Scope, err)
		}
		p := none.WithGrants(list)
		if d := Decide(c, p, testNow); d.Effect != Allow {
			t.Errorf("%q is allowed by %s for %s, and still asked about: %+v", command, offer.Cover, offer.Scope, d)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Errorf("nothing is offered for %q", command)
	}
	return all
}

// A repository inside the project is another project.
func TestAlwaysIsForTheOwnRepository(t *testing.T) {
	project := t.TempDir()
	for _, folder := range []string{".git", "own", "clone/.git", "sub/deep"} {
		if err := os.MkdirAll(filepath.Join(project, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pointer := []byte("gitdir: ../.git/modules/sub\n")
	if err := os.WriteFile(filepath.Join(project, "sub", ".git"), pointer, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../clone", filepath.Join(project, "own", "link")); err != nil {
		t.Fatal(err)
	}
	in := func(folder, command string) Call {
		c := bash(command)
		c.CWD = filepath.Join(project, folder)
		return c
	}
	p := withGrants(t)
	list, err := NewGrants(in("", "make"), Always, CoverCommands, p, testNow)
	if err != nil {
		t.Fatal(err)
	}
	p = p.WithGrants(list)
	for _, c := range []Call{in("", "make"), in("own", "make"), in("", "cd own && make")} {
		if d := Decide(c, p, testNow); d.Effect != Allow {
			t.Errorf("%s in %s: %+v", c.Input, c.CWD, d)
		}
	}
	for _, c := range []Call{
		in("", "cd clone && make"), in("clone", "make"), in("", "cd sub/deep && make"), in("sub/deep", "make"),
		in("", "cd own/link && make"), in("own/link", "make"),
	} {
		if d := Decide(c, p, testNow); d.Effect == Allow {
			t.Errorf("%s in %s: %+v", c.Input, c.CWD, d)
		}
	}
}

// Why the user is asked is the worst that there is to say.
func TestWorstReason(t *testing.T) {
	p := withGrants(t, "go test ./...", "git push origin main")
	for command, want := range map[string]string{
		"while true; do frob x; done; rm -rf build":         `"rm" removes files`,
		"frob x && rm -rf build":                            `"rm" removes files`,
		"frob x && kubectl delete pod a":                    "changes a cluster",
		"make && frob x":                                    `doesn't know that "frob"`,
		"for f in a b; do frob $f; done":                    `doesn't know that "frob"`,
		"X=1; frob x":                                       `doesn't know that "frob"`,
		"frob x; cat ~/.ssh/id_rsa":                         "keys, passwords or tokens",
		"cat $(frob x) ~/.ssh/id_rsa":                       "keys, passwords or tokens",
		"cat $X > /tmp/a; cat ~/.aws/credentials":           "keys, passwords or tokens",
		"frob x; echo 1 > .git/hooks/a; echo 1 > ~/nod/x":   "protected path",
		"echo 1 > .git/hooks/a; echo 1 > $HOME/../x/../../": "protected path",
		"go test && frob x":                                 `doesn't know that "frob"`,
		"git push origin main && make":                      "make",
		"make && curl https://example.com":                  "reaches the network",
	} {
		if d := Decide(bash(command), p, testNow); d.Effect != Ask || !strings.Contains(d.Reason, want) {
			t.Errorf("%q: %+v, want %q", command, d, want)
		}
	}
}
