package config

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"nod/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// edits are the changes of the golden files in testdata/edit. Each file holds a configuration before and
// after: what a user wrote must be there again, to the letter, where nothing was changed.
var edits = map[string]func(*Config){
	"scalars": func(c *Config) {
		c.IPC.Address = "127.0.0.1:0"
		c.Prompt.Timeout = 90 * time.Minute
		c.Prompt.OnTop = false
		c.Look.Theme = "dark"
		c.Policy.AskEverything = true
	},
	"fresh": func(c *Config) {
		c.Policy.Rules = []policy.Rule{{ID: "build", Effect: policy.Allow, Command: "make test", CWD: "~/src/shop"}}
		c.Policy.AutoAllow = append(c.Policy.AutoAllow, policy.Network)
		c.Notifications.Prompts = false
		c.Notifications.QuietHours, c.Notifications.QuietDays = "22:00-07:00", []string{"sat", "sun"}
		c.Notifications.Muted = []string{"on", "codex"}
		c.Prompt.Appear = AppearInTray
	},
	"missing-sections": func(c *Config) {
		c.Prompt.ArmAfter = 2 * time.Second
		c.Look.Language = "zh-CN"
		c.Policy.TrustedAgents = []string{"my-agent", "on"}
		c.Policy.Rules = append(c.Policy.Rules, policy.Rule{ID: "a", Effect: policy.Deny, Tool: "Bash"})
	},
	"rule-added": func(c *Config) {
		c.Policy.Rules = append(c.Policy.Rules,
			policy.Rule{ID: "new", Effect: policy.Allow, Command: "echo \"a: b\" # no comment\nls", Note: "yes"})
	},
	"rule-changed": func(c *Config) {
		c.Policy.Rules[0].Effect = policy.Ask
		c.Policy.Rules[0].Note = ""
		c.Policy.Rules[1].Disabled = true
		c.Policy.Rules[1].Command = "make all"
		c.Policy.Rules[2].Tool = ""
		c.Policy.Rules[2].Class = policy.Write
	},
	"rule-removed":  func(c *Config) { c.Policy.Rules = slices.Delete(c.Policy.Rules, 1, 2) },
	"rules-cleared": func(c *Config) { c.Policy.Rules = nil },
	"rules-moved":   func(c *Config) { slices.Reverse(c.Policy.Rules) },
	"rule-renamed":  func(c *Config) { c.Policy.Rules[0].ID = "another" },
	"remote": func(c *Config) {
		c.Remote.Machines[1] = Machine{Kind: MachinePodman, Host: "db"}
		c.Remote.NATS.URL, c.Remote.NATS.CA = "tls://a.example.com", "/etc/ca.pem"
		c.Remote.Phone.Address = "100.64.0.7:7464"
	},
	"lists": func(c *Config) {
		c.Policy.AutoAllow = []policy.Class{policy.ReadOnly, policy.Network, policy.Execute}
		c.Policy.TrustedAgents = []string{"c"}
	},
	"sandbox": func(c *Config) {
		c.Policy.Sandbox.Projects = append(c.Policy.Sandbox.Projects, "~/src/blog")
		c.Policy.Sandbox.Hosts, c.Policy.Sandbox.ReadOnly = []string{"example.com"}, false
	},
	"braces": func(c *Config) {
		c.Prompt.Timeout = time.Minute
		c.Policy.AutoAllow = nil
		c.Policy.Rules[0].Disabled = true
	},
	"all-in-braces": func(c *Config) { c.Prompt.OnTop = false; c.Policy.AskEverything = true },
	"empty-braces":  func(c *Config) { c.Prompt.OnTop = false; c.Policy.AskEverything = true },
	"commented-out": func(c *Config) {
		c.Prompt.Timeout = time.Hour
		c.Policy.AutoAllow = []policy.Class{policy.ReadOnly}
		c.Policy.Rules = []policy.Rule{{ID: "a", Effect: policy.Deny, Tool: "Bash"}}
	},
	"list-not-indented": func(c *Config) {
		c.Policy.Rules = append(c.Policy.Rules, policy.Rule{ID: "b", Effect: policy.Deny, Tool: "Edit"})
		c.Policy.AutoAllow = append(c.Policy.AutoAllow, policy.Write)
		c.Policy.AskEverything = true
	},
	"comment-outdented": func(c *Config) {
		c.Policy.TrustedAgents = []string{"a"}
		c.Policy.Rules[1].Effect = policy.Deny
	},
	"windows-line-ends": func(c *Config) { c.Prompt.Timeout = time.Minute; c.Policy.Rules[0].Effect = policy.Deny },
}

func TestEdit(t *testing.T) {
	for name, change := range edits {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "edit", name+".txtar")
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before := archive.Files[0].Data
			crlf := strings.HasPrefix(name, "windows")
			if crlf { // a repository would not keep them
				before = bytes.ReplaceAll(before, []byte("\n"), []byte("\r\n"))
			}
			got := mustEdit(t, before, change)
			if crlf {
				if bytes.Count(got, []byte("\n")) != bytes.Count(got, []byte("\r\n")) {
					t.Errorf("line ends were changed: %q", got)
				}
				got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
			}
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "after.yaml", Data: got})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(archive.Files) != 2 || string(archive.Files[1].Data) != string(got) {
				t.Errorf("got:\n%s\nwant:\n%s", got, archive.Files[len(archive.Files)-1].Data)
			}
		})
	}
	files, _ := filepath.Glob("testdata/edit/*.txtar")
	if len(files) != len(edits) {
		t.Errorf("%d files for %d edits", len(files), len(edits))
	}
}

func mustEdit(t *testing.T, before []byte, change func(*Config)) []byte {
	t.Helper()
	from, err := parse(before, "before.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	to := from.Clone()
	change(&to)
	after, err := edit(before, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// Whatever is changed to whatever, the file then says that, and taking the change back loses no comment of
// what was not touched.
func TestEditAnything(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, "template.yaml") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		from, err := parse(data, path, nil)
		if err != nil {
			continue // the bad ones
		}
		for range 60 {
			to := randomConfig(random, from)
			after, err := edit(data, from, to) // compares what it wrote with what was wanted
			if err != nil {
				t.Fatalf("%s to %+v: %v", path, to, err)
			}
			for line := range strings.Lines(string(data)) {
				isOwn := strings.HasPrefix(line, "#") // comments at the left margin belong to nothing that changes
				if isOwn && !bytes.Contains(after, []byte(line)) {
					t.Fatalf("%s: %q is lost in\n%s", path, line, after)
				}
			}
			data, from = after, to
		}
	}
}

func randomConfig(r *rand.Rand, from Config) Config {
	to := from.Clone()
	switch r.IntN(6) {
	case 0:
		to.Prompt.Timeout = time.Duration(1+r.IntN(86_000)) * time.Second
		to.Look.Theme = pick(r, "system", "light", "dark")
	case 1:
		to.Policy.AutoAllow = nil
		for _, c := range policy.Classes {
			if r.IntN(2) == 0 {
				to.Policy.AutoAllow = append(to.Policy.AutoAllow, c)
			}
		}
	case 2:
		to.History.Keep = time.Duration(1+r.IntN(36_500)) * day
		to.History.MaxSize, to.History.KeepInputs = 10+r.IntN(9_000), r.IntN(2) == 0
	case 3:
		to.Notifications.Notices = !to.Notifications.Notices
		to.Policy.TrustedAgents = pick(r, nil, []string{"a"}, []string{"yes", "b: c"}, []string{"null", "a"})
	case 4:
		to.Remote.Machines = pick(r, nil, []Machine{{MachineSSH, "null"}},
			[]Machine{{MachineDocker, "7"}, {MachineSSH, "a@b"}})
		to.Remote.NATS.CA = pick(r, "", "/etc/ca: #1.pem")
		to.Remote.Phone.Push = pick(r, "", PushWeb)
	}
	for i := range to.Policy.Rules {
		if r.IntN(4) == 0 {
			changed := randomRule(r, to.Policy.Rules[i].ID)
			changed.Note = pick(r, "", "why", "a: b", "two\nlines\n", " # x", "- y", "'")
			to.Policy.Rules[i] = changed
		}
	}
	if n := len(to.Policy.Rules); n > 0 && r.IntN(3) == 0 {
		to.Policy.Rules = slices.Delete(to.Policy.Rules, r.IntN(n), n)
	}
	if r.IntN(2) == 0 {
		id := pick(r, "n1", "n2", "n3", "no", "5", "1e3")
		if !slices.ContainsFunc(to.Policy.Rules, func(r policy.Rule) bool { return r.ID == id }) {
			to.Policy.Rules = slices.Insert(to.Policy.Rules, r.IntN(len(to.Policy.Rules)+1), randomRule(r, id))
		}
	}
	return to
}

// No file that can be read makes an edit panic or write something else than was wanted; edit itself compares.
func FuzzEdit(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/edit/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if archive := txtar.Parse(data); len(archive.Files) > 0 {
				data = archive.Files[0].Data
			}
			f.Add(data, uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		from, err := parse(data, "config.yaml", nil)
		if err != nil {
			return
		}
		to := randomConfig(rand.New(rand.NewPCG(seed, 1)), from)
		if to.Validate() != nil {
			return
		}
		after, err := edit(data, from, to)
		most := 100 + 20*(bytes.Count(data, []byte("\n"))+len(to.Policy.Rules))
		if err == nil && bytes.Count(after, []byte("\n")) > most {
			t.Fatalf("%d bytes became %d", len(data), len(after))
		}
	})
}

func pick[T any](r *rand.Rand, items ...T) T { return items[r.IntN(len(items))] }

// randomRule is a rule with this id, which is valid.
func randomRule(r *rand.Rand, id string) policy.Rule {
	rule := policy.Rule{ID: id, Effect: pick(r, policy.Allow, policy.Ask, policy.Deny), Disabled: r.IntN(12) == 0}
	for rule.Validate() != nil {
		rule.Tool = pick(r, "", "Bash", "Wri*", "mcp__*", "*")
		rule.Agent = pick(r, "", "", "claude-code")
		rule.Class = pick(r, "", "", policy.ReadOnly, policy.Unknown)
		rule.Path = pick(r, "", "", "~/src/**", "**/.env", "/srv/")
		rule.Command = pick(r, "", "", "make")
		rule.CWD = pick(r, "", "", "~/src/shop")
		rule.Program = pick(r, "", "", "/usr/**")
		rule.Session = pick(r, "", "", "s1")
		rule.Server = pick(r, "", "", "*")
		rule.Host = pick(r, "", "", "*.example.com")
		rule.Args = pick(
			r,
			nil,
			nil,
			[]policy.Arg{{Field: "command", Value: "m*"}},
			[]policy.Arg{{Field: "/url", Value: "*"}},
		)
		rule.Expires = pick(r, "", "", "2199-01-01")
	}
	return rule
}
