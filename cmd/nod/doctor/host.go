package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"mvdan.cc/sh/v3/syntax"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ipc/programs"
	"nod/sandbox"
	"nod/version"
)

type host struct {
	Version string
	Now     func() time.Time
	Environ []string // of this program

	ConfigHome, DataHome, StateHome string // folders of the user, above nod's
	Runtime                         string // nod's own folder, with the published endpoint
	RuntimeErr                      error  // why there is no such folder

	Agents  []agent.Agent
	Machine func() (agent.Machine, error)

	Look    func(name string) (string, error)                                           // as exec.LookPath
	Program func(name string) (string, error)                                           // path of one of nod's programs
	Run     func(ctx context.Context, environ []string, argv ...string) (string, error) // output of a command
	Health  func(context.Context, endpoint.Endpoint) (api.HealthReply, error)

	// Sandbox tries a sandbox with the program nod in it. It is nil if this system has none.
	Sandbox func(ctx context.Context, nod string) (sandbox.Trial, error)

	// Display returns the platform of the windows, x11 or wayland, or "" if there is only one.
	Display func(ctx context.Context, getenv func(string) string) (platform string, err error)
	Bus     func(ctx context.Context, getenv func(string) string) (bus, error)
}

// thisHost returns the machine that the program runs on, with hooks that run m's nod command.
func thisHost(m func() (agent.Machine, error)) host {
	h := host{
		Version: version.Number(), Now: time.Now, Environ: os.Environ(),
		ConfigHome: xdg.ConfigHome, DataHome: xdg.DataHome, StateHome: xdg.StateHome,
		Agents: registry.Installable(), Machine: m,
		Look: exec.LookPath, Program: programs.Find, Run: output, Display: findDisplay, Bus: lookAtBus,
		Health: func(ctx context.Context, e endpoint.Endpoint) (api.HealthReply, error) {
			return (&client.Client{Endpoint: e}).Health(ctx)
		},
	}
	if runtime.GOOS == "linux" {
		h.Sandbox = sandbox.Find
	}
	h.Runtime, h.RuntimeErr = endpoint.Locate()
	return h
}

func output(ctx context.Context, environ []string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.WaitDelay = environ, grace/2
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	switch text := strings.TrimSpace(complaint.String()); {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil && text != "":
		err = errors.New(text)
	}
	return string(out), err
}

func (h host) configDir() string { return filepath.Join(h.ConfigHome, "nod") }
func (h host) dataDir() string   { return filepath.Join(h.DataHome, "nod") }
func (h host) stateDir() string  { return filepath.Join(h.StateHome, "nod") }

func (h host) configPath() string  { return filepath.Join(h.configDir(), "config.yaml") }
func (h host) historyPath() string { return filepath.Join(h.dataDir(), "nod.db") }

func getenv(environ []string) func(string) string {
	return func(name string) (value string) {
		for _, entry := range environ {
			if rest, is := strings.CutPrefix(entry, name+"="); is {
				value = rest
			}
		}
		return value
	}
}

func quote(path string) string {
	quoted, err := syntax.Quote(path, syntax.LangBash)
	if err != nil { // an impossible byte
		return fmt.Sprintf("%q", path)
	}
	return quoted
}

// bus is what the session bus offers.
type bus struct {
	hasTray  bool
	notifier notifier // an empty name means none
	err      error    // why the notification service does not say what it is
}

type notifier struct {
	name, version string
	capabilities  []string
}

// onDemand is the name of a service that only the first notification would start.
const onDemand = "on demand"
