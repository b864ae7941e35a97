package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealed opens a store that holds back what others write, on files that the next one in the test finds again.
func sealed(t *testing.T, folder string) *Store {
	t.Helper()
	s, err := OpenStore(filepath.Join(folder, "config.yaml"), filepath.Join(folder, "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.getenv = func(string) string { return "" }
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

func wantEffects(t *testing.T, s *Store, when string, want map[string]Effect) {
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
		wantEffects(t, s, "the first text counts", map[string]Effect{"make": Allow, "git push": Deny})
		write(t, path, tamperedFile)
		if between { // nod's runs
			s = sealed(t, folder)
		}
		s.Reload()
		wantEffects(t, s, "held", map[string]Effect{
			"make": Allow, "make install": Ask, "make clean": Deny, "git push": Deny, "make all": Ask})
		held, isHeld := s.Held()
		if !isHeld || held.Before != goodFile || held.After != tamperedFile {
			t.Fatalf("held: %v, %+v", isHeld, held)
		}
		if d := s.Decide(bash("make install")); !strings.Contains(d.Reason, "another program") {
			t.Errorf("reason %q does not say why", d.Reason)
		}
		if err := s.Update(func(c *Config) error { c.Policy.AskEverything = true; return nil }); !errors.Is(err, ErrHeld) {
			t.Errorf("update while a change is held: %v", err)
		}
		if err := s.Accept(held); err != nil {
			t.Fatal(err)
		}
		wantEffects(t, s, "accepted", map[string]Effect{"make install": Allow, "make clean": Deny, "git push": Ask})
		wantEffects(t, sealed(t, folder), "and after a restart", map[string]Effect{"make install": Allow, "git push": Ask})
	}
}

func TestUndoHeldChange(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	write(t, path, tamperedFile)
	s.Reload()
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

// Only what the person has seen can be accepted.
func TestAcceptSeesANewerChange(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	write(t, path, tamperedFile)
	s.Reload()
	held, _ := s.Held()
	write(t, path, "policy: {auto_allow: [read_only, write, execute]}\n")
	if err := s.Accept(held); err == nil {
		t.Error("a change was accepted that nobody has seen")
	}
	if err := s.Undo(held); err == nil {
		t.Error("a change was undone that nobody has seen")
	}
	wantEffects(t, s, "held", map[string]Effect{"make x": Ask})
}

func TestWhatIsNotHeld(t *testing.T) {
	folder, path := sealedFolder(t, goodFile)
	s := sealed(t, folder)
	write(t, path, "# another comment\n"+goodFile)
	s.Reload()
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
	wantEffects(t, s, "gone", map[string]Effect{"git push": Deny, "make": Ask})
}

// Whoever tampers with what was accepted gains nothing by it.
func TestBrokenSeal(t *testing.T) {
	for name, harm := range map[string]func(folder string) error{
		"changed":      func(f string) error { return replaceIn(filepath.Join(f, sealName), "make all", "make it") },
		"no JSON":      func(f string) error { return os.WriteFile(filepath.Join(f, sealName), []byte("{"), 0o600) },
		"taken away":   func(f string) error { return os.Remove(filepath.Join(f, sealName)) },
		"key away":     func(f string) error { return os.Remove(filepath.Join(f, keyName)) },
		"key replaced": func(f string) error { return os.WriteFile(filepath.Join(f, keyName), make([]byte, keySize), 0o600) },
		"key short":    func(f string) error { return os.WriteFile(filepath.Join(f, keyName), []byte("x"), 0o600) },
		"readable":     func(f string) error { return os.Chmod(filepath.Join(f, sealName), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := sealedFolder(t, goodFile)
			sealed(t, folder)
			if err := harm(folder); err != nil {
				t.Fatal(err)
			}
			write(t, path, tamperedFile)
			s := sealed(t, folder)
			wantEffects(t, s, "held", map[string]Effect{"make install": Ask, "make": Ask, "make clean": Deny})
			held, isHeld := s.Held()
			if !isHeld {
				t.Fatal("nothing is held")
			}
			if err := s.Accept(held); err != nil {
				t.Fatal(err)
			}
			wantEffects(t, sealed(t, folder), "accepted", map[string]Effect{"make install": Allow})
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
		"key and seal":                    {remove(sealName, keyName), false},
		"key, seal and marker":            {remove(sealName, keyName, markerName), false}, // the grants are signed
		"key, seal and grants":            {remove(sealName, keyName, "grants.json"), false},
		"key and marker":                  {remove(keyName, markerName), false},
		"all that nod keeps but the file": {remove(sealName, keyName, markerName, "grants.json"), true},
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := sealedFolder(t, goodFile)
			s := sealed(t, folder)
			if err := s.Grant(bash("make x"), Always, CoverInput); err != nil {
				t.Fatal(err)
			}
			tt.harm(t, folder)
			write(t, path, tamperedFile)
			s = sealed(t, folder)
			want := map[string]Effect{"make install": Ask, "make": Ask, "make clean": Deny, "make x": Ask}
			if tt.isFirst {
				want = map[string]Effect{"make install": Allow, "make": Allow, "make clean": Deny, "make x": Ask}
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

// Without a seal, what a fresh installation says anyway needs nobody's consent.
func TestSealTakenAwayFromDefaults(t *testing.T) {
	for name, text := range map[string]string{"template": string(template), "empty": "", "said otherwise": "policy: {auto_allow: [read_only]}\n"} {
		folder, path := sealedFolder(t, goodFile)
		sealed(t, folder)
		for _, name := range []string{sealName, keyName} {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, path, text)
		if held, isHeld := sealed(t, folder).Held(); isHeld {
			t.Errorf("%s: held %+v", name, held)
		}
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
	if err := s.Grant(bash("make x"), Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	again := sealed(t, folder)
	wantEffects(t, again, "nod's own grant", map[string]Effect{"make x": Allow})
	if n := len(again.HeldGrants()); n != 0 {
		t.Fatalf("%d of nod's own grants are held", n)
	}
	foreign := openStore(t, "") // makes the file that another program might put there
	if err := foreign.Grant(bash("make y"), Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(foreign.grants.path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "grants.json")
	write(t, path, string(text))

	s = sealed(t, folder)
	wantEffects(t, s, "held", map[string]Effect{"make y": Ask, "make x": Ask})
	if held := s.HeldGrants(); len(held) != 1 || len(s.Grants()) != 0 {
		t.Fatalf("held %+v, in force %+v", held, s.Grants())
	}
	if err := s.Grant(bash("make z"), Always, CoverInput); !errors.Is(err, errGrantsHeld) {
		t.Errorf("a grant for always while others are held: %v", err)
	}
	if err := s.Grant(bash("make z"), UntilQuit, CoverInput); err != nil {
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
	wantEffects(t, s, "accepted", map[string]Effect{"make y": Allow, "make z": Allow})
	wantEffects(t, sealed(t, folder), "and after a restart", map[string]Effect{"make y": Allow, "make z": Ask})

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
	if err := s.Grant(bash("make x"), Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	s = sealed(t, filepath.Dir(s.path))
	wantEffects(t, s, "sealed", map[string]Effect{"make x": Allow})
	wantEffects(t, sealed(t, filepath.Dir(s.path)), "and again", map[string]Effect{"make x": Allow})
}
