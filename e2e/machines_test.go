//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/api"
	"nod/ipc/operator"
)

// machine is another machine as far as nod can tell: a home, a runtime folder and an sshd of its own.
type machine struct {
	n    *nod
	dir  string
	port int
	sshd *exec.Cmd
	over <-chan struct{} // closed when sshd has ended
}

// sshConfig is what the user has told ssh about the machine.
const sshConfig = `Host build-1
HostName 127.0.0.1
Port %d
User %s
IdentityFile %s
IdentitiesOnly yes
UserKnownHostsFile %s
`

const sshdConfig = `Port %d
ListenAddress 127.0.0.1
HostKey %s
AuthorizedKeysFile %s
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv %s
`

// newMachine makes a machine, to which nothing leads yet.
func (n *nod) newMachine() *machine {
	n.t.Helper()
	dir, err := os.MkdirTemp("", "nod-m-")
	must(n.t, err)
	n.t.Cleanup(func() { os.RemoveAll(dir) })
	m := &machine{n: n, dir: dir}
	for _, folder := range []string{"home/src/shop", "run", "bin"} {
		must(n.t, os.MkdirAll(m.path(folder), 0o700))
	}
	n.t.Cleanup(m.stopRelay)
	return m
}

// newContainer makes a machine that is a container of this engine: no more of one than the engine's exec.
func (n *nod) newContainer(engine string) *machine {
	n.t.Helper()
	m := n.newMachine()
	must(n.t, writeProgram(m.path("bin/"+engine), fmt.Sprintf(`#!/bin/sh
[ "${*%%%% --desk *}" = "exec -i build-1 nod relay --stdio" ] || { echo "Error: No such container: $*" >&2; exit 1; }
shift 3
cd %s && exec env -i %s "$@"
`, m.path("home"), strings.Join(m.env(), " "))))
	return m
}

// newHost starts a machine that the user reaches by ssh as build-1.
func (n *nod) newHost() *machine {
	n.t.Helper()
	if _, err := os.Stat("/usr/sbin/sshd"); err != nil {
		n.t.Skip("sshd is not installed: run scripts/setup test")
	}
	m := n.newMachine()
	m.port = freePort(n.t)
	for _, key := range []string{"host_key", "person_key"} {
		keygen := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", m.path(key))
		if out, err := keygen.CombinedOutput(); err != nil {
			n.t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	must(n.t, os.Rename(m.path("person_key.pub"), m.path("authorized_keys")))
	hostKey, err := os.ReadFile(m.path("host_key.pub"))
	must(n.t, err)
	m.write("known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", m.port, hostKey))
	me, err := user.Current()
	must(n.t, err)
	m.write("ssh_config", fmt.Sprintf(sshConfig, m.port, me.Username, m.path("person_key"), m.path("known_hosts")))
	m.write("sshd_config", fmt.Sprintf(sshdConfig, m.port, m.path("host_key"), m.path("authorized_keys"),
		strings.Join(m.env(), " ")))
	// The user's ssh reads ~/.ssh of the user whom the test runs as.
	must(n.t, writeProgram(m.path("bin/ssh"), fmt.Sprintf("#!/bin/sh\necho $$ >%s\nexec /usr/bin/ssh -F %s \"$@\"\n",
		m.path("ssh.pid"), m.path("ssh_config"))))
	if os.Geteuid() == 0 {
		must(n.t, os.MkdirAll("/run/sshd", 0o755)) // where sshd locks itself in
	}
	m.startSSHD()
	return m
}

// freePort is one that nothing listens at.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *machine) write(name, text string) {
	m.n.t.Helper()
	must(m.n.t, os.WriteFile(m.path(name), []byte(text), 0o600))
}

// env is what programs there have in their environment.
func (m *machine) env() []string {
	return []string{
		"HOME=" + m.path("home"), "PATH=" + bin + ":/usr/bin:/bin", "XDG_RUNTIME_DIR=" + m.path("run"),
		"XDG_DATA_HOME=" + m.path("home/.local/share"), "XDG_STATE_HOME=" + m.path("home/.local/state"),
		"XDG_CONFIG_HOME=" + m.path("home/.config"), "XDG_CACHE_HOME=" + m.path("home/.cache"),
	}
}

func (m *machine) startSSHD() {
	m.n.t.Helper()
	m.sshd = exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", m.path("sshd_config"))
	m.sshd.Stderr = m.n.openLog("sshd.stderr")
	var err error
	m.over, err = m.n.Launch(m.sshd)
	must(m.n.t, err)
}

// stopSSHD ends sshd and the connections through it.
func (m *machine) stopSSHD() {
	m.n.t.Helper()
	must(m.n.t, m.sshd.Process.Kill())
	<-m.over
	m.killSSH()
}

// killSSH kills the user's ssh.
func (m *machine) killSSH() {
	m.n.t.Helper()
	must(m.n.t, syscall.Kill(m.pid("ssh.pid"), syscall.SIGKILL))
}

func (m *machine) pid(name string) int {
	m.n.t.Helper()
	text, err := os.ReadFile(m.path(name))
	must(m.n.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(m.n.t, err)
	return pid
}

// command prepares a program on the machine, in the project there.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = m.env(), m.path("home/src/shop")
	return cmd
}

// send has an agent there run a nod command.
func (m *machine) send(args ...string) *call {
	m.n.t.Helper()
	return m.n.launch(m.command(filepath.Join(bin, "nod"), args...))
}

// stopRelay ends the relay, if one runs.
func (m *machine) stopRelay() { _ = m.command(filepath.Join(bin, "nod"), "stop").Run() }

// desktop prepares nod-desktop for a user whose ssh knows the machine.
func (m *machine) desktop() *exec.Cmd {
	cmd := m.n.program("nod-desktop", "--background")
	cmd.Env = append(cmd.Env, "PATH="+m.path("bin")+":/usr/bin:/bin")
	return cmd
}

// remoteConfig is the configuration of a user with one machine of that kind.
func remoteConfig(kind string) string { return settings + remoteLines(kind) }

func remoteLines(kind string) string {
	return "\nremote:\n  machines: [{kind: " + kind + ", host: build-1}]\n"
}

// peers waits until nod-desktop says of its peers what is wanted.
func (n *nod) peers(what string, wanted func(operator.Peers) bool) operator.Peers {
	n.t.Helper()
	path := filepath.Join(n.Runtime(), "nod", "machines.json")
	var last operator.Published
	for {
		if text, err := os.ReadFile(path); err == nil {
			must(n.t, json.Unmarshal(text, &last))
			if last.PID == n.cmd.Process.Pid && wanted(last.Peers) { // and not one that was killed
				return last.Peers
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-n.ctx.Done():
			n.t.Fatalf("wait for %s: nod-desktop says %+v", what, last.Peers)
		}
	}
}

// pairButton waits for the button that pairs, which is in the upper half of the page.
func (n *nod) pairButton(page image.Rectangle) (button image.Rectangle) {
	n.t.Helper()
	page.Max.Y -= page.Dy() / 2
	must(n.t, n.Screen.Await(n.ctx, "the button that pairs", func() (bool, error) {
		found, count, err := n.Screen.Matching(page, func(c color.RGBA) bool { return c == plainButton })
		button = found
		return count >= buttonArea && found.Max.X < page.Max.X-30, err // further right is the one that adds a line
	}))
	return button
}

// pairMachine pairs the machine that asks to join, in the settings.
func (n *nod) pairMachine(name string) {
	n.t.Helper()
	n.peers("a machine to ask to join", func(p operator.Peers) bool { return len(p.Joining) == 1 })
	n.send("settings").result()
	w := n.window(settingsTitle)
	for range 8 {
		n.after(func() { n.press("ctrl+Tab") })
	}
	n.after(func() { n.click(n.pairButton(w.Area)) })
	n.blink() // in the field for the name
	n.press("ctrl+a")
	n.write(name)
	n.blink()
	n.shot(n.named("pairing"))
	n.press("Return")
	n.peers("the machine to be paired", func(p operator.Peers) bool { return len(p.Peers) == 1 && p.Peers[0].Up })
	n.closeSettings()
}

// startPaired starts a machine and a desk, and pairs them.
func startPaired(t *testing.T) (*nod, *machine) {
	t.Helper()
	n := startDesktop(t)
	m := n.newHost()
	n.writeConfig(remoteConfig("ssh"))
	n.startProgram(m.desktop())
	n.pairMachine("build")
	return n, m
}

// awaitLine waits until the line to the machine is up, or down.
func (n *nod) awaitLine(up bool) {
	n.t.Helper()
	n.peers(fmt.Sprintf("the line to be up: %v", up), func(p operator.Peers) bool { return p.Peers[0].Up == up })
}

// audit ends nod and fails the test unless its journal has exactly these outcomes of the machine's requests, in order.
func (n *nod) audit(want ...api.Outcome) {
	n.t.Helper()
	must(n.t, n.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-n.ended:
	case <-n.ctx.Done():
		n.t.Fatal("nod-desktop did not quit")
	}
	var got []api.Outcome
	for _, r := range n.settled() {
		if r.Request.Requester.Machine != "build" {
			n.t.Errorf("a request of %q: %+v", r.Request.Requester.Machine, r.Request.Body)
		}
		got = append(got, r.Answer.Outcome)
	}
	if !slices.Equal(got, want) {
		n.t.Errorf("the journal has %q of the machine's requests, want %q", got, want)
	}
}

// TestMachineOverSSH has agents on another machine ask at the desk, and loses the line meanwhile.
func TestMachineOverSSH(t *testing.T) {
	t.Parallel()
	n, m := startPaired(t)
	if out, status := n.launch(m.desktopCommand("machines")).result(); status != 0 ||
		!strings.Contains(out, "build") || !strings.Contains(out, "connected since") {
		t.Errorf("nod machines: status %d: %s", status, out)
	}
	c := m.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.shot("ssh-prompt")
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()

	hook := m.command(filepath.Join(bin, "nod"), "hook", "claude-code")
	hook.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash",` +
		`"tool_input":{"command":"make hooked"},"cwd":"` + hook.Dir + `"}`)
	h := n.launch(hook)
	n.prompt()
	n.armed()
	n.press("ctrl+d")
	if out, status := h.result(); status != 0 || !strings.Contains(out, `"behavior":"deny"`) {
		t.Errorf("the hook ends with status %d and says %q", status, out)
	}
	n.noWindow()

	lost := m.send(bash("make lost")...)
	n.prompt()
	m.killSSH()
	n.awaitLine(true)
	n.affirm()
	lost.wants("allow", 0)
	n.noWindow()

	m.stopSSHD()
	n.awaitLine(false)
	waits := m.send(bash("make waits")...)
	m.startSSHD()
	n.awaitLine(true)
	n.prompt()
	n.armed()
	n.press("ctrl+d")
	waits.wants("deny", 1)
	n.noWindow()
	n.audit(api.Allowed, api.Denied, api.Allowed, api.Denied)
}

// TestLineSaysWhyItIsDown has a real ssh fail in the ways in which it does.
func TestLineSaysWhyItIsDown(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	m := n.newHost()
	hosts, err := os.ReadFile(m.path("known_hosts"))
	must(t, err)
	other, err := os.ReadFile(m.path("authorized_keys"))
	must(t, err)
	keys := string(other)
	name, _, _ := strings.Cut(string(hosts), " ")
	n.writeConfig(remoteConfig("ssh"))
	m.write("known_hosts", name+" "+keys) // a key that is not the host's
	n.startProgram(m.desktop())
	for _, step := range []struct {
		says string
		next func()
	}{
		{"the host's key has changed", func() { m.write("known_hosts", "") }},
		{"does not know the host's key yet", func() {
			m.write("known_hosts", string(hosts))
			m.write("authorized_keys", "")
		}},
		{"ssh was refused", func() { m.write("authorized_keys", `command="exit 127" `+keys) }},
		{"nod is not installed there", func() { m.write("authorized_keys", `command="echo Welcome; cat" `+keys) }},
		{"the reply is not from nod", func() { m.write("authorized_keys", keys) }},
	} {
		n.peers("a line that says: "+step.says, func(p operator.Peers) bool {
			return len(p.Lines) == 1 && strings.Contains(p.Lines[0].Problem, step.says)
		})
		step.next()
	}
	n.peers("the machine to ask to join", func(p operator.Peers) bool { return len(p.Joining) == 1 && p.Lines[0].Up })
}

// TestContainers has agents in containers ask at the desk, through what stands in for docker and podman.
func TestContainers(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"docker", "podman"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			n := startDesktop(t)
			m := n.newContainer(engine)
			n.writeConfig(remoteConfig(engine))
			n.startProgram(m.desktop())
			n.pairMachine("build")
			c := m.send(bash("make all")...)
			n.prompt()
			n.affirm()
			c.wants("allow", 0)
			n.noWindow()
			n.audit(api.Allowed)
		})
	}
}

// desktopCommand is a nod command of the user at the desk.
func (m *machine) desktopCommand(args ...string) *exec.Cmd {
	cmd := m.n.program("nod", args...)
	cmd.Env = append(cmd.Env, "PATH="+m.path("bin")+":/usr/bin:/bin")
	return cmd
}

// relayPID is the process of the relay.
func (m *machine) relayPID() int {
	m.n.t.Helper()
	out, err := m.command(filepath.Join(bin, "nod"), "status", "--json").Output()
	must(m.n.t, err)
	var status struct{ PID int }
	must(m.n.t, json.Unmarshal(out, &status))
	return status.PID
}

// TestRelayIsKilled kills the relay while an agent waits: the next one takes the request up, and it is answered once.
func TestRelayIsKilled(t *testing.T) {
	t.Parallel()
	n, m := startPaired(t)
	c := m.send(bash("make all")...)
	n.prompt()
	old := m.relayPID()
	must(t, syscall.Kill(old, syscall.SIGKILL))
	n.awaitLine(false)
	n.awaitLine(true)
	if again := m.relayPID(); again == old {
		t.Errorf("process %d still runs", old)
	}
	n.prompt()
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()
	n.audit(api.Allowed)
}

// TestDeskIsKilledBeforeTheRelayHasAcknowledged kills nod-desktop after the user has answered and before it knows
// that the answer counts. Where ssh had the answer the agent has it, and the next nod-desktop asks nobody again.
func TestDeskIsKilledBeforeTheRelayHasAcknowledged(t *testing.T) {
	t.Parallel()
	n, m := startPaired(t)
	c := m.send(bash("make all")...)
	n.prompt()
	n.armed()
	relay := m.relayPID()
	must(t, syscall.Kill(relay, syscall.SIGSTOP))
	before := m.readBySSH()
	n.press("ctrl+Return")
	const greeting = 300 // bytes that one does not have, and an answer has: none follows before the relay has replied
	for m.readBySSH() < before+greeting {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-n.ctx.Done():
			t.Fatal("the answer was not sent")
		}
	}
	c.pending()
	must(t, n.cmd.Process.Kill())
	<-n.ended
	must(t, syscall.Kill(relay, syscall.SIGCONT))
	c.wants("allow", 0)
	n.startProgram(m.desktop())
	n.awaitLine(true)
	n.nothingPending()
	n.audit(api.Allowed)
}

// nothingPending waits until nobody waits for the user.
func (n *nod) nothingPending() {
	n.t.Helper()
	for {
		out, _ := n.launch(n.program("nod", "status", "--json")).result()
		var status struct{ Pending *int }
		must(n.t, json.Unmarshal([]byte(out), &status))
		if status.Pending != nil && *status.Pending == 0 {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-n.ctx.Done():
			n.t.Fatalf("still pending: %s", out)
		}
	}
}

// readBySSH is how many bytes the user's ssh has read, of nod-desktop and of the network.
func (m *machine) readBySSH() (bytes int) {
	m.n.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", m.pid("ssh.pid")))
	must(m.n.t, err)
	_, err = fmt.Sscanf(string(text), "rchar: %d", &bytes)
	must(m.n.t, err)
	return bytes
}
