package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nod/policy"
)

const goodFile = `# mine
policy:
  auto_allow: [read_only]
  rules:
    - {id: no-push, effect: deny, command: git push}
    - {id: build, effect: allow, command: make}
    - {id: careful, effect: ask, command: make all}
`

const brokenFile = "policy:\n  rules:\n    - {id: build, effect: alow, command: make}\n"

// openStore opens a store on files in a folder of their own. An empty text is no file.
func openStore(t *testing.T, config string) *Store {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "nod")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "config.yaml")
	if config != "" {
		write(t, path, config)
	}
	s, err := Open(path, filepath.Join(folder, "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // what it still saves must not get into a folder that is being removed
	return s
}

func configPath(s *Store) string { return filepath.Join(filepath.Dir(s.book.path), "config.yaml") }

func TestStoreDecides(t *testing.T) {
	s := openStore(t, goodFile)
	for command, want := range map[string]policy.Effect{
		"git push": policy.Deny, "make": policy.Allow, "make all": policy.Ask, "make x": policy.Ask,
	} {
		if d := s.Decide(bash(command)); d.Effect != want {
			t.Errorf("%s: %+v, want %s", command, d, want)
		}
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	if n := len(s.Config().Policy.Rules); n != 3 {
		t.Errorf("%d rules, want 3", n)
	}
}

// A file with a mistake: what was denied stays denied, nothing is allowed any more, and it is said why.
func TestBrokenFile(t *testing.T) {
	s := openStore(t, goodFile)
	granted := bash("make deploy")
	if err := s.Grant(granted, policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	read := fileCall("Read", "/srv/x")
	effects := func() (got []policy.Effect) {
		for _, c := range []policy.Call{bash("git push"), bash("make"), granted, read} {
			got = append(got, s.Decide(c).Effect)
		}
		return got
	}
	if got, want := effects(), []policy.Effect{policy.Deny, policy.Allow, policy.Allow, policy.Allow}; !slices.Equal(
		got,
		want,
	) {
		t.Fatalf("while good: %v, want %v", got, want)
	}

	write(t, configPath(s), brokenFile)
	s.refresh()
	if got, want := effects(), []policy.Effect{policy.Deny, policy.Ask, policy.Ask, policy.Ask}; !slices.Equal(got, want) {
		t.Errorf("while broken: %v, want %v", got, want)
	}
	if d := s.Decide(read); d.Rule != "builtin:broken" ||
		d.Reason != "the policy file has an error, so nod asks about everything" {
		t.Errorf("while broken: %+v", d)
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), configPath(s)+":3: policy.rules[0].effect:") {
		t.Errorf("Err: %v", err)
	}
	if c := s.Config(); len(c.Policy.Rules)+len(c.Policy.AutoAllow) != 0 || c.IPC != Default().IPC {
		t.Errorf("Config: %+v, want the last good one without a policy", c)
	}
	if len(s.Grants()) != 1 {
		t.Error("the list of grants is empty")
	}

	write(t, configPath(s), goodFile)
	s.refresh()
	if got, want := effects(), []policy.Effect{policy.Deny, policy.Allow, policy.Allow, policy.Allow}; !slices.Equal(
		got,
		want,
	) ||
		s.Err() != nil {
		t.Errorf("mended: %v, %v, want %v", got, s.Err(), want)
	}
}

func TestBrokenFromTheStart(t *testing.T) {
	s := openStore(t, brokenFile)
	for _, c := range []policy.Call{bash("make"), fileCall("Read", "/srv/x")} {
		if d := s.Decide(c); d.Effect != policy.Ask {
			t.Errorf("%+v, want ask", d)
		}
	}
	if s.Err() == nil || s.Config().Prompt != Default().Prompt {
		t.Errorf("err %v, config %+v", s.Err(), s.Config())
	}
}

// Files that somebody else could have written are not believed.
func TestFileThatOthersCanChange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists, not modes")
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  string
	}{
		{"group", func(t *testing.T, p string) { chmod(t, p, 0o620) }, "others can change it (mode 0620): run chmod go-w"},
		{"world", func(t *testing.T, p string) { chmod(t, p, 0o666) }, "others can change it (mode 0666)"},
		{"link", func(t *testing.T, p string) {
			if err := errors.Join(os.Rename(p, p+".real"), os.Symlink(p+".real", p)); err != nil {
				t.Fatal(err)
			}
		}, "this is a symbolic link"},
		{"folder", func(t *testing.T, p string) {
			if err := errors.Join(os.Remove(p), os.Mkdir(p, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "this is not a plain file"},
		{"owner", func(t *testing.T, p string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			if err := os.Chown(p, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}, "it belongs to user 12345"},
	}
	for _, tt := range tests {
		t.Run("config/"+tt.name, func(t *testing.T) {
			s := openStore(t, goodFile)
			tt.spoil(t, configPath(s))
			s.refresh()
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Err: %v, want %s", err, tt.want)
			}
			if d := s.Decide(bash("make")); d.Effect != policy.Ask {
				t.Errorf("%+v, want ask", d)
			}
			if err := s.Update(func(c *Config) error { c.Prompt.OnTop = false; return nil }); err == nil {
				t.Error("Update wrote it")
			}
		})
		t.Run("grants/"+tt.name, func(t *testing.T) {
			s := openStore(t, goodFile)
			if err := s.Grant(bash("x"), policy.Always, policy.CoverInput); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, s.book.path)
			again, err := Open(configPath(s), s.book.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Err: %v, want %s", err, tt.want)
			}
			if d := again.Decide(bash("x")); d.Effect != policy.Ask || len(again.Grants()) != 0 {
				t.Errorf("%+v, want ask", d)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestUpdate(t *testing.T) {
	s := openStore(t, goodFile)
	err := s.Update(func(c *Config) error {
		c.Policy.Rules[1].Disabled = true
		c.Policy.AutoAllow = append(c.Policy.AutoAllow, "mutating")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Decide(bash("make")); d.Effect != policy.Ask {
		t.Errorf("the change is not in force: %+v", d)
	}
	if d := s.Decide(fileCall("Write", "/srv/x")); d.Effect != policy.Allow {
		t.Errorf("the change is not in force: %+v", d)
	}
	data, err := os.ReadFile(configPath(s))
	if err != nil || !strings.HasPrefix(string(data), "# mine\n") || !strings.Contains(string(data), "disabled: true") {
		t.Errorf("%v\n%s", err, data)
	}
}

// The first change of somebody who has no file yet writes one that explains itself.
func TestUpdateMakesFile(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "config", "nod", "config.yaml")
	s, err := Open(path, filepath.Join(home, "data", "nod", "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(c *Config) error { c.Look.Theme = "dark"; return nil }); err != nil {
		t.Fatal(err)
	}
	cfg, err := Check(path)
	if err != nil || cfg.Look.Theme != "dark" {
		t.Errorf("%+v, %v", cfg, err)
	}
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), "# A rule's effect") {
		t.Errorf("the file explains nothing:\n%s", data)
	}
	if err := s.Grant(bash("x"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, p := range []struct {
		path string
		want fs.FileMode
	}{{path, 0o600}, {filepath.Dir(path), 0o700}, {s.book.path, 0o600}, {filepath.Dir(s.book.path), 0o700}} {
		if info, err := os.Stat(p.path); err != nil || info.Mode().Perm() != p.want {
			t.Errorf("%s: %v, %v, want %v", p.path, info.Mode(), err, p.want)
		}
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUpdateRefuses(t *testing.T) {
	s := openStore(t, goodFile)
	stop := errors.New("stop")
	tests := []struct {
		name   string
		change func(*Config) error
		want   string
	}{
		{"the caller's error", func(*Config) error { return stop }, "stop"},
		{
			"a rule that is wrong", func(c *Config) error { c.Policy.Rules[0].Effect = "x"; return nil },
			`policy.rules[0].effect: "x": want allow, sandbox, ask or deny`,
		},
		{
			"an address that is public", func(c *Config) error { c.IPC.Address = "0.0.0.0:1"; return nil }, "ipc.address",
		},
		{"an id twice", func(c *Config) error { c.Policy.Rules[0].ID = "build"; return nil }, "policy.rules[1].id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.Update(tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if data, _ := os.ReadFile(configPath(s)); string(data) != goodFile {
				t.Errorf("the file has changed:\n%s", data)
			}
		})
	}
	write(t, configPath(s), brokenFile)
	if err := s.Update(func(c *Config) error { c.Prompt.OnTop = false; return nil }); err == nil {
		t.Error("a broken file was overwritten")
	}
	if data, _ := os.ReadFile(configPath(s)); string(data) != brokenFile {
		t.Errorf("the broken file has changed:\n%s", data)
	}
}

// Somebody saves the file between the moment it is read and the moment it is written.
func TestUpdateLosesNothing(t *testing.T) {
	s := openStore(t, goodFile)
	err := s.Update(func(c *Config) error {
		write(t, configPath(s), goodFile+"# saved meanwhile\n")
		c.Prompt.OnTop = false
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "at the same time") {
		t.Errorf("err %v", err)
	}
	if data, _ := os.ReadFile(configPath(s)); !strings.HasSuffix(string(data), "# saved meanwhile\n") {
		t.Errorf("lost:\n%s", data)
	}
}

// What the environment overrides does not get into the file.
func TestUpdateIgnoresEnvironment(t *testing.T) {
	s := openStore(t, goodFile)
	t.Setenv("NOD_LOOK_THEME", "dark")
	s.refresh()
	if err := s.Update(func(c *Config) error { c.Prompt.OnTop = false; return nil }); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(configPath(s)); strings.Contains(string(data), "dark") {
		t.Errorf("the file:\n%s", data)
	}
	if c := s.Config(); c.Look.Theme != "dark" || c.Prompt.OnTop {
		t.Errorf("%+v", c)
	}
}

func TestUpdateNothing(t *testing.T) {
	s := openStore(t, "")
	if err := s.Update(func(*Config) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(configPath(s)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a change of nothing wrote a file")
	}
}

// What Config returned stays as it was, whatever becomes of the configuration.
func TestConfigIsASnapshot(t *testing.T) {
	s := openStore(t, goodFile)
	before := s.Config()
	err := s.Update(func(c *Config) error {
		c.Policy.Rules[0].Effect = policy.Allow
		c.Policy.AutoAllow[0] = policy.Unknown
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if before.Policy.Rules[0].Effect != policy.Deny || before.Policy.AutoAllow[0] != policy.ReadOnly {
		t.Errorf("%+v", before.Policy)
	}
}

func TestChanges(t *testing.T) {
	s := openStore(t, goodFile)
	c, stop := s.Changes()
	other, stopOther := s.Changes()
	defer stopOther()
	signalled := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	if signalled(c) {
		t.Error("a signal without a change")
	}
	s.refresh()
	// It does not wait for anybody to receive.
	if err := s.Grant(bash("x"), policy.QuarterHour, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	if !signalled(c) || signalled(c) || !signalled(other) {
		t.Error("want one signal for two changes, for each")
	}
	stop()
	s.refresh()
	if signalled(c) || !signalled(other) {
		t.Error("want a signal for who has not stopped")
	}
}

// watching runs Watch for the test, and returns a function that waits until a condition holds.
func watching(t *testing.T, s *Store) (until func(what string, holds func() bool)) {
	t.Helper()
	changes, stop := s.Changes()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Watch(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		stop()
	})
	<-changes // Watch has read the file, and watches
	return func(what string, holds func() bool) {
		t.Helper()
		deadline := time.After(time.Minute) // far beyond what any machine needs
		for !holds() {
			select {
			case <-changes:
			case <-deadline:
				t.Fatalf("never: %s (err %v)", what, s.Err())
			}
		}
	}
}

func TestWatch(t *testing.T) {
	s := openStore(t, goodFile)
	until := watching(t, s)
	effect := func(want policy.Effect) func() bool {
		return func() bool { return s.Decide(bash("make")).Effect == want }
	}
	denied := strings.Replace(goodFile, "effect: allow", "effect: deny", 1)

	write(t, configPath(s), denied)
	until("written in place", effect(policy.Deny))

	replace := func(text string) { // in one step, as editors do
		t.Helper()
		next := configPath(s) + ".swp"
		write(t, next, text)
		if err := os.Rename(next, configPath(s)); err != nil {
			t.Fatal(err)
		}
	}
	replace(goodFile)
	until("replaced", effect(policy.Allow))

	replace(brokenFile) // written in place it could be read while it is empty, and denies nothing then
	until("broken", effect(policy.Ask))
	if s.Err() == nil { // it is known a moment before it counts, so that is nothing to wait for
		t.Error("while broken: no error")
	}
	if d := s.Decide(bash("git push")); d.Effect != policy.Deny {
		t.Errorf("while broken: %+v", d)
	}

	write(t, configPath(s), goodFile)
	until("mended", effect(policy.Allow))
	if err := s.Err(); err != nil {
		t.Errorf("mended: %v", err)
	}

	if err := os.Remove(configPath(s)); err != nil {
		t.Fatal(err)
	}
	until("removed", effect(policy.Ask))

	write(t, configPath(s), denied)
	until("there again", effect(policy.Deny))
}

func TestWatchModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists, not modes")
	}
	s := openStore(t, goodFile)
	until := watching(t, s)
	chmod(t, configPath(s), 0o666)
	until("others can change it", func() bool { return s.Err() != nil })
	chmod(t, configPath(s), 0o600)
	until("only the owner can", func() bool { return s.Err() == nil })
}

// The whole folder is replaced, as people do who keep their settings somewhere else.
func TestWatchFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder in use cannot be renamed")
	}
	s := openStore(t, goodFile)
	until := watching(t, s)
	folder := filepath.Dir(configPath(s))
	elsewhere := filepath.Join(t.TempDir(), "dotfiles")
	if err := os.Rename(folder, elsewhere); err != nil {
		t.Fatal(err)
	}
	until("the folder is gone", func() bool { return s.Decide(bash("make")).Effect == policy.Ask })
	if err := os.Symlink(elsewhere, folder); err != nil {
		t.Fatal(err)
	}
	until("a link leads to it", func() bool { return s.Decide(bash("make")).Effect == policy.Allow })
	write(t, filepath.Join(elsewhere, "config.yaml"), brokenFile)
	until("changed behind the link", func() bool { return s.Err() != nil })
}

// Many readers, writers and grants at once: the race detector looks for what is shared unguarded, and no
// decision is ever one that no state of the file could give.
func TestStoreConcurrently(t *testing.T) {
	s := openStore(t, goodFile)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 200 {
				if d := s.Decide(bash("git push")); d.Effect != policy.Deny {
					t.Errorf("%+v, want deny in every state", d)
				}
				s.Decide(bash(fmt.Sprintf("make %d", i)))
				_, _, _ = s.Config(), s.Err(), s.Grants()
			}
		})
		group.Go(func() {
			for range 10 {
				call := bash(fmt.Sprintf("make %d", i))
				if err := s.Grant(call, policy.Always, policy.CoverInput); err != nil {
					t.Error(err)
				}
				if d := s.Decide(call); !d.Grant {
					t.Errorf("%+v, want the grant", d)
				}
			}
		})
	}
	group.Go(func() {
		for range 10 {
			if err := s.Update(func(c *Config) error { c.Prompt.OnTop = !c.Prompt.OnTop; return nil }); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	if n := len(s.Grants()); n != 4 {
		t.Errorf("%d grants, want 4: the same call again takes the old one's place", n)
	}
}

func TestOpenStoreWantsAbsolutePaths(t *testing.T) {
	if _, err := Open("config.yaml", "/x/grants.json", nil); err == nil {
		t.Error("accepted")
	}
}
