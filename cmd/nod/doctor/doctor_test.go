package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/agents/agent"
	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ipc/operator"
)

// fake is a machine on which all is in order, to break something of.
type fake struct {
	host
	t      *testing.T
	health api.HealthReply
	test   operator.SelfTest
	at     endpoint.Endpoint
	bus    bus
}

func newFake(t *testing.T) *fake {
	home := t.TempDir()
	f := &fake{t: t,
		health: api.HealthReply{Status: "ok", Version: "1.2.3"}, test: operator.SelfTest{Version: "1.2.3"},
		at:  endpoint.Endpoint{URL: "http://127.0.0.1:7463", Token: endpoint.NewToken(), PID: 4711, Version: "1.2.3"},
		bus: bus{hasTray: true, notifier: notifier{name: "dunst", version: "1.9", capabilities: []string{"actions"}}},
	}
	f.host = host{
		Version: "1.2.3", Now: func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) },
		ConfigHome: filepath.Join(home, "config"), DataHome: filepath.Join(home, "data"),
		StateHome: filepath.Join(home, "state"), Runtime: filepath.Join(home, "run", "nod"),
		Environ: []string{"HOME=" + home, "DISPLAY=:0", "XDG_RUNTIME_DIR=" + filepath.Join(home, "run")},
		Machine: func() (agent.Machine, error) {
			return agent.Machine{Home: home, Nod: "/usr/bin/nod", Env: func(string) string { return "" }, Look: nowhere}, nil
		},
		Look:    func(name string) (string, error) { return name, nil },
		Program: func(name string) (string, error) { return "/usr/bin/" + name, nil },
		Run:     f.run,
		Health:  func(context.Context, endpoint.Endpoint) (api.HealthReply, error) { return f.health, nil },
		Display: func(context.Context, func(string) string) (string, error) { return "x11", nil },
		Bus:     func(context.Context, func(string) string) (bus, error) { return f.bus, nil },
	}
	for _, folder := range []string{f.configDir(), f.dataDir(), f.stateDir(), f.Runtime} {
		f.must(os.MkdirAll(folder, 0o700))
	}
	f.must(endpoint.Write(f.Runtime, f.at))
	return f
}

func nowhere(name string) (string, error) { return "", fmt.Errorf("%s is not in PATH", name) }

func (f *fake) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// write makes a file of nod's.
func (f *fake) write(path, text string) {
	f.t.Helper()
	f.must(os.MkdirAll(filepath.Dir(path), 0o700))
	f.must(os.WriteFile(path, []byte(text), 0o600))
}

func (f *fake) run(_ context.Context, _ []string, argv ...string) (string, error) {
	switch strings.Join(argv, " ") {
	case "/usr/bin/nod-desktop --version":
		return "nod-desktop 1.2.3 (0123abcd, 2026-11-22)\n", nil
	case "/usr/bin/nod-dialogs " + operator.SelfTestFlag:
		text, err := json.Marshal(f.test)
		return string(text), err
	}
	return "", fmt.Errorf("nobody runs %q", argv)
}

// gone has no nod-desktop answer.
func (f *fake) gone() {
	f.Health = func(context.Context, endpoint.Endpoint) (api.HealthReply, error) {
		return api.HealthReply{}, client.ErrNotRunning
	}
}

// want is a finding that is not ok, by its id: words in its sentence and in what mends it.
type want struct {
	status       status
	detail, cure string
}

func TestFindings(t *testing.T) {
	for name, tt := range map[string]struct {
		break_ func(*fake)
		want   map[string]want
	}{
		"all in order": {func(*fake) {}, nil},
		"nod-desktop has never run": {
			func(f *fake) { f.must(os.RemoveAll(f.Runtime)) },
			map[string]want{"nod-desktop": {failed, "isn't running", "nod start"}},
		},
		"nod-desktop died": {
			(*fake).gone,
			map[string]want{
				"nod-desktop": {failed, "isn't running", "nod start"},
				"endpoint":    {warned, "left a file", "rm -f"},
			},
		},
		"nod-desktop hangs": {
			func(f *fake) {
				f.Health = func(context.Context, endpoint.Endpoint) (api.HealthReply, error) {
					return api.HealthReply{}, context.DeadlineExceeded
				}
			},
			map[string]want{"nod-desktop": {failed, "process 4711 hangs", "kill -9 4711"}},
		},
		"another user's program": {
			func(f *fake) {
				f.Health = func(context.Context, endpoint.Endpoint) (api.HealthReply, error) {
					return api.HealthReply{}, fmt.Errorf("%w: it runs as user 7", client.ErrForeign)
				}
			},
			map[string]want{
				"nod-desktop": {failed, "it runs as user 7", "nod start"}, "endpoint": {warned, "left a file", "rm -f"},
			},
		},
		"a token that is not its own": {
			func(f *fake) {
				f.Health = func(context.Context, endpoint.Endpoint) (api.HealthReply, error) {
					return api.HealthReply{}, &client.Problem{Problem: api.Problem{Code: api.CodeUnauthorized}}
				}
			},
			map[string]want{"nod-desktop": {failed, "another program changed", "kill -9 4711"}},
		},
		"an endpoint that others can read": {
			func(f *fake) { f.must(os.Chmod(endpoint.Path(f.Runtime), 0o644)) },
			map[string]want{
				"nod-desktop": {failed, "others can open it", "chmod go-rwx"},
				"files":       {warned, "endpoint.json", "chmod go-rwx"},
			},
		},
		"paused": {
			func(f *fake) { f.health.Status = "paused" },
			map[string]want{"pause": {warned, "paused", "Resume"}},
		},
		"paused until": {
			func(f *fake) { f.health.Status, f.health.PausedUntil = "paused", f.Now() },
			map[string]want{"pause": {warned, "paused until ", "Resume"}},
		},
		"a history that nod-desktop cannot write": {
			func(f *fake) { f.health.History = "nod's history is read-only" },
			map[string]want{"history": {failed, "read-only", "nod log"}},
		},
		"do not disturb": {
			func(f *fake) { f.write(f.configPath(), "notifications:\n  do_not_disturb: true\n") },
			map[string]want{"pause": {warned, "do not disturb", "nod settings"}},
		},
		"no home": {
			func(f *fake) { f.Environ = []string{"XDG_RUNTIME_DIR=" + filepath.Dir(f.Runtime)} },
			map[string]want{"user": {failed, "HOME is not set", "getent passwd"}},
		},
		"a package manager that nobody knows": {
			func(f *fake) { f.Look, f.test.Undrawn = nowhere, []operator.Script{operator.Emoji} },
			map[string]want{"fonts": {warned, "no emoji font", "install fonts-noto-color-emoji"}},
		},
		"as root": {
			func(f *fake) { f.Environ = append(f.Environ, "SUDO_USER=ann") },
			map[string]want{"user": {warned, "not ann's", "nod doctor"}},
		},
		"an older nod-desktop runs": {
			func(f *fake) { f.health.Version = "1.2.2" },
			map[string]want{"versions": {warned, "the running nod-desktop is 1.2.2", "nod stop && nod start"}},
		},
		"nod-dialogs of another version": {
			func(f *fake) { f.test.Version = "1.2.2" },
			map[string]want{"versions": {failed, "/usr/bin/nod-dialogs is 1.2.2", "ls -l /usr/bin"}},
		},
		"a font is missing": {
			func(f *fake) { f.test.Undrawn = []operator.Script{operator.Chinese, operator.Emoji, operator.Korean} },
			map[string]want{"fonts": {warned, "Chinese, Korean", "fonts-noto-cjk"}},
		},
		"no OpenGL": {
			func(f *fake) { f.test.Problem = "OpenGL does not work here" },
			map[string]want{"windows": {failed, "OpenGL does not work here", "libgl1"}},
		},
		"nod-dialogs does not start": {
			func(f *fake) {
				f.Run = func(ctx context.Context, environ []string, argv ...string) (string, error) {
					if argv[0] == "/usr/bin/nod-dialogs" {
						return "", errors.New("libGL.so.1: cannot open shared object file")
					}
					return f.run(ctx, environ, argv...)
				}
			},
			map[string]want{"windows": {failed, "libGL.so.1", "ldd /usr/bin/nod-dialogs"}},
		},
		"a broken configuration": {
			func(f *fake) { f.write(f.configPath(), "look:\n  colour: red\n") },
			map[string]want{"policy": {failed, "config.yaml:2: look.colour", "nod policy check"}},
		},
		"a strict agent that nod does not know": {
			func(f *fake) { f.write(f.configPath(), "agents: {strict: [claude, cluade]}\n") },
			map[string]want{"policy": {warned, `"cluade", which counts for nod acp only: no agent`, "config.yaml"}},
		},
		"broken approvals": {
			func(f *fake) { f.write(filepath.Join(f.dataDir(), "grants.json"), "{") },
			map[string]want{"policy": {failed, "saved approvals don't count", "nod settings"}},
		},
		"a history that is none": {
			func(f *fake) { f.write(f.historyPath(), "this is no database") },
			map[string]want{"history": {failed, "is not reliable", "nod.db.damaged"}},
		},
		"a history that was set aside": {
			func(f *fake) { f.write(f.historyPath()+".2026-01-02T15-04-05.000000", "x") },
			map[string]want{"history-aside": {warned, "moved a history", "rm "}},
		},
		"a crash": {
			func(f *fake) {
				path := filepath.Join(f.stateDir(), "crash.log.1")
				f.write(path, "panic")
				f.must(os.Chtimes(path, f.Now(), f.Now()))
			},
			map[string]want{"crash": {failed, "crashed within the last day", "less"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			tt.break_(f)
			f.finds(tt.want)
		})
	}
}

// finds fails the test unless these findings, and no others, are not ok.
func (f *fake) finds(wanted map[string]want) {
	f.t.Helper()
	seen := map[string]bool{}
	for _, got := range examine(f.t.Context(), f.host) {
		if got.ID == "" || got.Title == "" || got.Detail == "" {
			f.t.Errorf("%+v says too little", got)
		}
		w, isWanted := wanted[got.ID]
		switch {
		case got.Status == fine:
			continue
		case !isWanted:
			f.t.Errorf("%+v, want nothing of it", got)
			continue
		case got.Fix == nil:
			f.t.Errorf("%+v does not say what mends it", got)
			continue
		}
		cure := got.Fix.Command + got.Fix.Window
		if w.status == got.Status && strings.Contains(got.Detail, w.detail) && strings.Contains(cure, w.cure) {
			seen[got.ID] = true
		} else if !seen[got.ID] && got.ID != "fonts" {
			f.t.Errorf("%+v, %q, want %+v", got, cure, w)
		}
	}
	for id, w := range wanted {
		if !seen[id] {
			f.t.Errorf("%s: want %+v", id, w)
		}
	}
}

// The worst is told first, and each status in the order of the checks.
func TestTheWorstComesFirst(t *testing.T) {
	f := newFake(t)
	f.health.Status, f.test.Problem = "paused", "no OpenGL"
	var got []status
	for _, finding := range examine(t.Context(), f.host) {
		got = append(got, finding.Status)
	}
	rest := slices.Repeat([]status{fine}, len(got)-2)
	if want := append([]status{failed, warned}, rest...); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A check that hangs is told, and keeps nobody waiting.
func TestCheckThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		defer close(over)
		c := check{"hang", "hang", func(context.Context, *exam) []Finding { <-over; return nil }}
		began := time.Now()
		found := c.run(t.Context(), new(exam))
		if took := time.Since(began); took != patience+grace {
			t.Errorf("took %v", took)
		}
		if len(found) != 1 || found[0].Status != warned || found[0].ID != "hang" {
			t.Errorf("%+v", found)
		}
	})
}

// Nothing that a machine lacks keeps the rest from being looked at.
func TestBareMachine(t *testing.T) {
	h := newFake(t).host
	none := filepath.Join(t.TempDir(), "none")
	h.ConfigHome, h.DataHome, h.StateHome = none, none, none
	h.Runtime, h.RuntimeErr, h.Environ = "nod", errors.New("no home"), nil
	h.Program, h.Look = nowhere, nowhere
	h.Machine = func() (agent.Machine, error) { return agent.Machine{}, errors.New("no home") }
	h.Display = func(context.Context, func(string) string) (string, error) { return "", errors.New("no screen") }
	errs := map[string]bool{}
	for _, f := range examine(t.Context(), h) {
		errs[f.ID] = errs[f.ID] || f.Status == failed
	}
	for _, id := range []string{"nod-desktop", "display", "windows", "runtime", "agents"} {
		if !errs[id] {
			t.Errorf("%s is not told as an error: %v", id, errs)
		}
	}
}
