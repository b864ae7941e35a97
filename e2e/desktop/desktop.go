//go:build linux

// Package desktop starts a private virtual desktop: an X server without a screen, a session bus, a window
// manager, a panel with a notification area, and a notification daemon. Programs started on it open real
// windows, put real icons into the panel and get real keys and clicks, on any machine and beside any
// number of other desktops.
//
// Whoever waits for something on the desktop names the condition and is woken when the screen or the bus
// changes: see [Screen.Await] and [Desktop.AwaitName].
package desktop

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// tools are the programs that make up a desktop, with the Debian package of each.
var tools = []struct{ program, pkg string }{
	{"Xvfb", "xvfb"},
	{"dbus-daemon", "dbus"},
	{"openbox", "openbox"},
	{"xfce4-panel", "xfce4-panel"},
	{"dunst", "dunst"},
}

// Names that the desktop's services own on its session bus.
const (
	Notifications = "org.freedesktop.Notifications"
	TrayWatcher   = "org.kde.StatusNotifierWatcher"
)

// Background is the colour of a desktop where no window is.
var Background = color.RGBA{0x3b, 0x46, 0x57, 0xff}

// The size of a desktop in pixels.
const width, height = 1280, 800

//go:embed config
var configs embed.FS

// Desktop is a running virtual desktop. Its methods are for one goroutine at a time.
type Desktop struct {
	Screen  *Screen
	Bus     *dbus.Conn
	Manager WindowManager

	dir      string
	display  string
	address  string // of the session bus
	launcher *launcher
	log      *os.File
	close    func() error
}

// Missing names the programs, with their Debian packages, that this machine lacks for a desktop.
func Missing() []string {
	var missing []string
	for _, t := range tools {
		if _, err := exec.LookPath(t.program); err != nil {
			missing = append(missing, fmt.Sprintf("%s (package %s)", t.program, t.pkg))
		}
	}
	return missing
}

// Start starts a desktop that keeps everything in dir, an empty folder whose path is short enough for a
// Unix socket. It returns when programs can be started on it. ctx limits the start, not the desktop.
func Start(ctx context.Context, dir string, m WindowManager) (*Desktop, error) {
	if missing := Missing(); missing != nil {
		return nil, fmt.Errorf("no virtual desktop without %s: run scripts/setup test", strings.Join(missing, ", "))
	}
	d := &Desktop{Manager: m, dir: dir, launcher: newLauncher()}
	d.close = sync.OnceValue(d.end)
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start desktop: %w", err), d.Close())
	}
	return d, nil
}

func (d *Desktop) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		d.makeFolders, d.startX, d.startBus, d.startWindowManager, d.startPanel, d.startNotifications,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Home is the home folder of the desktop's person.
func (d *Desktop) Home() string { return filepath.Join(d.dir, "home") }

// Config is where the desktop's person keeps settings.
func (d *Desktop) Config() string { return filepath.Join(d.Home(), ".config") }

// Runtime is the user's folder for sockets.
func (d *Desktop) Runtime() string { return filepath.Join(d.dir, "run") }

// Session is what a program must have in its environment to run on the desktop, and nothing else.
func (d *Desktop) Session() []string {
	return []string{
		"DISPLAY=" + d.display,
		"XAUTHORITY=" + d.authority(),
		"DBUS_SESSION_BUS_ADDRESS=" + d.address,
	}
}

// Env is the whole environment of the desktop's person: a session, a home of their own, an ordinary locale. Only the
// compiled shaders are shared with whoever tests: compiling them takes a sixth of the tests' time.
func (d *Desktop) Env() []string {
	shaders, _ := os.UserCacheDir()
	return append(d.Session(),
		"PATH="+os.Getenv("PATH"),
		"HOME="+d.Home(),
		"USER=person", "LOGNAME=person",
		"LANG=C.UTF-8", "TZ=UTC",
		"TMPDIR="+filepath.Join(d.dir, "tmp"),
		"XDG_RUNTIME_DIR="+d.Runtime(),
		"XDG_CONFIG_HOME="+d.Config(),
		"XDG_DATA_HOME="+filepath.Join(d.Home(), ".local", "share"),
		"XDG_STATE_HOME="+filepath.Join(d.Home(), ".local", "state"),
		"XDG_CACHE_HOME="+filepath.Join(d.Home(), ".cache"),
		"XDG_SESSION_TYPE=x11", "XDG_CURRENT_DESKTOP=XFCE",
		"GSETTINGS_BACKEND=memory", "NO_AT_BRIDGE=1", // GTK: no settings daemon, no accessibility bus
		"LIBGL_ALWAYS_SOFTWARE=1", "MESA_SHADER_CACHE_DIR="+shaders,
	)
}

// Command prepares a program of the desktop's person, in their home folder.
func (d *Desktop) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = d.Env(), d.Home()
	return cmd
}

// Launch starts cmd as part of the desktop: it dies with the desktop, and with this process however that
// ends. The returned channel is closed when the program has ended; cmd.ProcessState tells how.
func (d *Desktop) Launch(cmd *exec.Cmd) (<-chan struct{}, error) { return d.launcher.launch(cmd) }

// Close ends everything that runs on the desktop, the last started first.
func (d *Desktop) Close() error { return d.close() }

func (d *Desktop) end() error {
	var errs []error
	if d.Bus != nil {
		errs = append(errs, d.Bus.Close())
	}
	d.launcher.close()
	if d.Screen != nil {
		d.Screen.Close()
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	return errors.Join(errs...)
}

func (d *Desktop) makeFolders(context.Context) (err error) {
	for _, path := range []string{
		d.settings(), d.Runtime(), filepath.Join(d.dir, "tmp"), filepath.Join(d.Home(), ".cache"),
		filepath.Join(d.Home(), ".local", "share"), filepath.Join(d.Home(), ".local", "state"),
	} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
	}
	d.log, err = os.OpenFile(filepath.Join(d.dir, "desktop.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return err
}

func (d *Desktop) authority() string { return filepath.Join(d.dir, "Xauthority") }

// startX lets the X server choose a free display and reads its number, which the server writes when it
// is ready. Only holders of the cookie may connect: the screen shows prompts that can be clicked.
func (d *Desktop) startX(ctx context.Context) error {
	if err := writeAuthority(d.authority()); err != nil {
		return err
	}
	return d.launchX(ctx)
}

// launchX starts the X server on the display that the desktop has had, if any, as soon as no other desktop has it.
func (d *Desktop) launchX(ctx context.Context) error {
	args := []string{"-displayfd", "3", "-auth", d.authority(),
		"-screen", "0", fmt.Sprintf("%dx%dx24", width, height), "-dpi", "96", "-nolisten", "tcp", "-noreset"}
	if d.display != "" {
		args = append([]string{d.display}, args...)
	}
	number, err := d.launchAndRead(ctx, exec.Command("Xvfb", args...))
	for err != nil && d.display != "" && ctx.Err() == nil {
		number, err = d.launchAndRead(ctx, exec.Command("Xvfb", args...))
	}
	if err != nil {
		return err
	}
	d.display = ":" + number
	if d.Screen, err = OpenScreen(d.display, d.authority()); err != nil {
		return err
	}
	return d.Screen.fill(Background)
}

func (d *Desktop) startBus(ctx context.Context) error {
	services := filepath.Join(d.dir, "services")
	if err := os.Mkdir(services, 0o700); err != nil {
		return err
	}
	const xfconf = "org.xfce.Xfconf.service"
	installed := filepath.Join("/usr/share/dbus-1/services", xfconf)
	if err := os.Symlink(installed, filepath.Join(services, xfconf)); err != nil {
		return err
	}
	config, err := d.install("bus.conf", filepath.Join(d.dir, "bus.conf"),
		"{{socket}}", filepath.Join(d.dir, "bus"), "{{services}}", services)
	if err != nil {
		return err
	}
	d.address, err = d.launchAndRead(ctx, d.Command("dbus-daemon", "--nofork", "--nosyslog",
		"--config-file="+config, "--print-address=3"))
	if err != nil {
		return err
	}
	d.Bus, err = dbus.Connect(d.address)
	return err
}

// settings is where the panel and the window manager of Xfce have theirs.
func (d *Desktop) settings() string {
	return filepath.Join(d.Config(), "xfce4", "xfconf", "xfce-perchannel-xml")
}

func (d *Desktop) startPanel(ctx context.Context) error {
	if _, err := d.install("xfce4-panel.xml", filepath.Join(d.settings(), "xfce4-panel.xml")); err != nil {
		return err
	}
	return d.launchPanel(ctx)
}

// launchPanel starts the panel, a second time if it shows nothing: rarely it gets the name of the tray and no further.
func (d *Desktop) launchPanel(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, panelTime)
	defer cancel()
	err := d.tryPanel(first)
	if err == nil || first.Err() == nil || ctx.Err() != nil {
		return err
	}
	if err := d.StopPanel(ctx); err != nil {
		return err
	}
	return d.tryPanel(ctx)
}

const panelTime = 30 * time.Second

func (d *Desktop) tryPanel(ctx context.Context) error {
	if err := d.launchService(Panel, "--disable-wm-check"); err != nil {
		return err
	}
	if err := d.AwaitName(ctx, TrayWatcher); err != nil {
		return err
	}
	return d.Screen.Await(ctx, "the panel", func() (bool, error) {
		_, found, err := d.Screen.Panel()
		return found, err
	})
}

func (d *Desktop) startNotifications(ctx context.Context) error {
	config, err := d.install("dunstrc", filepath.Join(d.dir, "dunstrc"))
	if err != nil {
		return err
	}
	if err := d.launchService("dunst", "-config", config); err != nil {
		return err
	}
	return d.AwaitName(ctx, Notifications)
}

// AwaitName waits until a program owns name on the session bus.
func (d *Desktop) AwaitName(ctx context.Context, name string) error {
	return d.awaitOwner(ctx, name, true)
}

func (d *Desktop) awaitOwner(ctx context.Context, name string, want bool) error {
	return d.AwaitSignal(ctx, fmt.Sprintf("%s to have an owner: %v", name, want), func() (bool, error) {
		var owned bool
		err := d.Bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
		return owned == want, err
	}, dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"))
}

// AwaitSignal waits until met says yes, asking at once and again after every signal on the session bus
// that matches.
func (d *Desktop) AwaitSignal(ctx context.Context, what string, met func() (bool, error),
	match ...dbus.MatchOption) error {
	signals := make(chan *dbus.Signal, 64)
	d.Bus.Signal(signals)
	defer d.Bus.RemoveSignal(signals)
	if err := d.Bus.AddMatchSignal(match...); err != nil {
		return err
	}
	defer func() { _ = d.Bus.RemoveMatchSignal(match...) }() // fails only with the bus
	for {
		ok, err := met()
		if err != nil || ok {
			return err
		}
		select {
		case <-signals:
		case <-time.After(lookAgain): // some services tell of a change before it can be read
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}

const lookAgain = 250 * time.Millisecond

func (d *Desktop) launchService(name string, args ...string) error {
	cmd := d.Command(name, args...)
	cmd.Stdout, cmd.Stderr = d.log, d.log
	_, err := d.Launch(cmd)
	return err
}

// launchAndRead starts a program that writes one line to its file descriptor 3 when it is ready.
func (d *Desktop) launchAndRead(ctx context.Context, cmd *exec.Cmd) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{w}, d.log, d.log
	_, err = d.Launch(cmd)
	w.Close() // the program has its own copy: reading ends when the program does
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	line, err := readLine(r)
	if ctx.Err() != nil {
		return "", fmt.Errorf("wait for %s: %w", cmd.Args[0], ctx.Err())
	}
	if err != nil {
		return "", fmt.Errorf("%s did not start: see %s", cmd.Args[0], d.log.Name())
	}
	return line, nil
}

// readLine reads up to the first line break. It reads byte by byte, for a writer that keeps the pipe open.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
}

// install writes an embedded configuration to path, with old, new pairs replaced.
func (d *Desktop) install(name, path string, oldnew ...string) (string, error) {
	text, err := configs.ReadFile("config/" + name)
	if err != nil {
		return "", err
	}
	for pair := range slices.Chunk(oldnew, 2) {
		text = bytes.ReplaceAll(text, []byte(pair[0]), []byte(pair[1]))
	}
	return path, os.WriteFile(path, text, 0o600)
}
