package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ipc/operator"
	"nod/policy/config"
)

type exam struct {
	host
	at      endpoint.Endpoint // as published; zero if nothing is
	health  api.HealthReply
	err     error    // why nod-desktop does not answer
	environ []string // of the session: of nod-desktop if it runs or hangs, else of this program
	who     string   // whose environment that is, in words

	config    config.Config // the defaults if the file is broken
	configErr error

	display  func() (platform string, err error) // of the session; looked up once
	selfTest func() (operator.SelfTest, error)   // of nod-dialogs; it runs once
}

// healthPatience is how long nod-desktop may take to answer before it counts as hung. A busy machine takes seconds.
const healthPatience = 5 * time.Second

func begin(ctx context.Context, h host) *exam {
	e := &exam{host: h, environ: h.Environ, who: "this shell"}
	e.at, e.err = e.published()
	if e.err == nil {
		ctx, cancel := context.WithTimeout(ctx, healthPatience)
		defer cancel()
		e.health, e.err = h.Health(ctx, e.at)
	}
	if e.isRunning() || e.hangs() {
		if p, err := operator.ReadPublished(h.Runtime, e.at.PID); err == nil && len(p.Environ) > 0 {
			e.environ, e.who = p.Environ, "nod-desktop"
		}
	}
	e.config, e.configErr = config.Check(h.configPath())
	if e.configErr != nil {
		e.config = config.Default()
	}
	if errors.Is(e.configErr, fs.ErrNotExist) {
		e.configErr = nil
	}
	e.display = sync.OnceValues(func() (string, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return h.Display(ctx, getenv(e.environ))
	})
	e.selfTest = sync.OnceValues(func() (operator.SelfTest, error) { return e.testWindows(ctx) })
	return e
}

func (e *exam) published() (endpoint.Endpoint, error) {
	if e.RuntimeErr != nil {
		return endpoint.Endpoint{}, e.RuntimeErr
	}
	at, err := endpoint.Read(e.Runtime)
	if errors.Is(err, fs.ErrNotExist) {
		err = client.ErrNotRunning
	}
	return at, err
}

func (e *exam) isRunning() bool { return e.err == nil }

func (e *exam) hangs() bool { return errors.Is(e.err, context.DeadlineExceeded) }

func start() *cure   { return run("nod start") }
func restart() *cure { return run("nod stop && nod start") }

func checkDesktop(_ context.Context, e *exam) []Finding {
	problem, isProblem := errors.AsType[*client.Problem](e.err)
	switch {
	case e.isRunning():
		return []Finding{ok("version %s, process %d, answers at %s", e.health.Version, e.at.PID, e.at.URL)}
	case errors.Is(e.err, client.ErrNotRunning):
		f := failure(start(), "isn't running, so no agent can ask")
		if _, err := e.Program("nod-desktop"); err != nil {
			f = failure(nil, "isn't running, and cannot be started: %v", err)
		}
		return append([]Finding{f}, e.leftBehind()...)
	case errors.Is(e.err, client.ErrForeign):
		return append([]Finding{failure(start(), "isn't running, and another user's program has its address: %v", e.err)},
			e.leftBehind()...)
	case isProblem && problem.Code == api.CodeUnauthorized:
		return []Finding{failure(again(e.at.PID), "refuses the token in %s: another program changed it",
			endpoint.Path(e.Runtime))}
	case e.RuntimeErr != nil:
		return []Finding{failure(ownRuntime(), "cannot be found without its folder")}
	case e.hangs():
		return []Finding{failure(again(e.at.PID), "process %d hangs: it does not answer within %s", e.at.PID, healthPatience)}
	case e.at.PID != 0:
		return []Finding{failure(again(e.at.PID), "process %d does not answer: %v", e.at.PID, e.err)}
	}
	return []Finding{failure(run("chmod go-rwx %s", quote(endpoint.Path(e.Runtime))), "cannot be found: %v", e.err)}
}

func again(pid int) *cure { return run("kill -9 %d; nod start", pid) }

func (e *exam) leftBehind() []Finding {
	if e.at.PID == 0 {
		return nil
	}
	path := endpoint.Path(e.Runtime)
	f := warning(run("rm -f %s", quote(path)), "nod-desktop has ended, but left a file: %s", path)
	f.ID, f.Title = "endpoint", "endpoint"
	return []Finding{f}
}

func checkAttention(_ context.Context, e *exam) []Finding {
	switch {
	case e.isRunning() && e.health.Status == "paused" && e.health.PausedUntil.IsZero():
		return []Finding{warning(open("Resume, in the menu of nod's tray icon"), "nod is paused: it asks nobody")}
	case e.isRunning() && e.health.Status == "paused":
		return []Finding{warning(open("Resume, in the menu of nod's tray icon"), "nod is paused until %s: it asks "+
			"nobody",
			e.health.PausedUntil.Local().Format("Mon 15:04"))}
	case e.config.Notifications.DoNotDisturb:
		return []Finding{warning(run("nod settings"), "do not disturb is on: prompts wait in the tray")}
	case e.config.Notifications.Quiet(e.Now()):
		return []Finding{warning(run("nod settings"), "these are quiet hours (%s): prompts wait in the tray",
			e.config.Notifications.QuietHours)}
	case e.isRunning():
		return []Finding{ok("prompts appear; %d waiting", e.health.Pending)}
	}
	return nil
}

func checkUser(_ context.Context, e *exam) []Finding {
	if isFreedesktop && getenv(e.Environ)("HOME") == "" {
		return []Finding{failure(run(`export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"`),
			"no home folder: HOME is not set")}
	}
	if name := getenv(e.Environ)("SUDO_USER"); name != "" && name != "root" {
		return []Finding{warning(run("nod doctor"), "with sudo, this checks root's nod, not %s's",
			name)}
	}
	return nil
}

func ownRuntime() *cure { return run(`export XDG_RUNTIME_DIR="/run/user/$(id -u)"`) }

func checkRuntime(_ context.Context, e *exam) []Finding {
	env := getenv(e.Environ)
	dir := env("XDG_RUNTIME_DIR")
	fix := ownRuntime()
	switch {
	case e.RuntimeErr != nil:
		return []Finding{failure(fix, "%v", e.RuntimeErr)}
	case filepath.Dir(e.Runtime) == dir || !isFreedesktop:
		return []Finding{ok("%s", e.Runtime)}
	case dir != "":
		return []Finding{warning(fix, "XDG_RUNTIME_DIR is %s, which isn't a folder of yours: nod uses %s", dir, e.Runtime)}
	case filepath.Dir(e.Runtime) == fmt.Sprintf("/run/user/%d", os.Getuid()):
		return []Finding{ok("%s", e.Runtime)}
	}
	return []Finding{warning(run("loginctl enable-linger"), "XDG_RUNTIME_DIR is not set: nod uses %s, where agents "+
		"with another environment may not find it", e.Runtime)}
}

const recent = 24 * time.Hour

func checkCrash(_ context.Context, e *exam) []Finding {
	trace := filepath.Join(e.stateDir(), "crash.log.1")
	info, err := os.Lstat(trace)
	if err != nil || info.Size() == 0 || e.Now().Sub(info.ModTime()) >= recent {
		return nil
	}
	return []Finding{failure(run("less %s", quote(trace)), "nod-desktop crashed within the last day: see %s", trace)}
}
