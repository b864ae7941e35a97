package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/policy/shell"
)

// withGrants returns the default policy, in which a user has allowed the commands always, one after the other.
func withGrants(t testing.TB, commands ...string) *Compiled {
	t.Helper()
	p, err := Compile(Default(), Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	var all []Grant
	for _, command := range commands {
		list, err := NewGrants(bash(command), Always, CoverCommands, p, testNow)
		if err != nil {
			t.Fatalf("%q: %v", command, err)
		}
		all = append(all, list...)
		p = p.WithGrants(all)
	}
	return p
}

func TestCommandGrant(t *testing.T) {
	p := withGrants(t, "go test ./...")
	for _, command := range []string{
		"go test", "go test ./...", "go test -run 'Test A' ./x", `go  test "./a b"`, "go test ./*", "go test 2>&1 | tail -5",
		"go test; go test ./a", "go test > /dev/null", "cd sub && go test", "env CI=1 go test", "timeout 60 go test || true",
		"bash -c 'go test'", "(go test)", "{ go test; }", "if [ -f go.mod ]; then go test; fi", "! go test", "time go test",
		"find . -name x -exec go test {} +", "for f in a b; do go test ./$f; done", "CI=1 go test", "go test {a,b}",
		"ls && go test && git --version",
	} {
		if d := Decide(bash(command), p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%q: %+v", command, d)
		}
	}
	for _, command := range []string{
		"go", "go build", "go testing", "gotest", "go -C x test", "go vet && go test", "'go test' x", "go\\ test x",
		"go test ../x", "go test *", "ls | xargs -I{} go test {}",
		"go test; x", "go test && x", "go test || x", "go test | x", "go test\nx", "go test $(x)", "go test `x`",
		"go test > f", "go test >> f",
		"FOO=1 go test", "sudo go test", "PATH=. go test", "env PATH=. go test", "cd /tmp && go test", "go test -exec ./x",
		"go test $X", "go test ~x", "go test <(x)", "go test\rx", "go test\u202ex", "./go test", "/usr/bin/go test",
		"GO test", "exec go test", "coproc go test", "ls | xargs go test", "go test -o /usr/bin/x", "go test -C /x",
		"go test >(x)",
		"go() { x; }; go test", "alias go=x; go test", "PATH=.; go test", "export GOFLAGS=-toolexec=x; go test",
		"cat .env; go test",
		"go test -run \"\u00e9\\\"; touch x #\"",
	} {
		if d := Decide(bash(command), p, testNow); d.Effect == Allow {
			t.Errorf("%q is allowed: %+v", command, d)
		}
	}
}

// The grant is for one agent, program, project and tool, and for nothing beside the command.
func TestCommandGrantIsBound(t *testing.T) {
	p := withGrants(t, "go test ./...")
	for name, change := range map[string]func(*Call){
		"agent":   func(c *Call) { c.Agent = "codex" },
		"program": func(c *Call) { c.Programs = []string{"/usr/bin/other"} },
		"folder":  func(c *Call) { c.CWD = "/elsewhere" },
		"tool":    func(c *Call) { c.Tool = "Terminal" },
		"shell":   func(c *Call) { c.Input = ReadInput(json.RawMessage(`{"command":"go test","shell":"/tmp/evil"}`)) },
		"workdir": func(c *Call) { c.Input = ReadInput(json.RawMessage(`{"command":"go test","workdir":"/tmp"}`)) },
		"twice":   func(c *Call) { c.Input = ReadInput(json.RawMessage(`{"command":"x","command":"go test"}`)) },
		"long":    func(c *Call) { c.Input = bash("go test " + strings.Repeat("x", maxInput)).Input },
	} {
		c := bash("go test ./...")
		change(&c)
		if d := Decide(c, p, testNow); d.Effect == Allow {
			t.Errorf("another %s: %+v", name, d)
		}
	}
}

// What a user allowed covers no command that does something else to the project, or reaches out of it.
func TestCommandGrantGoesNoFurther(t *testing.T) {
	for _, tt := range []struct {
		seen          string
		covered, asks []string
	}{
		{"rm -rf build", []string{"rm -rf build", "rm -rf build 2>&1"}, []string{
			"rm -fr src", "rm -rf build src", "rm -rf build/../src", "rm -rf dist/x", "cd x && rm -rf build",
			"rm -rf .", "rm -rf ./", "rm -rf x/..", "rm -rf ../shop", "rm -rf /home/u/src/shop", "cd x && rm -rf ..",
			"rm -rf .git/index",
			"find . -exec rm -rf {} +", "rm -rf --no-preserve-root build", "rm -rf {../a,../b}", "x=..; rm -rf \"$x\"", "mv . x",
		}},
		{"rm a", []string{"rm a"}, []string{"rm b", "rm -x ../a", "rm {../a,../b}", "rm .git/HEAD"}},
		{"rm -rf .", []string{"rm -rf ."}, []string{"rm -rf x"}},
		{`for f in a b; do rm "$f"; done`, []string{`for f in a b; do rm "$f"; done`, `f=b; rm "$f"`}, []string{
			`for f in c; do rm "$f"; done`, `f=c; rm "$f"`,
		}},
		{`f=a; bash <"$f"`, []string{`f=a; bash <"$f"`}, []string{`f=b; bash <"$f"`}},
		{"git commit -F -", []string{"git commit -F -", "cat a | git commit -F -"}, []string{"cat ../b | git commit -F -"}},
		{"bash a", []string{"bash a", "ls | bash a"}, []string{
			"cat ../b | bash a",
			"export LD_PRELOAD=./x; bash a", "export PATH=.; (bash a)", "bash -c 'export PATH=.; bash a'", "bash a <x",
		}},
		{"mv a b", []string{"mv a b"}, []string{"mv c d", "mv .git x", "mv .git/index x", "mv . x", "mv {../a,../b} x"}},
		{"sed -i s/a/b/ a", []string{"sed -i s/a/b/ a"}, []string{"sed -i 1e a", "sed -i -f x a", "sed -i s/a/id/e a"}},
		{
			"find . -name '*.pyc' -delete", []string{"find . -name '*.pyc' -delete"},
			[]string{"find . -delete", "find .. -name '*.pyc' -delete"},
		},
		{
			"git checkout main", []string{"git checkout -q main"},
			[]string{"git checkout .", "git checkout -- .", "git checkout a.go", "git checkout main ."},
		},
		{"git restore a.go", []string{"git restore a.go"}, []string{"git restore .", "git restore '*'", "git restore :/"}},
		{"git reset a.go", []string{"git reset a.go"}, []string{"git reset --hard"}},
		{"git push origin main", []string{"git push -u origin main", "git push -q origin main"}, []string{
			"git push origin dev", "git push origin main dev", "git push --tags origin main",
			"git push --follow-tags origin main",
			"git push other main", "git push host:path main", "git push origin +main", "git push origin :main",
			"git push origin main:x", "git push -f origin main",
		}},
		{"git pull", []string{"git pull --rebase"}, []string{"git pull host:path main", "git pull ext::sh"}},
		{"gh pr edit 3 --body x", []string{"gh pr edit 3", "gh pr edit 3 --body 'y z'"}, []string{
			"gh pr edit 4 --body x", "gh pr edit 3 --title x", "gh pr edit 3 --body-file x",
		}},
		{"gh pr close 3 -d", []string{"gh pr close 3"}, []string{"gh pr close 4 -d", "gh pr close 3 -c x"}},
		{"apt-get remove x", []string{"apt-get -q remove x"}, []string{"apt-get remove y"}},
		{"git fetch origin", []string{"git fetch -qv origin", "git fetch --dry-run origin"}, nil},
		{"git rebase --abort", []string{"git rebase --abort", "git rebase --abort -q"}, []string{"git rebase --skip"}},
		{"rubocop", []string{"rubocop -dP", "rubocop lib"}, nil},
		{"python manage.py migrate", []string{"python manage.py migrate -v 2", "python manage.py migrate --plan"}, nil},
		{"make release", []string{"make -s release", "make -k release"}, nil},
		{"nx run-many -t test", []string{"nx run-many -t test", "nx run-many --verbose --parallel -t test"}, nil},
		{"pnpm --filter a run b", []string{"pnpm --filter a run b --silent"}, []string{"pnpm -r run b"}},
		{"mvn verify -pl a", []string{"mvn -q verify -pl a", "mvn verify -pl a -B -DskipTests"}, nil},
		{"npm run deploy -w a", []string{"npm run deploy -w a --silent", "npm run deploy -w a --if-present"}, nil},
		{"git merge x", []string{"git merge y"}, []string{"git merge host:y", "git merge -s x y"}},
	} {
		p := withGrants(t, tt.seen)
		for _, command := range tt.covered {
			if d := Decide(bash(command), p, testNow); d.Effect != Allow {
				t.Errorf("%q does not cover %q: %+v", tt.seen, command, d)
			}
		}
		for _, command := range tt.asks {
			if d := Decide(bash(command), p, testNow); d.Effect == Allow {
				t.Errorf("%q covers %q: %+v", tt.seen, command, d)
			}
		}
	}
}

// What "always" remembers is exactly the new parts.
func TestOfferCommands(t *testing.T) {
	p := withGrants(t, "mix test")
	for command, want := range map[string]string{
		"mix format && mix test":          "mix format",
		"ls | mix format":                 "mix format",
		"mix format; mix format --check":  "mix format|mix format --check",
		"npm run lint && npm run lint":    "npm run lint",
		"python x.py 2>&1 | tail -3":      "python x.py",
		"mix credo > out.log":             "mix credo|> /home/u/src/shop/out.log",
		"cat <<'E' > a.py\nprint(1)\nE":   "> /home/u/src/shop/a.py",
		"rm -rf build dist":               "rm -rf build dist",
		"cp a.txt /tmp/b":                 "cp a.txt /tmp/b", // reaches out of the project: exactly this
		"cd sub && ./run.sh":              "./run.sh",
		"mix test":                        "", // nothing is new
		"ls":                              "",
		"cat .env && mix format":          "",
		"mix format $X":                   "",
		"curl x | bash":                   "",
		"cd /elsewhere && mix format":     "",
		"mix format > ~/.bashrc":          "",
		"while true; do mix format; done": "",
		"xdotool key x && mix format":     "",
	} {
		list, err := NewGrants(bash(command), Always, CoverCommands, p, testNow)
		var got []string
		for _, g := range list {
			got = append(got, g.Shown)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q (%v)", command, strings.Join(got, "|"), want, err)
		}
	}
}

func TestEditsGrant(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "src", "p")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(Default(), Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(tool, path string) Call {
		c := file(tool, path)
		c.CWD, c.Session = filepath.Join(project, "sub"), "s"
		return c
	}
	run := func(command string) Call {
		c := bash(command)
		c.CWD, c.Session = project, "s"
		return c
	}
	for _, scope := range []Scope{Always, Once} {
		if _, err := NewGrants(edit("Edit", project+"/a.go"), scope, CoverEdits, p, testNow); err == nil {
			t.Errorf("edits for %s", scope)
		}
	}
	for _, c := range []Call{
		edit("Edit", "/tmp/x"), edit("Edit", project+"/.git/hooks/x"), edit("Read", project+"/a"), run("mix test"),
		run("rm a"),
	} {
		if _, err := NewGrants(c, ThisSession, CoverEdits, p, testNow); err == nil {
			t.Errorf("edits are offered for %s %s", c.Tool, c.Input)
		}
	}
	list, err := NewGrants(edit("Edit", project+"/a.go"), ThisSession, CoverEdits, p, testNow)
	if err != nil || len(list) != 1 || list[0].Edits != project {
		t.Fatalf("%+v, %v", list, err)
	}
	p = p.WithGrants(list)
	for _, c := range []Call{
		edit("Edit", project+"/a.go"), edit("Write", project+"/new/b.go"), edit("MultiEdit", "c.go"), run("mkdir -p x/y"),
		run("touch a"),
		run("cat <<'E' > a.py\nx\nE"), run("echo hi >> notes.md"), run("cp a.txt b.txt && ls"),
		run("sed -i 's/a/b/' a.go && sed -n 1,5p a.go"), run("ls | tee out.txt"),
	} {
		if d := Decide(c, p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, d)
		}
	}
	other := edit("Edit", project+"/a.go")
	other.Session = "t"
	if err := os.Symlink(home, filepath.Join(project, "out")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Call{
		other, edit("Edit", "/tmp/x"), edit("Edit", project+"/../x"), edit("Write", project+"/.git/config"),
		edit("Write", project+"/.envrc"),
		edit("Write", project+"/.claude/settings.json"), edit("Write", project+"/out/x"), run("rm a.txt"), run("mv a b"),
		run("echo x > /tmp/y"),
		run("echo x > .git/hooks/pre-commit"), run("echo x > .git/HEAD"), run("echo x > sub/.git"), run("cp -r tmpl/. ."),
		run("cp -r x .vscode"),
		run("cat > a <<E\n$TOKEN\nE"), run("cp /etc/hostname ../x"), run("mix test"), run("ln -s /etc x"),
		run("echo x > $HOME/y"),
		run("cp ~/.ssh/id_rsa a.txt"), run("echo x > out/y"), run("curl x > y"), run("sed -i 's/a/b/e' a.go"),
		run("sed -i 's/a/b/' /etc/hosts"), run("sed -i 's/a/b/' .git/config"),
		run("sed -i 'r /etc/passwd' ~/.bashrc"), run("sed -i 's/a/b/w /tmp/x' a.go"),
	} {
		if d := Decide(c, p, testNow); d.Effect == Allow {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, d)
		}
	}
}

// Edits among temporary files belong to the same answer, as far as a call makes some.
func TestEditsGrantOfTemporaryFiles(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(t.TempDir(), "temp")
	if err := os.Symlink(real, temp); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/srv", filepath.Join(real, "out")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	const project = "/home/ann/shop"
	edit := func(path string) Call {
		c := file("Write", path)
		c.CWD = project
		return c
	}
	run := func(command string) Call {
		c := bash(command)
		c.CWD = project
		return c
	}
	none, err := Compile(Default(), Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	offer := func(c Call) string {
		list, _ := NewGrants(c, UntilQuit, CoverEdits, none, testNow)
		var roots []string
		for _, g := range list {
			roots = append(roots, g.Edits)
		}
		return strings.Join(roots, " ")
	}
	for _, tt := range []struct {
		call Call
		want string
	}{
		{edit(temp + "/a.py"), real + "/"},
		{edit(real + "/a.py"), real + "/"},
		{edit("a.py"), project},
		{run("cp a.txt " + temp + "/x && touch b"), real + "/ " + project},
		{run("echo x > " + temp + "/x 2>/dev/null"), real + "/"},
		{edit(temp + "/.claude/settings.json"), ""},
		{edit(temp + "/.ssh/id_rsa"), ""},
		{edit(temp + "/out/x"), ""},
		{edit("/srv/x"), ""},
		{run("rm " + temp + "/x"), ""},
		{run("python " + temp + "/x.py"), ""},
		{run("cp ~/.ssh/id_rsa " + temp + "/x"), ""},
	} {
		if got := offer(tt.call); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.call.Input, got, tt.want)
		}
	}

	list, err := NewGrants(edit(temp+"/a.py"), UntilQuit, CoverEdits, none, testNow)
	if err != nil || len(list) != 1 ||
		!strings.Contains(list[0].text("/home/ann"), "change files below "+real+"/ (no settings") {
		t.Fatalf("%+v, %v", list, err)
	}
	p := none.WithGrants(list)
	other := edit(temp + "/a.py")
	other.CWD = "/home/ann/blog"
	for _, c := range []Call{
		edit(temp + "/b/c.py"), edit(real + "/b.py"), run("echo x > " + temp + "/x; cat " + temp + "/x"),
	} {
		if d := Decide(c, p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%s: %+v", c.Input, d)
		}
	}
	for _, c := range []Call{
		other, edit("a.py"), edit("/srv/x"), edit(temp + "/out/x"), edit(temp + "/.git/hooks/x"), edit(temp + "/.env"),
		run("rm " + temp + "/x"),
		run("bash " + temp + "/x"), run("cp a.txt " + temp + "/x && touch b"), run("cp ~/.ssh/id_rsa " + temp + "/x"),
	} {
		if d := Decide(c, p, testNow); d.Effect == Allow {
			t.Errorf("%s: %+v", c.Input, d)
		}
	}
}

// Where the home folder lies among temporary files, these are not offered.
func TestEditsGrantKeepsHomeOut(t *testing.T) {
	home := t.TempDir()
	t.Setenv("TMPDIR", filepath.Dir(home))
	p, err := Compile(Default(), Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	c := file("Write", filepath.Dir(home)+"/x")
	c.CWD = home + "/src"
	if list, err := NewGrants(c, UntilQuit, CoverEdits, p, testNow); err == nil {
		t.Errorf("%+v", list)
	}
}

func TestRunRules(t *testing.T) {
	policy := Default()
	policy.Rules = []Rule{
		{ID: "build", Effect: Allow, Run: []string{"mix test", "go build", "npm run"}},
		{ID: "scripts", Effect: Allow, Run: []string{"./ci.sh"}, CWD: "/home/u/**"},
		{ID: "docs", Effect: Allow, Class: Write, Path: "/home/u/src/shop/docs/**"},
		{ID: "push", Effect: Deny, Run: []string{"git push --force"}},
		{ID: "deploy", Effect: Ask, Run: []string{"npm run deploy"}},
	}
	p, err := Compile(policy, Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Effect{
		"mix test": Allow,
		"cd /home/u/src/shop && mix test 2>&1 | tail -20": Allow,
		"npm run lint && npm run build":                   Allow,
		"npm run lint && npm run deploy":                  Ask,
		"npm run lint && npm publish":                     Ask,
		"bash -c 'npm run deploy'":                        Ask,
		"./ci.sh":                                         Allow,
		"mix test > docs/out.txt":                         Allow,
		"mix test > out.txt":                              Ask,
		"echo x > docs/a.md":                              Allow,
		"mix test; git push --force":                      Deny,
		"sudo git push --force":                           Deny,
		"bash -c 'git push --force origin main'":          Deny,
		"echo $(git push --force)":                        Deny,
		"ls | xargs git push --force":                     Deny,
		"git push":                                        Ask,
		"go build -o /usr/local/bin/x ./cmd/x":            Ask,
		"go build -toolexec ./evil ./...":                 Ask,
		"cd /tmp && mix test":                             Ask,
		"cat .env; mix test":                              Ask,
	} {
		if d := Decide(bash(command), p, testNow); d.Effect != want {
			t.Errorf("%q: %+v, want %s", command, d, want)
		}
	}
	for _, r := range []Rule{
		{ID: "x", Effect: Allow, Run: []string{"a | b"}}, {ID: "x", Effect: Allow, Run: []string{""}},
		{ID: "x", Effect: Allow, Run: []string{"go test"}, Path: "/home/u/**"}, {
			ID: "x", Effect: Deny, Run: []string{"go\u202etest"},
		},
	} {
		if r.Validate() == nil {
			t.Errorf("%+v is valid", r)
		}
	}
}

// However a command spells a secret, it is seen.
func TestSecretsInEveryForm(t *testing.T) {
	p := withGrants(t)
	for _, command := range []string{
		"diff <(cat .env) b.txt", "comm <(sort a) <(sort .env)", "cat ~/{.ssh/id_rsa,x}", "cat .en{v,x}", "cat ./.{env,x}",
		"cat x{/../.env,}", "for f in $(cat .env); do echo \"$f\"; done",
		"git show $(git merge-base HEAD main):.env", "cat \"$HOME/.ssh/id_rsa\"", "! cat .env", "! cd src && cat .env",
		"[ -n \"$(cat .env)\" ]", "[ -f x ] && for f in $(ls); do cat .env; done",
	} {
		if d := Decide(bash(command), p, testNow); d.Effect != Ask {
			t.Errorf("%q: %+v", command, d)
		}
	}
	for _, command := range []string{
		"diff <(cat a) b.txt", "cat ~/src/{a,x}", "cat a{v,x}", "cat \"$HOME/src/a\"",
		"! cat a", "for f in $(ls); do cat a; done",
	} {
		if d := Decide(bash(command), p, testNow); d.Effect == Ask && strings.Contains(d.Reason, "keys") {
			t.Errorf("%q: %+v", command, d)
		}
	}
}

// FuzzCommandGrant holds what a grant for "go test" lets through to be tests and commands that only read.
func FuzzCommandGrant(f *testing.F) {
	for _, s := range []string{
		"; x", " && x", " | x", "\nx", " $(x)", " `x`", " > f", " &", " -run A", " 'a b'", "\\", "\"", " #x", " && ls",
		" 2>&1 | tail",
	} {
		f.Add(s)
	}
	p := withGrants(f, "go test")
	f.Fuzz(func(t *testing.T, tail string) {
		c := bash("go test" + tail)
		if d := Decide(c, p, testNow); d.Effect != Allow {
			return
		}
		for _, part := range shell.Analyze("go test" + tail).Parts {
			isTest := len(part.Argv) > 1 && part.Argv[0] == "go" && part.Argv[1] == "test"
			if !part.Within && !part.Reads && !isTest || len(part.Output) > 0 {
				t.Errorf("%q is allowed with the part %q", tail, part.Text)
			}
		}
	})
}

// What a grant for a command does not cover: words from a file, patches, other targets than were seen, and what is not
// the project's.
func TestGrantsCoverNothingFromElsewhere(t *testing.T) {
	for seen, others := range map[string][]string{
		"rustc a.rs":          {"rustc @args", "rustc a.rs @args"},
		"javadoc A.java":      {"javadoc @args"},
		"ruff check .":        {"ruff check @args"},
		"mytool build":        {"mytool build @args"},
		"git apply a.patch":   {"git apply b.patch", "git apply < b.patch"},
		"git am a.patch":      {"git am b.patch"},
		"mytool sync":         {"mytool sync < /home/ann/notes.txt", "cat /home/ann/notes.txt | mytool sync"},
		"cmake --build build": {"cmake --build build --target install", "cmake --build build -t deploy"},
	} {
		p := withGrants(t, seen)
		if d := Decide(bash(seen), p, testNow); d.Effect != Allow {
			t.Errorf("%q itself: %+v", seen, d)
		}
		for _, other := range others {
			if d := Decide(bash(other), p, testNow); d.Effect == Allow {
				t.Errorf("%q covers %q: %+v", seen, other, d)
			}
		}
	}
}

// A grant for commands in a container says that it covers any.
func TestGrantOfAContainerSaysSo(t *testing.T) {
	p := withGrants(t)
	list, err := NewGrants(bash("docker compose exec web ls"), Always, CoverCommands, p, testNow)
	const says = `any command in the container of "docker compose exec web"`
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Text(), says) {
		t.Errorf("%+v, %v", list, err)
	}
}
