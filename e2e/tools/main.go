// Command tools prints the released agents' tools, and fields of their input, that nod's data lack: run
// "tools .cache/agents/node_modules" in the folder of the sources. It starts each agent in an empty home with a model
// that says that all is done, and reads the tools that the agent offers the model. It writes them to testdata/tools in
// the agent's folder; a test of the policy checks that the data know them all. Amp is missing, as it asks only its
// maker's servers.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: tools FOLDER [AGENT...]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

// run looks at the agents of these names, or at all. It stops at the first that cannot be looked at.
func run(folder string, names []string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	m := &model{offered: map[string][]string{}}
	server := httptest.NewServer(m)
	defer server.Close()
	for _, a := range agents {
		if len(names) > 0 && !slices.Contains(names, a.name) {
			continue
		}
		if err := a.look(folder, server.URL, m); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// look compares what an agent offers its model with what nod knows of it.
func (a agent) look(folder, address string, m *model) error {
	data, err := readData(a.name)
	if err != nil {
		return err
	}
	version, err := a.release(folder)
	if err != nil {
		return err
	}
	for _, s := range a.starts {
		if err := a.start(folder, address, m, s); err != nil {
			return err
		}
	}
	offered := m.forget()
	if a.types != "" {
		if err := declared(offered, filepath.Join(folder, a.types)); err != nil {
			return err
		}
	}
	return data.compare(a.name+" "+version, version, offered)
}

// release is the version that the agent's package says it is.
func (a agent) release(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, a.version, "package.json"))
	if err != nil {
		return "", fmt.Errorf("not installed, run make test-agents: %w", err)
	}
	var p struct{ Version string }
	err = json.Unmarshal(text, &p)
	return p.Version, err
}

const (
	patience = 90 * time.Second // how long an agent may take to ask its model
	more     = 6 * time.Second  // how long after that it may ask once more, as for the tools of subagents
)

// start starts an agent in a home of its own until it has ended, or has had time to ask its model.
func (a agent) start(folder, address string, m *model, s start) error {
	path, err := os.MkdirTemp("", "agent-tools-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(path) }() // what still runs may still write: it is a temporary folder
	h := newHome(path, folder, address, slices.Concat(a.env, s.env))
	if err := h.write(a.files); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	program := filepath.Join(folder, a.program)
	if a.setup != nil {
		if out, err := h.launch(ctx, append([]string{program}, a.setup...)); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	args := append([]string{program}, s.args...)
	if s.terminal {
		args = []string{"script", "-qefc", "'" + strings.Join(args, "' '") + "'", os.DevNull}
	}
	asked := m.whenAsked(func() { time.AfterFunc(more, cancel) })
	out, err := h.launch(ctx, args)
	if !asked() {
		return fmt.Errorf("%q does not ask its model: %w: %s", s.args, cmp.Or(err, ctx.Err()), out)
	}
	return nil
}

// A home is what an agent is started in.
type home struct {
	path, project string
	fill          *strings.Replacer
	env           []string
}

func newHome(path, folder, address string, env []string) *home {
	h := &home{path: path, project: filepath.Join(path, "project")}
	h.fill = strings.NewReplacer("{model}", address, "{project}", h.project)
	h.env = []string{"HOME=" + path, "TMPDIR=" + path, "PWD=" + h.project, "LANG=C.UTF-8", "TERM=xterm-256color",
		"PATH=" + filepath.Join(folder, ".bin") + ":/usr/local/bin:/usr/bin:/bin"}
	for _, e := range env {
		h.env = append(h.env, h.fill.Replace(e))
	}
	return h
}

// write writes files by their paths at home.
func (h *home) write(files map[string]string) error {
	if err := os.Mkdir(h.project, 0o700); err != nil {
		return err
	}
	for path, text := range files {
		path = filepath.Join(h.path, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(h.fill.Replace(text)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// launch runs a program in the project and returns what it says. When ctx ends, so does all that it has started.
func (h *home) launch(ctx context.Context, args []string) (string, error) {
	for i, arg := range args {
		args[i] = h.fill.Replace(arg)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = h.project, h.env, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// data is what nod knows of an agent's tools.
type data struct {
	folder string                     // of the agent
	tools  map[string]map[string]bool // the fields of each; nil: of any
}

// readData reads the file of tools that speaks of an agent.
func readData(agent string) (data, error) {
	files, err := filepath.Glob("policy/tools/*.txt")
	if err != nil {
		return data{}, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return data{}, err
		}
		if d, names := parseData(string(text)); slices.Contains(names, agent) {
			d.folder = filepath.Join("agents", strings.TrimSuffix(filepath.Base(file), ".txt"))
			return d, nil
		}
	}
	return data{}, fmt.Errorf("no policy/tools/*.txt speaks of %s: is this the folder of the sources?", agent)
}

// parseData reads a file of tools as far as it names tools and fields: policy/tool.go says what else is in it.
func parseData(text string) (d data, agents []string) {
	d.tools = map[string]map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) < 2 || strings.HasPrefix(words[0], "#"):
		case words[0] == "agents:":
			agents = words[1:]
		case words[0] == "unknown" || words[0] == "question":
			d.tools[words[1]] = nil
		default:
			d.tools[words[1]] = map[string]bool{}
			for _, word := range words[2:] {
				name, _, _ := strings.Cut(word, ":")
				d.tools[words[1]][name] = true
			}
		}
	}
	return d, agents
}

// compare writes down what a release offers, and prints what the data lack of it.
func (d data) compare(title, version string, offered map[string][]string) error {
	var list bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		fmt.Fprintln(&list, strings.TrimSpace(name+" "+strings.Join(offered[name], " ")))
		known, isKnown := d.tools[name]
		lacking := slices.DeleteFunc(slices.Clone(offered[name]), func(field string) bool { return known[field] })
		switch {
		case !isKnown:
			fmt.Println(title, "lacks the tool", name, strings.Join(offered[name], " "))
		case known != nil && len(lacking) > 0:
			fmt.Println(title, "lacks the fields of", name, strings.Join(lacking, " "))
		}
	}
	path := filepath.Join(d.folder, "testdata", "tools", version+".txt")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, list.Bytes(), 0o644)
}
