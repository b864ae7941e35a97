package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/programs"
	"nod/ownfile/ownlog"
	"nod/policy/config"
	"nod/policy/invisible"
	"nod/sandbox"
	"nod/version"
)

type report struct {
	Running bool   `json:"running"`
	Why     string `json:"why,omitempty"` // why nod-desktop cannot be reached
	Nod     string `json:"nod"`           // version of this program
	Desktop string `json:"desktop,omitempty"`
	Status  string `json:"status,omitempty"` // ok or paused

	PausedUntil time.Time `json:"paused_until,omitzero"`
	History     string    `json:"history,omitempty"` // its problem

	PID     int    `json:"pid,omitempty"`
	URL     string `json:"url,omitempty"`
	Socket  string `json:"socket,omitempty"`
	Pending int    `json:"pending"`

	Relay *api.RelayHealth `json:"relay,omitzero"` // of nod relay, which has no configuration

	Config string `json:"config"`
	Policy string `json:"policy"` // ok, or what is wrong with the configuration
	Log    string `json:"log"`

	Sandbox   []string `json:"sandbox,omitempty"`    // projects whose commands run in it
	NoSandbox string   `json:"no_sandbox,omitempty"` // why they cannot
}

func (c *console) status() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "status",
		Short: "Print whether nod-desktop is running, where, and in what state",
		Long: `Print whether nod-desktop (or nod relay instead) is running, where, and in what state. The exit status is 5 if
it isn't running.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return c.reportStatus(ctx) }),
	}, "print JSON")
}

func (c *console) reportStatus(ctx context.Context) error {
	r, err := inspect(ctx)
	if !c.json && r.Running && r.Desktop != r.Nod {
		c.complain("status", fmt.Sprintf("nod is version %s and %s %s: run: nod stop, and start %[2]s again",
			r.Nod, programOf(r.Relay), r.Desktop))
	}
	return errors.Join(err, c.show(r, describeStatus(r)))
}

func inspect(ctx context.Context) (report, error) {
	r := report{Nod: version.Number(), Log: ownlog.Desktop()}
	r.readConfig(ctx)
	cl, health, err := reach(ctx)
	if err != nil {
		r.Why = err.Error()
		return r, err
	}
	r.Running = true
	at := cl.Current()
	r.Desktop, r.Status, r.Pending = health.Version, health.Status, health.Pending
	r.PausedUntil, r.History, r.Relay = health.PausedUntil, health.History, health.Relay
	r.PID, r.URL, r.Socket = at.PID, at.URL, at.Socket
	return r, nil
}

func (r *report) readConfig(ctx context.Context) {
	path, err := config.DefaultPath()
	if err != nil {
		r.Policy = err.Error()
		return
	}
	r.Config, r.Policy = path, "ok"
	c, err := checkConfig(path)
	grants, noFolder := config.GrantsPath()
	switch {
	case err != nil:
		r.Policy = err.Error()
	case noFolder == nil && !config.IsAccepted(filepath.Dir(grants), path):
		r.Policy = "another program changed it: new allow rules don't count until you accept them; run: nod settings"
	}
	if r.Sandbox = c.Policy.Sandbox.Projects; len(r.Sandbox) == 0 {
		return
	}
	nod, err := programs.Find("nod")
	if err == nil {
		_, err = sandbox.Find(ctx, nod)
	}
	if err != nil {
		r.NoSandbox = err.Error()
	}
}

// checkConfig reads the configuration. The error is nil if there is none, because the defaults apply.
func checkConfig(path string) (config.Config, error) {
	c, err := config.Check(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return c, err
}

func describeStatus(r report) string {
	var lines []string
	line := func(name, value string) {
		if value != "" {
			lines = append(lines, name+":\t"+strings.ReplaceAll(value, "\n", "\n\t"))
		}
	}
	line("nod", r.Nod)
	if r.Running {
		state := r.Status
		if !r.PausedUntil.IsZero() {
			state += " until " + r.PausedUntil.Local().Format("Mon 15:04")
		}
		line(programOf(r.Relay), fmt.Sprintf("%s, process %d, %s", r.Desktop, r.PID, state))
		line("address", r.URL)
		line("socket", r.Socket)
		line("pending", fmt.Sprint(r.Pending))
		line("history", invisible.Visible(r.History))
	} else {
		line(program, "not running")
	}
	if r.Relay != nil {
		line("fingerprint", invisible.Visible(r.Relay.Fingerprint))
		line("desk", describeDesk(*r.Relay))
		line("policy", describePolicy(*r.Relay))
	} else {
		line("config", r.Config)
		line("policy", r.Policy)
		line("sandbox", invisible.Visible(strings.Join(r.Sandbox, ", ")))
		line("no sandbox", r.NoSandbox)
	}
	line("log", r.Log)
	return columns(lines)
}

func programOf(relay *api.RelayHealth) string {
	if relay != nil {
		return "nod relay"
	}
	return "nod-desktop"
}

func describeDesk(r api.RelayHealth) string {
	switch {
	case r.Up:
		return "connected"
	case r.Desks == 0:
		return "none yet: the first that connects is the one that answers"
	}
	return cmp.Or(invisible.Visible(r.Problem), "none is connected")
}

func describePolicy(r api.RelayHealth) string {
	text := "none yet, so it asks about everything"
	switch {
	case r.Policy > 0 && r.Desks > 1:
		text = "the strictest of its desks'"
	case r.Policy > 0:
		text = "that of its desk"
	}
	if r.Unreported > 0 {
		text += fmt.Sprintf("; decisions that wait for a desk: %d", r.Unreported)
	}
	return text
}
