//go:build unix && !darwin

package desktop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

// carrying makes this program the go-between.
const carrying = "NOD_TEST_CARRYING"

func TestMain(m *testing.M) {
	if os.Getenv(carrying) != "" {
		if err := Carry(os.Getenv); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const busConfig = `<busconfig><type>session</type><listen>unix:dir=%s</listen><auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`

// startBus starts a session bus, which starts no service.
func startBus(t *testing.T) (address string, conn *dbus.Conn) {
	t.Helper()
	if _, err := exec.LookPath("dbus-daemon"); err != nil {
		t.Skip(err)
	}
	config := filepath.Join(t.TempDir(), "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, t.TempDir()), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("dbus-daemon", "--nofork", "--nosyslog", "--print-address=1", "--config-file="+config)
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = daemon.Process.Kill(), daemon.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(line)
	if conn, err = dbus.Connect(address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return address, conn
}

// A bus takes the connection for that of the go-between, into which a portal can look, and it works as any other.
func TestCarried(t *testing.T) {
	address, bus := startBus(t)
	t.Setenv(busAddress, address)
	t.Setenv(carrying, "1")
	connect := func(to string) error {
		if to == address {
			t.Error("the address is that of the bus itself")
		}
		conn, err := Bus(t.Context(), func(string) string { return to })
		if err != nil {
			return err
		}
		defer conn.Close()
		var pid int
		err = conn.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, conn.Names()[0]).Store(&pid)
		if err != nil {
			return err
		}
		if pid == os.Getpid() {
			t.Error("a portal would look into this process")
		}
		return nil
	}
	if err := Carried(t.Context(), os.Args[0], os.Getenv, connect); err == nil {
		t.Error("nothing needs to be carried where there is no portal")
	}
	if _, err := bus.RequestName(Portal, 0); err != nil {
		t.Fatal(err)
	}
	if err := Carried(t.Context(), os.Args[0], os.Getenv, connect); err != nil {
		t.Error(err)
	}
	if err := Carried(t.Context(), "/bin/false", os.Getenv, connect); err == nil {
		t.Error("a go-between that ends leaves a connection")
	}
}

// What a program starts finds the session's own bus.
func TestShareBusLeavesTheEnvironment(t *testing.T) {
	address, bus := startBus(t)
	if _, err := bus.RequestName(Portal, 0); err != nil {
		t.Fatal(err)
	}
	t.Setenv(busAddress, address)
	t.Setenv(carrying, "1")
	if err := ShareBus(context.Background(), os.Args[0]); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv(busAddress); got != address {
		t.Errorf("the environment has %q, want %q", got, address)
	}
	conn, err := dbus.SessionBus()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var pid int
	err = conn.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, conn.Names()[0]).Store(&pid)
	if err != nil || pid == os.Getpid() {
		t.Errorf("the shared connection is that of process %d, %v", pid, err)
	}
}

func TestSocketOf(t *testing.T) {
	for _, tt := range []struct{ address, runtime, want string }{
		{"unix:path=/run/user/1000/bus", "", "/run/user/1000/bus"},
		{"unix:path=/tmp/dbus-x,guid=aa", "", "/tmp/dbus-x"},
		{"unix:abstract=/tmp/dbus-x,guid=aa", "", "@/tmp/dbus-x"},
		{"unix:guid=aa,path=/tmp/a%20b", "", "/tmp/a b"},
		{"tcp:host=localhost,port=1;unix:path=/x", "", "/x"},
		{"", "/run/user/7", "/run/user/7/bus"},
		{"autolaunch:", "/run/user/7", ""},
		{"tcp:path=/x", "", ""},
		{"unix:path=%zz", "", ""},
	} {
		env := map[string]string{busAddress: tt.address, "XDG_RUNTIME_DIR": tt.runtime}
		got, err := socketOf(func(name string) string { return env[name] })
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q in %q: %q, %v, want %q", tt.address, tt.runtime, got, err, tt.want)
		}
	}
}
