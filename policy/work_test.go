package policy

import "testing"

// decides checks what a policy says of commands.
func decides(t *testing.T, p *Compiled, commands map[string]Effect) {
	t.Helper()
	for command, want := range commands {
		if d := Decide(bash(command), p, testNow); d.Effect != want {
			t.Errorf("%s: %s (%s), want %s", command, d.Effect, d.Reason, want)
		}
	}
}

// Who allowed all that builds the project allowed that, in the project, and nothing else.
func TestBuildsGrant(t *testing.T) {
	p := after(t, bash("npm test 2>&1 | tail -5"), Always, CoverBuilds)
	decides(t, p, map[string]Effect{
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
		"go test -fuzz=X ./a":              Ask,
		"go test -fuzz X -fuzztime 9s ./a": Allow,
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
	})
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

// A kind of work is offered where all that is new belongs to it, and never for all projects.
func TestWorkOffered(t *testing.T) {
	for command, want := range map[string]Cover{
		"git push": CoverGit, "git add a && git commit -m 'Mend it'": CoverGit, "git push --force": "",
		"docker compose up": CoverContainers, "docker build .": CoverContainers, "docker run x": "",
		"git push && docker compose up": "", "git commit --dry-run": "", "git pull --ff-only": "", "ls": "",
		"npm test": CoverBuilds, "ls && go vet ./...": CoverBuilds, "npm run lint -- --fix": "", "ruff format --check": "",
		"npm install": "", "npm test && npm install": "", "make deploy": "",
		"npm test > /etc/x": "", "cd /tmp && npm test": "", "rm -rf dist && npm run build": "",
		"pytest -p evil": "", "sudo make": "",
	} {
		offers := NewOffers(bash(command), compiled(t, Default()), compiled(t, Default()), testNow)
		for _, scope := range Scopes[1:] {
			for _, work := range Works {
				if got := offers.Grant(scope, work).Text != ""; got != (work == want && scope != Everywhere) {
					t.Errorf("%s, %s, %s: offered %v", command, scope, work, got)
				}
			}
		}
	}
}

// Who allowed git's usual work allowed that, and nothing by which work is lost.
func TestGitGrant(t *testing.T) {
	p := after(t, bash("git add -A && git commit -m 'Mend the cart'"), Always, CoverGit)
	decides(t, p, map[string]Effect{
		"git add src && git commit -qm 'Other words'": Allow,
		"git push":                                 Allow,
		"git push -u origin feat/cart":             Allow,
		"git push origin HEAD 2>&1 | tail -1":      Allow,
		"git push --tags":                          Ask,
		"git fetch --all && git pull --rebase":     Allow,
		"git switch -c feat/x":                     Allow,
		"git checkout -b feat/x origin/main":       Allow,
		"git checkout main && git merge feat/x":    Allow,
		"git tag -a v1.0.0 -m 'Release it'":        Allow,
		"git push --force":                         Ask,
		"git push -f origin main":                  Ask,
		"git push --force-with-lease":              Ask,
		"git push origin +main":                    Ask,
		"git push origin HEAD:main":                Ask,
		"git push origin :main":                    Ask,
		"git push origin --delete main":            Ask,
		"git push upstream main":                   Ask,
		"git push https://x.test/a main":           Ask,
		"git push ../other main":                   Ask,
		"git push --mirror":                        Ask,
		"git push --receive-pack=./x":              Ask,
		"git push --no-verify":                     Ask,
		"git -c core.sshCommand=./x push":          Ask,
		"git -C ../other push":                     Ask,
		"git --exec-path=. push":                   Ask,
		"GIT_SSH_COMMAND=./x git push":             Ask,
		"git commit --amend --no-edit":             Ask,
		"git commit --no-verify -m 'Mend it'":      Ask,
		"git commit -F ../x":                       Ask,
		"git commit -S -m 'Mend it'":               Ask,
		"git add ../other":                         Ask,
		"git checkout .":                           Ask,
		"git checkout -- go.mod":                   Ask,
		"git checkout main -- go.mod":              Ask,
		"git checkout -f main":                     Ask,
		"git checkout -B main":                     Ask,
		"git checkout --ours .":                    Ask,
		"git switch -C main":                       Ask,
		"git switch --discard-changes main":        Ask,
		"git reset --hard":                         Ask,
		"git restore .":                            Ask,
		"git clean -fd":                            Ask,
		"git rebase main":                          Ask,
		"git stash drop":                           Ask,
		"git branch -D main":                       Ask,
		"git tag -d v1":                            Ask,
		"git tag -a -f v1 -m 'Release it'":         Ask,
		"git merge -s ours x":                      Ask,
		"git pull https://x.test/a":                Ask,
		"git pull ../other":                        Ask,
		"git fetch --upload-pack=./x":              Ask,
		"git remote add x https://x.test/a":        Ask,
		"git config core.hooksPath x":              Ask,
		"git submodule update":                     Ask,
		"cd ../other && git push":                  Ask,
		"cd node_modules/x && git commit -m 'a b'": Ask,
		"git push && npm test":                     Ask,
		"git push > ../x":                          Ask,
		"gh pr create --fill":                      Ask,
		"git --icase-pathspecs checkout GO.MOD":    Ask,
		"git commit -F - < /home/u/notes.txt":      Ask,
		"cat ~/notes.txt | git commit -F -":        Ask,
		"cat go.mod | git commit -F -":             Allow,
		"git commit -F - < /tmp/message":           Allow,
		"git push < /dev/null":                     Allow,
		"cd /home/u/src/shop && git push":          Allow,
		"git checkout --conflict=merge main":       Ask,
		"git switch --conflict=diff3 main":         Ask,
		"git merge --abort":                        Ask,
		"git merge --continue":                     Allow,
		"git fetch --prune --prune-tags":           Ask,
	})
}

// Who allowed work with the project's containers allowed that, and nothing that reaches around them.
func TestContainersGrant(t *testing.T) {
	p := after(t, bash("docker compose up -d db"), Always, CoverContainers)
	decides(t, p, map[string]Effect{
		"docker compose up -d --build":                           Allow,
		"docker compose down && docker compose up":               Allow,
		"docker-compose restart web":                             Allow,
		"docker compose exec -T db psql -c 'select 1'":           Allow,
		"docker compose exec db sh -c 'ls; cat /etc/os-release'": Allow,
		"docker compose exec -u root db whoami":                  Allow,
		"docker build -t shop:dev .":                             Allow,
		"docker compose ps && docker compose logs --tail 5":      Allow,
		"docker compose -f other.yml up":                         Ask,
		"docker compose --project-directory .. up":               Ask,
		"docker compose exec --privileged db sh":                 Ask,
		"docker compose exec -e A=b db sh":                       Ask,
		"docker compose exec $S sh":                              Ask,
		"docker compose exec db sh -c \"$X\"":                    Ask,
		"docker compose exec -T db psql < /etc/shadow":           Ask,
		"docker compose exec db rm -rf /data":                    Ask,
		"docker compose exec -T db psql < dump.sql":              Allow,
		"docker compose exec -T db psql < /home/u/dump.sql":      Ask,
		"cat /home/u/notes.txt | docker compose exec -T db cat":  Ask,
		"docker compose down -v":                                 Ask,
		"docker compose run web sh":                              Ask,
		"docker compose cp db:/x /etc/x":                         Ask,
		"docker compose rm -f db":                                Ask,
		"docker compose kill":                                    Ask,
		"docker build --build-arg K=1 .":                         Ask,
		"docker build --secret id=a,src=.env .":                  Ask,
		"docker build -f ../Dockerfile .":                        Ask,
		"docker build --network host .":                          Ask,
		"docker build ..":                                        Ask,
		"docker build github.com/x/y":                            Ask,
		"docker build https://x.test/a.git":                      Ask,
		"docker build - < Dockerfile":                            Ask,
		"docker build -o /etc .":                                 Ask,
		"docker run -v /:/host x":                                Ask,
		"docker exec db sh":                                      Ask,
		"docker push shop":                                       Ask,
		"docker -H tcp://x compose up":                           Ask,
		"docker --context x compose up":                          Ask,
		"DOCKER_HOST=tcp://x docker compose up":                  Ask,
		"cd ../other && docker compose up":                       Ask,
		"sudo docker compose up":                                 Ask,
	})
}

// A file that a command writes to twice is one approval.
func TestWorkNamesEachFileOnce(t *testing.T) {
	p := compiled(t, Default())
	list, err := NewGrants(bash("npm test > out.txt && npm run lint >> out.txt"), Always, CoverBuilds, p, testNow)
	if err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}
