package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nod/policy"
)

// strictFile asks about what a fresh installation lets pass, and denies.
const strictFile = `policy:
  auto_allow: []
  rules:
    - {id: build, effect: allow, command: make}
    - {id: no-push, effect: deny, run: [git push]}
`

// sealed opens a store that holds back what others write, on files that the next one in the test finds again.
func sealed(t *testing.T, folder string) *Store {
	t.Helper()
	s, err := Open(filepath.Join(folder, "config.yaml"), filepath.Join(folder, "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	return s
}

func sealedFolder(t *testing.T, config string) (folder, path string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "nod")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "config.yaml")
	write(t, path, config)
	return folder, path
}

func wantEffects(t *testing.T, s *Store, when string, want map[string]policy.Effect) {
	t.Helper()
	for command, effect := range want {
		if d := s.Decide(bash(command)); d.Effect != effect {
			t.Errorf("%s: %s: %+v, want %s", when, command, d, effect)
		}
	}
}

// rules that another program puts in place of goodFile: it forgets a deny, allows more and denies more.
const tamperedFile = `policy:
  auto_allow: [read_only]
  rules:
    - {id: build, effect: allow, command: make}
    - {id: more, effect: allow, command: make install}
    - {id: less, effect: deny, command: make clean}
`

func TestHeldChange(t *testing.T) {
	for _, between := range []bool{false, true} {
		folder, path := sealedFolder(t, goodFile)
		s := sealed(t, folder)
		wantEffects(t, s, "the first text counts", map[string]policy.Effect{"make": policy.Allow, "git push": policy.Deny})
		write(t, path, tamperedFile)
		if between { // nod's runs
			s = sealed(t, folder)
		}
		s.refresh()
		wantEffects(t, s, "held", map[string]policy.Effect{
			"make": policy.Allow, "make install": policy.Ask, "make clean": policy.Deny, "git push": policy.Deny,
			"make all": policy.Ask,
		})
		held, isHeld := s.Held()
		if !isHeld || held.Before != goodFile || held.After != tamperedFile {
			t.Fatalf("held: %v, %+v", isHeld, held)
		}
		if d := s.Decide(bash("make install")); !strings.Contains(d.Reason, "another program") {
			t.Errorf("reason %q does not say why", d.Reason)
		}
		if err := s.Update(func(c *Config) error { c.Policy.AskEverything = true; return nil }); !errors.Is(
			err,
			errHeld,
		) {
			t.Errorf("update while a change is held: %v", err)
		}
		if err := s.Accept(held); err != nil {
			t.Fatal(err)
		}
		wantEffects(
			t,
			s,
			"accepted",
			map[string]policy.Effect{"make install": policy.Allow, "make clean": policy.Deny, "git push": policy.Ask},
		)
		wantEffects(
			t,
			sealed(t, folder),
			"and after a restart",
			map[string]policy.Effect{"make install": policy.Allow, "git push": policy.Ask},
		)
	}
}

func TestUndoHeldChange(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	write(t, path, tamperedFile)
	s.refresh()
	held, _ := s.Held()
	if err := s.Undo(held); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != goodFile {
		t.Errorf("the file is not as it was: %v\n%s", err, text)
	}
	if _, isHeld := s.Held(); isHeld {
		t.Error("something is still held")
	}
}

// Only what the user has seen can be accepted.
func TestAcceptSeesANewerChange(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	write(t, path, tamperedFile)
	s.refresh()
	held, _ := s.Held()
	write(t, path, "policy: {auto_allow: [read_only, write, execute]}\n")
	if err := s.Accept(held); err == nil {
		t.Error("a change was accepted that nobody has seen")
	}
	if err := s.Undo(held); err == nil {
		t.Error("a change was undone that nobody has seen")
	}
	wantEffects(t, s, "held", map[string]policy.Effect{"make x": policy.Ask})
}

func TestWhatIsNotHeld(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	write(t, path, "# another comment\n"+goodFile)
	s.refresh()
	if _, isHeld := s.Held(); isHeld {
		t.Error("a comment is held back")
	}
	if err := s.Update(func(c *Config) error { c.Policy.AskEverything = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, isHeld := s.Held(); isHeld {
		t.Error("nod's own change is held back")
	}
	if _, isHeld := sealed(t, folder).Held(); isHeld {
		t.Error("nod's own change is held back after a restart")
	}
}

// A policy file that somebody took away is not replaced by a fresh one.
func TestAMissingFileIsHeld(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	sealed(t, folder)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s := sealed(t, folder)
	if created, err := s.Create(); created || err != nil {
		t.Errorf("created %v, %v", created, err)
	}
	wantEffects(t, s, "gone", map[string]policy.Effect{"git push": policy.Deny, "make": policy.Ask})
}

// What is denied, whatever becomes of the file in three steps, with nod started again between them or not: all that was
// accepted or held back last denies, until the user accepts something.
func TestDenialsUntilSomethingIsAccepted(t *testing.T) {
	var steps []string
	for _, what := range []string{"held", "broken", "deleted", "accepted"} {
		steps = append(steps, what, what+" and restarted")
	}
	for _, first := range steps {
		for _, second := range steps {
			for _, third := range steps {
				t.Run(strings.Join([]string{first, second, third}, "/"), func(t *testing.T) {
					t.Parallel()
					testDenials(t, first, second, third)
				})
			}
		}
	}
}

func testDenials(t *testing.T, steps ...string) {
	denying := func(command string) string {
		return "policy: {rules: [{id: same, effect: deny, command: " + command + "}]}\n"
	}
	folder, path := sealedFolder(t, denying("make 0"))
	s := sealed(t, folder)
	accepted, held, inFile := "make 0", "", "make 0" // what each denies
	for i, step := range steps {
		what, _, isRestarted := strings.Cut(step, " and ")
		switch what {
		case "held":
			inFile = fmt.Sprint("make ", i+1)
			held = inFile
			write(t, path, denying(inFile))
		case "broken":
			write(t, path, "policy: [")
		case "deleted":
			inFile = ""
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		case "accepted":
			if change, isHeld := s.Held(); isHeld {
				accepted, held = inFile, ""
				if err := s.Accept(change); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.refresh()
		if isRestarted {
			s = sealed(t, folder)
		}
		for n := range len(steps) + 1 {
			command := fmt.Sprint("make ", n)
			is := s.Decide(bash(command)).Effect == policy.Deny
			if want := command == accepted || command == held; is != want {
				t.Errorf("%v: %s is denied: %v, want %v", steps[:i+1], command, is, want)
			}
		}
	}
}

// Whoever tampers with what was accepted gains nothing by it.
func TestBrokenSeal(t *testing.T) {
	for name, harm := range map[string]func(folder string) error{
		"changed":      func(f string) error { return replaceIn(filepath.Join(f, "accepted.json"), "make all", "make it") },
		"no JSON":      func(f string) error { return os.WriteFile(filepath.Join(f, "accepted.json"), []byte("{"), 0o600) },
		"taken away":   func(f string) error { return os.Remove(filepath.Join(f, "accepted.json")) },
		"key away":     func(f string) error { return os.Remove(filepath.Join(f, "seal.key")) },
		"key replaced": func(f string) error { return os.WriteFile(filepath.Join(f, "seal.key"), make([]byte, 32), 0o600) },
		"key short":    func(f string) error { return os.WriteFile(filepath.Join(f, "seal.key"), []byte("x"), 0o600) },
		"readable":     func(f string) error { return os.Chmod(filepath.Join(f, "accepted.json"), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := sealedFolder(t, goodFile)
			sealed(t, folder)
			if err := harm(folder); err != nil {
				t.Fatal(err)
			}
			write(t, path, tamperedFile)
			s := sealed(t, folder)
			wantEffects(
				t,
				s,
				"held",
				map[string]policy.Effect{"make install": policy.Ask, "make": policy.Ask, "make clean": policy.Deny},
			)
			held, isHeld := s.Held()
			if !isHeld {
				t.Fatal("nothing is held")
			}
			if err := s.Accept(held); err != nil {
				t.Fatal(err)
			}
			wantEffects(t, sealed(t, folder), "accepted", map[string]policy.Effect{"make install": policy.Allow})
		})
	}
}

// Without key and seal it is not nod's first run again, as long as anything else tells of one.
func TestSealTakenAway(t *testing.T) {
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, folder string) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(folder, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, tt := range map[string]struct {
		harm    func(*testing.T, string)
		isFirst bool
	}{
		"key and seal":         {remove("accepted.json", "seal.key"), false},
		"key, seal and marker": {remove("accepted.json", "seal.key", "sealed"), false}, // the grants are signed
		"key, seal and grants": {remove("accepted.json", "seal.key", "grants.json"), false},
		"key and marker":       {remove("seal.key", "sealed"), false},
		"all but the history": {func(t *testing.T, folder string) {
			write(t, filepath.Join(folder, "nod.db"), "")
			remove("accepted.json", "seal.key", "sealed", "grants.json")(t, folder)
		}, false},
		"all that nod keeps but the file": {remove("accepted.json", "seal.key", "sealed", "grants.json"), true},
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := sealedFolder(t, goodFile)
			s := sealed(t, folder)
			if err := s.Grant(bash("make x"), policy.Always, policy.CoverInput); err != nil {
				t.Fatal(err)
			}
			tt.harm(t, folder)
			write(t, path, tamperedFile)
			s = sealed(t, folder)
			want := map[string]policy.Effect{
				"make install": policy.Ask,
				"make":         policy.Ask,
				"make clean":   policy.Deny,
				"make x":       policy.Ask,
			}
			if tt.isFirst {
				want = map[string]policy.Effect{
					"make install": policy.Allow,
					"make":         policy.Allow,
					"make clean":   policy.Deny,
					"make x":       policy.Ask,
				}
			}
			wantEffects(t, s, "without the seal", want)
			if _, isHeld := s.Held(); isHeld == tt.isFirst {
				t.Errorf("held: %v", isHeld)
			}
			again := sealed(t, folder)
			wantEffects(t, again, "and once more", want)
		})
	}
}

// Without a seal there is no telling whether a fresh installation's rules are laxer than those that were accepted.
func TestSealTakenAwayFromDefaults(t *testing.T) {
	template, err := os.ReadFile("../config/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"template": string(template), "empty": "", "said otherwise": "policy: {auto_allow: [read_only]}\n",
	} {
		folder, path := sealedFolder(t, goodFile)
		sealed(t, folder)
		for _, name := range []string{"accepted.json", "seal.key"} {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, path, text)
		s := sealed(t, folder)
		wantEffects(t, s, name, map[string]policy.Effect{"ls": policy.Ask})
		held, isHeld := s.Held()
		if !isHeld || !held.IsUnknown {
			t.Fatalf("%s: held %v, %+v", name, isHeld, held)
		}
		if d := s.Decide(bash("ls")); !strings.Contains(d.Reason, "no telling which policy you accepted") {
			t.Errorf("reason %q does not say why", d.Reason)
		}
		if err := s.Undo(held); err == nil {
			t.Errorf("%s: it was undone: to what?", name)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s: the file was written: %v", name, err)
		}
		if err := s.Accept(held); err != nil {
			t.Fatal(err)
		}
		wantEffects(t, sealed(t, folder), name+", accepted", map[string]policy.Effect{"ls": policy.Allow})
	}
}

// While there is no telling what was accepted, nothing of the history is given up, and nobody else is reached.
func TestWhatHoldsWithoutASeal(t *testing.T) {
	folder, path := sealedFolder(t, "history: {keep: 1000d}\n")
	sealed(t, folder)
	if err := os.Remove(filepath.Join(folder, "accepted.json")); err != nil {
		t.Fatal(err)
	}
	write(t, path, "history: {keep: 1d}\nremote: {nats: {url: tls://evil.example}}\n")
	c := sealed(t, folder).Config()
	if c.History.Keep.Hours() < 1000*24 || c.Remote.NATS.URL != "" {
		t.Errorf("%+v, %+v", c.History, c.Remote)
	}
}

// What was accepted counts from the start, also beside the policy, whatever is wrong with the file or the environment.
func TestBrokenAtTheStart(t *testing.T) {
	const text = "prompt: {arm_after: 3s}\nhistory: {keep: 1000d}\n" + strictFile
	for name, tt := range map[string]struct{ file, theme string }{
		"file": {text + "more: x\n", ""}, "environment": {text, "of clay"}, "environment, no file": {"", "of clay"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := sealedFolder(t, text)
			sealed(t, folder)
			write(t, path, tt.file)
			if tt.file == "" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("NOD_LOOK_THEME", tt.theme)
			s := sealed(t, folder)
			if s.Err() == nil {
				t.Fatal("nothing is wrong")
			}
			if created, err := s.Create(); created || err != nil {
				t.Errorf("created %v, %v", created, err)
			}
			wantEffects(t, s, name, map[string]policy.Effect{"git push": policy.Deny, "ls": policy.Ask})
			if d := s.Decide(bash("git push")); !strings.Contains(d.Reason, "no-push") {
				t.Errorf("reason %q does not name the rule", d.Reason)
			}
			if c := s.Config(); c.Prompt.ArmAfter.Seconds() != 3 || c.History.Keep.Hours() != 1000*24 {
				t.Errorf("%+v, %+v", c.Prompt, c.History)
			}
		})
	}
}

func replaceIn(path, old, new string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600)
}

// Grants that another program wrote between nod's runs are not in force until they are accepted.
func TestHeldGrants(t *testing.T) {
	folder, _ := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	if err := s.Grant(bash("make x"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	again := sealed(t, folder)
	wantEffects(t, again, "nod's own grant", map[string]policy.Effect{"make x": policy.Allow})
	if n := len(again.HeldGrants()); n != 0 {
		t.Fatalf("%d of nod's own grants are held", n)
	}
	foreign := openStore(t, "") // makes the file that another program might put there
	if err := foreign.Grant(bash("make y"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(foreign.book.path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "grants.json")
	write(t, path, string(text))

	s = sealed(t, folder)
	wantEffects(t, s, "held", map[string]policy.Effect{"make y": policy.Ask, "make x": policy.Ask})
	if held := s.HeldGrants(); len(held) != 1 || len(s.Grants()) != 0 {
		t.Fatalf("held %+v, in force %+v", held, s.Grants())
	}
	if err := s.Grant(bash("make z"), policy.Always, policy.CoverInput); err == nil ||
		!strings.Contains(err.Error(), "another program changed") {
		t.Errorf("a grant for always while others are held: %v", err)
	}
	if err := s.Grant(bash("make z"), policy.UntilQuit, policy.CoverInput); err != nil {
		t.Errorf("a grant until nod quits: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(text) {
		t.Error("the file was written while it is held")
	}
	if err := s.AcceptGrants(); err != nil {
		t.Fatal(err)
	}
	wantEffects(t, s, "accepted", map[string]policy.Effect{"make y": policy.Allow, "make z": policy.Allow})
	wantEffects(
		t,
		sealed(t, folder),
		"and after a restart",
		map[string]policy.Effect{"make y": policy.Allow, "make z": policy.Ask},
	)

	write(t, path, string(text))
	s = sealed(t, folder)
	if err := s.RevokeAll(); err != nil {
		t.Fatal(err)
	}
	if s = sealed(t, folder); len(s.HeldGrants()) != 0 || len(s.Grants()) != 0 {
		t.Errorf("after all were revoked: %+v, %+v", s.HeldGrants(), s.Grants())
	}
}

// A file of grants that is older than the key was made by an older nod.
func TestGrantsOfAnOlderNod(t *testing.T) {
	s := openStore(t, goodFile)
	if err := s.Grant(bash("make x"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	s = sealed(t, filepath.Dir(configPath(s)))
	wantEffects(t, s, "sealed", map[string]policy.Effect{"make x": policy.Allow})
	wantEffects(t, sealed(t, filepath.Dir(configPath(s))), "and again", map[string]policy.Effect{"make x": policy.Allow})
}

// Where nothing can be saved the store works all the same, and still holds back what other programs write.
func TestSealThatCannotBeSaved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no folder in which nobody can write, not even root")
	}
	_, path := sealedFolder(t, goodFile)
	s, err := Open(path, "/proc/nod/grants.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Seal(); err == nil || !strings.Contains(err.Error(), "until nod ends") {
		t.Errorf("Seal = %v, want an error that says how long it holds", err)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	wantEffects(t, s, "the first text counts", map[string]policy.Effect{"make": policy.Allow, "git push": policy.Deny})
	write(t, path, tamperedFile)
	s.refresh()
	wantEffects(t, s, "changed by another program", map[string]policy.Effect{
		"make": policy.Allow, "make install": policy.Ask, "make clean": policy.Deny, "git push": policy.Deny,
	})
	held, isHeld := s.Held()
	if !isHeld {
		t.Fatal("nothing is held back")
	}
	if err := s.Accept(held); err == nil || !strings.Contains(err.Error(), "until nod ends") {
		t.Errorf("Accept = %v, want an error that says how long it holds", err)
	}
	wantEffects(t, s, "accepted", map[string]policy.Effect{"make install": policy.Allow})
}

// While a change of the file is held back, commands run in the smaller of both projects, reach only hosts that both
// texts name, and are kept from all files that either denies.
func TestHeldSandbox(t *testing.T) {
	folder, path := sealedFolder(t, `policy:
  sandbox: {projects: [/srv/a/shop], hosts: [example.com, example.org]}
  rules: [{id: no, effect: deny, path: /srv/a/shop/private}]
`)
	s := sealed(t, folder)
	call := func(cwd string) policy.Call {
		c := bash("make")
		c.CWD, c.Contains = cwd, true
		return c
	}
	write(t, path, `policy:
  sandbox: {projects: [/srv/a, /srv/b], hosts: [example.com, example.net]}
  rules: [{id: ask, effect: ask, path: /srv/a/shop/odd}]
`)
	s.refresh()
	if d := s.Decide(call("/srv/a/shop")); d.Confinement.Project != "/srv/a/shop" || !d.Confinement.Write {
		t.Errorf("got %+v, want the project that was accepted", d)
	}
	for _, cwd := range []string{"/srv/b", "/srv/a"} {
		if d := s.Decide(call(cwd)); d.Effect != policy.Ask || d.Confinement != (policy.Confinement{}) {
			t.Errorf("in %s: %+v, want ask", cwd, d)
		}
	}
	if hosts := s.SandboxHosts(); !slices.Equal(hosts, []string{"example.com"}) {
		t.Errorf("hosts %q", hosts)
	}
	for path, want := range map[string][2]bool{
		"/srv/a/shop/private": {true, true}, "/srv/a/shop/odd": {false, true}, "/srv/a/shop/x": {},
	} {
		if read, change := s.Forbids(path); want != [2]bool{read, change} {
			t.Errorf("%s: %v, %v, want %v", path, read, change, want)
		}
	}
	write(t, path, "policy: {sandbox: odd}\n")
	s.refresh()
	if d := s.Decide(call("/srv/a/shop")); d.Effect != policy.Ask || len(s.SandboxHosts()) != 0 {
		t.Errorf("with a broken file: %+v, hosts %q", d, s.SandboxHosts())
	}
}
