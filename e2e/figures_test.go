//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var figures = flag.Bool("figures", false, "measure nod instead of testing it")

// idleTime is how long the processor time of an idle nod is watched.
const idleTime = time.Minute

// TestFigures measures what nod costs, and asserts nothing: make figures runs it.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("run make figures")
	}
	n := startDesktop(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*idleTime)
	defer cancel()
	n.ctx = ctx
	n.writeConfig(settings)
	n.startNod()
	tray := n.cmd.Process.Pid
	fmt.Printf("nod-desktop, tray only:        %.1f MiB resident\n", n.resident(tray))
	n.watchIdle("nod-desktop", tray)

	empty := buildEmpty(t)
	nothing := median(50, func() { must(t, n.Command(empty).Run()) })
	allowed := median(50, func() {
		must(t, n.program("nod", read("README.md", "--agent", "claude-code")...).Run())
	})
	fmt.Printf("nod approve, auto-allowed:     %v median of 50; an empty Go program: %v\n", allowed, nothing)

	prompt := func() time.Duration { return n.timeToWindow(n.program("nod", bash("make all")...)) }
	first := prompt()
	later := median(20, nil, prompt)
	cold := median(2, nil, func() time.Duration { // of three deaths in a minute nod would give up
		must(t, syscall.Kill(n.windowsProcess(), syscall.SIGTERM))
		return prompt()
	})
	fmt.Printf("request to mapped window:      %v the first, %v median of 20 after it; %v without windows\n",
		first, later, cold)
	n.others()
	for range 100 {
		prompt()
	}
	windows := n.windowsProcess()
	fmt.Printf("after 126 prompts, resident:   %.1f MiB nod-desktop, %.1f MiB nod-dialogs\n",
		n.resident(tray), n.resident(windows))
	n.watchIdle("nod-dialogs", windows)
	for _, name := range []string{"nod", "nod-desktop", "nod-dialogs"} {
		info, err := os.Stat(filepath.Join(bin, name))
		must(t, err)
		fmt.Printf("%-30s %.1f MB\n", name+":", float64(info.Size())/1e6)
	}
}

// TestHookFigures measures what a hook adds to a call that nobody is asked about: make figures runs it.
func TestHookFigures(t *testing.T) {
	if !*figures {
		t.Skip("run make figures")
	}
	n := start(t, settings)
	payload := fmt.Sprintf(`{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse",`+
		`"tool_name":"Bash","tool_input":{"command":"ls -la"},"tool_use_id":"toolu_1"}`, n.project())
	allowed := func(reply string) {
		if !strings.Contains(reply, `"permissionDecision":"allow"`) {
			t.Fatalf("the hook replied %q, want allow", reply)
		}
	}
	command := median(50, func() {
		cmd := n.inProject(n.program("nod", "hook", "claude-code"))
		cmd.Stdin = strings.NewReader(payload)
		out, err := cmd.Output()
		must(t, err)
		allowed(string(out))
	})
	posted := median(50, func() { allowed(n.post(n.ctx, "/v1/hooks/claude-code/PreToolUse", payload)) })
	fmt.Printf("nod hook, auto-allowed:        %v median of 50; the same payload over HTTP: %v\n", command, posted)
}

// others measures what people use without nod, where it is installed.
func (n *nod) others() {
	for _, name := range []string{"yad", "zenity"} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		took := median(20, nil, func() time.Duration {
			return n.timeToWindow(n.Command(name, "--question", "--text", "make all"))
		})
		fmt.Printf("%-30s %v median of 20\n", name+" to mapped window:", took)
	}
}

// watchIdle measures the processor time of a process while nothing happens.
func (n *nod) watchIdle(name string, pid int) {
	before := n.processorTime(pid)
	time.Sleep(idleTime) // this is what is measured: nothing happens
	spent := n.processorTime(pid) - before
	fmt.Printf("%-30s %.2f %% of one core for %v\n", name+", idle:", 100*spent.Seconds()/idleTime.Seconds(), idleTime)
}

// timeToWindow is the time from the start of a command to its window on the screen.
func (n *nod) timeToWindow(cmd *exec.Cmd) time.Duration {
	begin := time.Now()
	c := n.launch(cmd)
	must(n.t, n.Screen.Await(n.ctx, "a window", func() (bool, error) {
		all, err := n.Screen.Windows()
		return len(all) > 0, err
	}))
	took := time.Since(begin)
	must(n.t, c.cmd.Process.Kill())
	n.noWindow()
	return took
}

// median is the median of the times that do takes, or measures itself.
func median(times int, do func(), measure ...func() time.Duration) time.Duration {
	var all []time.Duration
	for range times {
		if do == nil {
			all = append(all, measure[0]())
			continue
		}
		begin := time.Now()
		do()
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all[len(all)/2].Round(10 * time.Microsecond)
}

// buildEmpty builds a program that does nothing.
func buildEmpty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	must(t, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	path := filepath.Join(dir, "empty")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// resident is the memory that a process has in use, in MiB.
func (n *nod) resident(pid int) float64 {
	n.t.Helper()
	for line := range strings.Lines(n.proc(pid, "status")) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			must(n.t, err)
			return kib / 1024
		}
	}
	n.t.Fatal("no VmRSS")
	return 0
}

// processorTime is the time that a process has spent on a processor.
func (n *nod) processorTime(pid int) time.Duration {
	n.t.Helper()
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	_, after, _ := strings.Cut(n.proc(pid, "stat"), ") ")
	fields := strings.Fields(after) // from the third field of proc(5) on
	var ticks time.Duration
	for _, f := range fields[11:13] { // utime, stime
		spent, err := strconv.Atoi(f)
		must(n.t, err)
		ticks += time.Duration(spent)
	}
	return ticks * tick
}

func (n *nod) proc(pid int, name string) string {
	n.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	must(n.t, err)
	return string(text)
}
