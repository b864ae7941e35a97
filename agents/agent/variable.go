package agent

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// Shell is the settings file, of the form that Claude Code introduced, in which an environment variable makes nod run
// the agent's commands: {"env": {VARIABLE: "/usr/bin/nod -c"}}.
func Shell(path, variable string) File {
	s := shellSetting(variable)
	return File{Path: path, Install: s.install, Look: s.look, Uninstall: s.uninstall}
}

type shellSetting string

const asShell = " -c"

// find returns the object "env" of a file, and the index of the variable in it, or -1.
func (s shellSetting) find(d *document) (*hujson.Object, int) {
	env, _ := child[*hujson.Object](d.root, "env")
	if env == nil {
		return nil, -1
	}
	return env, indexOf(env, string(s))
}

func isNods(v hujson.Value) bool {
	var value string
	if decode(v, &value) != nil {
		return false
	}
	path, ok := strings.CutSuffix(value, asShell)
	return ok && filepath.IsAbs(path) && strings.TrimSuffix(filepath.Base(path), ".exe") == "nod"
}

func (s shellSetting) install(before []byte, nod string) ([]byte, error) {
	if strings.ContainsAny(nod, " '\"\\$`") {
		return nil, fmt.Errorf("%s cannot be named in env.%s: install nod in a folder without blanks", nod, s)
	}
	d, err := parse(before)
	if err != nil {
		return nil, err
	}
	if env, i := s.find(d); i >= 0 && !isNods(env.Members[i].Value) {
		return nil, fmt.Errorf("env.%s is already set: remove it so that nod can run commands in the sandbox", s)
	} else if i >= 0 {
		env.Members[i].Value.Value = hujson.String(nod + asShell)
		return d.pack(), nil
	}
	env, err := object(d.member(d.root, "env", 1, &hujson.Object{}), "env")
	if err != nil {
		return nil, err
	}
	d.member(env, string(s), 2, hujson.String(nod+asShell))
	return d.pack(), nil
}

func (s shellSetting) uninstall(now, kept []byte) ([]byte, error) {
	d, err := parse(now)
	if err != nil {
		return nil, err
	}
	env, i := s.find(d)
	if i < 0 || !isNods(env.Members[i].Value) {
		return now, nil
	}
	cutMember(env, i)
	if len(env.Members) == 0 && !earlier(kept).has("env") {
		cutMember(d.root, indexOf(d.root, "env"))
	}
	return d.pack(), nil
}

func (s shellSetting) look(text []byte) (Found, error) {
	d, err := parse(text)
	if err != nil {
		return Found{}, err
	}
	env, i := s.find(d)
	is := i >= 0 && isNods(env.Members[i].Value)
	return Found{All: is, Some: is}, nil
}

// Contain computes the changes that make the agent pass its commands to nod, or stop that; none if it already does,
// cannot, or does not ask nod.
func (a Agent) Contain(m Machine, on bool) ([]Change, error) {
	if a.Shell == nil {
		return nil, nil
	}
	if asks, err := a.Settings(m).found(); on && (err != nil || !asks.Some) {
		return nil, nil
	}
	return changes([]File{a.Shell(m)}, func(f File, now []byte) ([]byte, error) {
		if on {
			return f.Install(now, m.Nod)
		}
		return f.Uninstall(now, nil)
	})
}
