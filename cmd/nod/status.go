package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nod/policy/config"
)

// report is what nod status says.
type report struct {
	Running bool   `json:"running"`
	Why     string `json:"why,omitempty"` // it cannot be reached
	Nod     string `json:"nod"`           // version of this program
	Desktop string `json:"desktop,omitempty"`
	Status  string `json:"status,omitempty"` // ok or paused

	PausedUntil time.Time `json:"paused_until,omitzero"`

	PID     int    `json:"pid,omitempty"`
	URL     string `json:"url,omitempty"`
	Socket  string `json:"socket,omitempty"`
	Pending int    `json:"pending"`
	Config  string `json:"config"`
	Policy  string `json:"policy"` // ok, or what is wrong with the configuration
	Log     string `json:"log"`
}

// status returns the command that says how nod is.
func (c *console) status() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "status",
		Short: "Print whether nod-desktop is running, where, and in what state",
		Long:  "Print whether nod-desktop is running, where, and in what state. The exit status is 5 when it isn't running.",
		Args:  noArgs,
		RunE:  c.runs(func(ctx context.Context, _ []string) error { return c.reportStatus(ctx) }),
	}, "print JSON")
}

func (c *console) reportStatus(ctx context.Context) error {
	r, err := inspect(ctx)
	if !c.json && r.Running && r.Desktop != r.Nod {
		c.complain("status", fmt.Sprintf("nod is version %s and nod-desktop %s: quit nod-desktop and run: nod start",
			r.Nod, r.Desktop))
	}
	return errors.Join(err, c.show(r, r.String()))
}

// inspect looks at everything. The error says why nod-desktop cannot be reached.
func inspect(ctx context.Context) (report, error) {
	r := report{Nod: buildVersion(), Log: logPath()}
	r.Config, r.Policy = configState()
	cl, err := discover()
	if err != nil {
		r.Why = err.Error()
		return r, err
	}
	health, err := health(ctx, cl)
	if err != nil {
		r.Why = err.Error()
		return r, err
	}
	r.Running = true
	at := cl.Current()
	r.Desktop, r.Status, r.Pending = health.Version, health.Status, health.Pending
	r.PausedUntil = health.PausedUntil
	r.PID, r.URL, r.Socket = at.PID, at.URL, at.Socket
	return r, nil
}

// configState returns the path of config.yaml and whether nod can read it.
func configState() (path, state string) {
	path, err := config.DefaultPath()
	if err != nil {
		return "", err.Error()
	}
	if err := checkConfig(path); err != nil {
		return path, err.Error()
	}
	return path, "ok"
}

// String lays the report out for a person.
func (r report) String() string {
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
		line("nod-desktop", fmt.Sprintf("%s, process %d, %s", r.Desktop, r.PID, state))
		line("address", r.URL)
		line("socket", r.Socket)
		line("pending", fmt.Sprint(r.Pending))
	} else {
		line("nod-desktop", "not running")
	}
	line("config", r.Config)
	line("policy", r.Policy)
	line("log", r.Log)
	return columns(lines)
}
