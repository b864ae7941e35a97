package sandbox_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nod/sandbox"
)

// sharedKey is by what others would find the shared memory outside.
const sharedKey = 0x6e6f6400

// target is what is outside, as an attack is told of it.
type target struct {
	home, project, dir string
	pid                int // of a process
	tcp, udp           int // ports of 127.0.0.1
	address            string
	abstract           string
	kind               sandbox.Kind
}

// attacks are what a command tries. Each says how it got out, or nothing.
var attacks = map[string]func(t target) string{
	"write outside": func(t target) string {
		for _, path := range []string{
			t.dir + "/outside/x", t.home + "/.ssh/id_ed25519", t.home + "/tools/bin/tool", t.home + "/.bashrc",
			"/etc/ld.so.preload", "/usr/bin/true", "/usr/x", "/x", "/etc/x", "/opt/x", "/dev/x", "/proc/x", "/run/x",
			t.project + "/.git/hooks/pre-commit", t.project + "/.git/config", t.project + "/.git/x",
			t.project + "/.envrc", t.project + "/sub/deep/.envrc", t.project + "/.env",
			t.project + "/.claude/settings.json",
		} {
			_ = os.Chmod(path, 0o777)
			_ = os.WriteFile(path, []byte("attack"), 0o755)
		}
		return ""
	},
	"write by renaming": func(t target) string {
		for _, name := range []string{".git", ".git/hooks", ".envrc", ".env", "keys", "sub", "sub/deep", ".claude"} {
			path := filepath.Join(t.project, name)
			if _, err := os.Lstat(path); err != nil { // with Landlock nothing is covered
				continue
			}
			if os.Rename(path, filepath.Join(t.project, "moved")) == nil {
				return "renames " + name
			}
			if os.Remove(path) == nil || os.RemoveAll(path) == nil {
				return "removes " + name
			}
			other := filepath.Join(t.project, "other")
			_ = os.WriteFile(other, []byte("attack"), 0o755)
			if os.Rename(other, path) == nil {
				return "replaces " + name
			}
			if unix.Renameat2(unix.AT_FDCWD, other, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE) == nil {
				return "exchanges " + name
			}
		}
		return ""
	},
	"write by links": func(t target) string {
		for _, name := range []string{".git/config", ".envrc", ".git/hooks/pre-commit"} {
			link := filepath.Join(t.project, "hard")
			if os.Link(filepath.Join(t.project, name), link) == nil {
				return "links " + name
			}
		}
		for i, path := range []string{t.home + "/.bashrc", t.dir + "/outside/x", "/etc/passwd"} {
			link := filepath.Join(t.project, "soft"+strconv.Itoa(i))
			_ = os.Symlink(path, link)
			_ = os.WriteFile(link, []byte("attack"), 0o755)
		}
		return ""
	},
	"what describes files": func(t target) string {
		at := []unix.Timespec{{Sec: 1}, {Sec: 1}}
		for _, path := range []string{t.dir + "/outside/x", t.home + "/.ssh/id_ed25519", t.project + "/.git/config"} {
			_ = unix.UtimesNanoAt(unix.AT_FDCWD, path, at, 0)
			_ = unix.Utimes(path, []unix.Timeval{{Sec: 1}, {Sec: 1}})
			_ = unix.Fchmodat(unix.AT_FDCWD, path, 0o777, unix.AT_SYMLINK_NOFOLLOW) // as fchmodat2
			_ = unix.Chown(path, os.Getuid(), os.Getgid())
			if unix.Setxattr(path, "user.nod", []byte("attack"), 0) == nil {
				return "has an attribute for " + path
			}
			file, err := os.Open(path)
			if err != nil {
				continue
			}
			_ = file.Chmod(0o777)
			_ = unix.Futimes(int(file.Fd()), []unix.Timeval{{Sec: 1}, {Sec: 1}})
			if flags, err := unix.IoctlGetInt(int(file.Fd()), unix.FS_IOC_GETFLAGS); err == nil &&
				unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flags|unix.STATX_ATTR_NODUMP) == nil {
				return "sets flags of " + path
			}
		}
		return ""
	},
	"limits and order of others": func(t target) string {
		for _, pid := range []int{t.pid, 1} {
			was := unix.Rlimit{}
			if t.kind == sandbox.Bubblewrap && pid == 1 { // the sandbox's own
				continue
			}
			if unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &was) == nil {
				return fmt.Sprint("sees limits of process ", pid)
			}
			if unix.Setpriority(unix.PRIO_PROCESS, pid, 5) == nil {
				return fmt.Sprint("is nice for process ", pid)
			}
			if unix.SchedSetaffinity(pid, &unix.CPUSet{1}) == nil {
				return fmt.Sprint("moves process ", pid)
			}
		}
		return ""
	},
	"pairs that are connected anew": func(t target) string {
		for _, style := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET, unix.SOCK_RAW} {
			pair, err := unix.Socketpair(unix.AF_UNIX, style|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				continue
			}
			for _, name := range []string{t.abstract, t.abstract + "d", t.dir + "/outside/datagrams"} {
				if unix.Connect(pair[0], &unix.SockaddrUnix{Name: name}) == nil ||
					unix.Sendto(pair[1], []byte("attack"), 0, &unix.SockaddrUnix{Name: name}) == nil &&
						style == unix.SOCK_DGRAM {
					return "reaches " + name
				}
			}
		}
		return ""
	},
	"read secrets": func(t target) string { return search("/", t) },
	"read what is hidden": func(t target) string {
		for _, path := range []string{
			t.project + "/.env", t.project + "/keys/a.pem", t.home + "/.ssh/id_ed25519", t.home + "/.cache/token",
			t.home + "/tools/secret", "/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_rsa_key", "/etc/sudoers",
			t.home + "/src/neighbour/main.go", "/var/run/docker.sock", "/sys/kernel/uevent_seqnum",
		} {
			if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
				return "reads " + path
			}
		}
		return ""
	},
	"environments of others": func(t target) string {
		found, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range found {
			if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(canary)) {
				return "reads " + path
			}
		}
		_, err := os.Stat(fmt.Sprintf("/proc/%d", t.pid)) // Landlock hides nothing
		if err == nil && t.pid > 100 && t.kind == sandbox.Bubblewrap {
			return "sees a process outside"
		}
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", t.pid)); err == nil && t.pid > 100 {
			return fmt.Sprintf("sees %q run", text)
		}
		return ""
	},
	"TCP":       func(t target) string { return connects("tcp", fmt.Sprintf("127.0.0.1:%d", t.tcp)) },
	"TCP by v6": func(t target) string { return connects("tcp", fmt.Sprintf("[::1]:%d", t.tcp)) },
	"TCP to the machine": func(t target) string {
		return cmp.Or(connects("tcp", fmt.Sprintf("%s:%d", t.address, t.tcp)), connects("tcp", "8.8.8.8:53"))
	},
	"UDP": func(t target) string {
		for _, address := range []string{fmt.Sprintf("127.0.0.1:%d", t.udp), fmt.Sprintf("%s:%d", t.address, t.udp)} {
			if c, err := net.Dial("udp", address); err == nil {
				_, _ = c.Write([]byte("attack"))
			}
		}
		return ""
	},
	"DNS": func(target) string {
		if addresses, err := net.LookupHost("example.com"); err == nil {
			return fmt.Sprint("resolves ", addresses)
		}
		return ""
	},
	"ICMP and raw": func(target) string {
		for _, kind := range [][3]int{
			{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW},
			{unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6}, {unix.AF_PACKET, unix.SOCK_RAW, 0x300},
			{unix.AF_PACKET, unix.SOCK_DGRAM, 0x300},
		} {
			if _, err := unix.Socket(kind[0], kind[1], kind[2]); err == nil {
				return fmt.Sprint("opens a socket ", kind)
			}
		}
		if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP); err == nil {
			echo := []byte{8, 0, 0xf7, 0xff, 0, 0, 0, 0}
			if unix.Sendto(fd, echo, 0, &unix.SockaddrInet4{Addr: [4]byte{8, 8, 8, 8}}) == nil {
				return "sends an echo"
			}
		}
		return ""
	},
	"netlink, vsock and others": func(target) string {
		for _, kind := range [][2]int{
			{unix.AF_NETLINK, unix.NETLINK_AUDIT}, {unix.AF_NETLINK, unix.NETLINK_KOBJECT_UEVENT},
			{unix.AF_NETLINK, unix.NETLINK_NETFILTER}, {unix.AF_NETLINK, unix.NETLINK_GENERIC},
			{unix.AF_NETLINK, unix.NETLINK_SOCK_DIAG}, {unix.AF_VSOCK, 0}, {unix.AF_ALG, 0}, {unix.AF_BLUETOOTH, 0},
			{unix.AF_CAN, 0}, {unix.AF_TIPC, 0}, {unix.AF_RDS, 0}, {unix.AF_KEY, 2}, {unix.AF_XDP, 0}, {unix.AF_IB, 0},
			{unix.AF_QIPCRTR, 0}, {unix.AF_SMC, 0}, {unix.AF_KCM, 0}, {unix.AF_NFC, 0}, {unix.AF_CAIF, 0},
		} {
			for _, style := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
				if _, err := unix.Socket(kind[0], style, kind[1]); err != unix.EAFNOSUPPORT {
					return fmt.Sprint("opens a socket ", kind, ": ", err)
				}
			}
		}
		if _, err := unix.Socketpair(unix.AF_TIPC, unix.SOCK_STREAM, 0); err != unix.EAFNOSUPPORT {
			return "opens a pair"
		}
		return ""
	},
	"abstract sockets": func(t target) string { return connects("unix", t.abstract) },
	"sockets in folders": func(t target) string {
		for _, dir := range []string{t.project, t.home + "/tools", t.home + "/.cache", t.dir + "/outside", "/tmp"} {
			for _, kind := range []string{"unix", "unixgram"} {
				if what := connects(kind, filepath.Join(dir, "socket")); what != "" {
					return what
				}
			}
		}
		for _, path := range []string{
			"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0",
			"/run/systemd/private", "/run/systemd/journal/socket", "/dev/log", "/run/containerd/containerd.sock",
			fmt.Sprintf("/run/user/%d/bus", os.Getuid()), fmt.Sprintf("/run/user/%d/nod/nod.sock", os.Getuid()),
		} {
			if what := connects("unix", path); what != "" {
				return what
			}
		}
		return ""
	},
	"signals and ptrace": func(t target) string {
		if t.pid > 100 && unix.Kill(t.pid, unix.SIGKILL) == nil {
			return "ends a process outside"
		}
		first := os.Getppid()
		for id := first; t.kind == sandbox.Landlock && id < first+20; id++ { // its threads
			if unix.Kill(first, 0) == nil || unix.Tgkill(first, id, 0) == nil {
				return "could end the first process"
			}
		}
		for _, pid := range []int{1, t.pid, os.Getppid()} {
			if unix.PtraceAttach(pid) == nil {
				return fmt.Sprint("traces process ", pid)
			}
			if fd, err := unix.PidfdOpen(pid, 0); err == nil {
				if _, err := unix.PidfdGetfd(fd, sandbox.Control, 0); err == nil {
					return fmt.Sprint("takes a file of process ", pid)
				}
			}
			for _, name := range []string{"mem", "fd/3", "environ", "root", "cwd", "maps"} {
				if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil {
					return fmt.Sprint("reads ", name, " of process ", pid)
				}
				if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil {
					return fmt.Sprint("reads ", name, " of process ", pid)
				}
			}
		}
		_ = unix.Kill(1, unix.SIGKILL) // the kernel does not let it
		return ""
	},
	"keyring": func(target) string {
		if _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); err != unix.ENOSYS {
			return fmt.Sprint("has a keyring: ", err)
		}
		if _, err := unix.AddKey("user", "x", []byte("x"), unix.KEY_SPEC_USER_KEYRING); err != unix.ENOSYS {
			return fmt.Sprint("adds a key: ", err)
		}
		return ""
	},
	"system calls": func(target) string {
		for name, call := range map[string][]uintptr{
			"io_uring": {unix.SYS_IO_URING_SETUP, 1}, "bpf": {unix.SYS_BPF}, "perf": {unix.SYS_PERF_EVENT_OPEN},
			"userfaultfd": {unix.SYS_USERFAULTFD, 1}, "setns": {unix.SYS_SETNS}, "mount": {unix.SYS_MOUNT},
			"clone3": {unix.SYS_CLONE3}, "syslog": {unix.SYS_SYSLOG, 3}, "open_tree": {unix.SYS_OPEN_TREE},
			"handles": {unix.SYS_OPEN_BY_HANDLE_AT}, "umount": {unix.SYS_UMOUNT2}, "chroot": {unix.SYS_CHROOT},
			"fsopen": {unix.SYS_FSOPEN}, "move_mount": {unix.SYS_MOVE_MOUNT}, "reboot": {unix.SYS_REBOOT},
			"TIOCSTI":          {unix.SYS_IOCTL, 0, unix.TIOCSTI},
			"TIOCLINUX":        {unix.SYS_IOCTL, 0, unix.TIOCLINUX},
			"TIOCSTI, 64 bits": {unix.SYS_IOCTL, 0, unix.TIOCSTI | 1<<32},
			"x32":              {unix.SYS_GETPID | 0x4000_0000},
			"x32 io_uring":     {unix.SYS_IO_URING_SETUP | 0x4000_0000},
		} {
			if runtime.GOARCH != "amd64" && strings.HasPrefix(name, "x32") {
				continue
			}
			call = append(call, 0, 0, 0, 0, 0, 0)
			_, _, err := unix.Syscall6(call[0], call[1], call[2], call[3], call[4], call[5], call[6])
			if err != unix.EPERM && err != unix.ENOSYS {
				return fmt.Sprint(name, ": ", err)
			}
		}
		return ""
	},
	"namespaces": func(target) string {
		for _, flag := range []int{
			unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWPID, unix.CLONE_NEWNET,
			unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		} {
			if err := unix.Unshare(flag); err != unix.EPERM {
				return fmt.Sprintf("makes namespaces %x: %v", flag, err)
			}
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: uintptr(flag)}
			if cmd.Run() == nil {
				return fmt.Sprintf("clones into namespaces %x", flag)
			}
		}
		for _, argv := range [][]string{{"unshare", "-U", "true"}, {"bwrap", "--bind", "/", "/", "true"}} {
			if exec.Command(argv[0], argv[1:]...).Run() == nil {
				return argv[0] + " works"
			}
		}
		return ""
	},
	"rights": func(t target) string {
		header, has := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
		if err := unix.Capget(&header, &has[0]); err != nil || has != [2]unix.CapUserData{} {
			return fmt.Sprint("has rights: ", has, err)
		}
		uid := os.Geteuid()
		for right := range unix.CAP_LAST_CAP + 1 { // an ordinary user cannot drop these, nor use them
			if is, _ := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(right), 0, 0, 0); is != 0 &&
				(uid == 0 || t.kind == sandbox.Bubblewrap) {
				return fmt.Sprint("could have right ", right)
			}
		}
		for option, want := range map[int]int{unix.PR_GET_NO_NEW_PRIVS: 1, unix.PR_GET_SECCOMP: 2} {
			if is, err := unix.PrctlRetInt(option, 0, 0, 0, 0); is != want {
				return fmt.Sprint("has ", is, " of option ", option, ": ", err)
			}
		}
		if uid != 0 && (unix.Setuid(0) == nil || unix.Setresuid(0, 0, 0) == nil) {
			return "becomes root"
		}
		return ""
	},
	"setuid programs": func(target) string {
		text, _ := os.ReadFile("/proc/self/mountinfo")
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			options := strings.Split(fields[5], ",")
			if !slices.Contains(options, "nosuid") {
				return "sees a mount with setuid programs: " + line
			}
			if !slices.Contains(options, "nodev") && !strings.HasPrefix(fields[4], "/dev") {
				return "sees a mount with devices: " + line
			}
		}
		if unix.Mknod("node", unix.S_IFBLK|0o666, int(unix.Mkdev(254, 0))) == nil {
			return "makes a device"
		}
		return ""
	},
	"another loader": func(target) string { // the mounts, not the programs, are what holds
		for _, loader := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
			if exec.Command(loader, "/usr/bin/touch", "/usr/x").Run() == nil {
				return "writes by " + loader
			}
		}
		return ""
	},
	"settings of the system": func(target) string {
		found := ""
		_ = filepath.WalkDir("/proc", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			if file, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				_, found = file.Close(), "opens "+path+" to write"
				return fs.SkipAll
			}
			return nil
		})
		return found
	},
	"what was inherited": func(target) string {
		for fd := range 1024 {
			to, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
			if strings.HasPrefix(to, "/") && to != "/dev/null" && !strings.HasPrefix(to, "/proc") {
				return "has " + to
			}
		}
		for fd := range 1024 {
			var s unix.Stat_t
			if unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFDIR && unix.Fchdir(fd) == nil {
				if dir, _ := unix.Getwd(); !strings.HasPrefix(dir, "/proc") {
					return "has the folder " + dir
				}
			}
		}
		return ""
	},
	"terminal": func(target) string {
		if _, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
			return "has a terminal"
		}
		session, _ := unix.Getsid(0)
		if group := unix.Getpgrp(); session == group {
			return "leads the session"
		}
		return ""
	},
	"shared memory and messages": func(target) string {
		if _, _, err := unix.Syscall(unix.SYS_SHMGET, sharedKey, 16, 0); err == 0 {
			return "finds shared memory of others"
		}
		for id := range uintptr(64) { // by number, without asking for it
			if _, _, err := unix.Syscall(unix.SYS_SHMAT, id, 0, unix.SHM_RDONLY); err == 0 {
				return "has shared memory of others"
			}
		}
		return ""
	},
}

// search looks for the canary in all that can be read.
func search(root string, t target) (found string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && (path == "/proc" || path == "/usr" || path == "/opt" || path == "/dev" || path == "/nix"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || path == sandbox.FirstPath:
			return nil
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(canary)) {
			found = "reads " + path
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func connects(network, address string) string {
	if c, err := net.Dial(network, address); err == nil {
		_, _ = c.Write([]byte("attack"))
		return "reaches " + address
	}
	return ""
}

// attack makes one attack, in the sandbox.
func attack(args []string) {
	var t target
	_, err := fmt.Sscan(strings.Join(args[1:], " "),
		&t.home, &t.project, &t.dir, &t.pid, &t.tcp, &t.udp, &t.address, &t.abstract, &t.kind)
	if err != nil {
		panic(err)
	}
	fmt.Print(attacks[args[0]](t))
	os.Exit(0)
}

// listeners are what an attack must not reach. heard says what did.
func (w *world) listeners(t *target) (heard func() []string) {
	w.t.Helper()
	reached := make(chan string, 100)
	listen := func(network, address string) net.Addr {
		l, err := net.Listen(network, address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
				reached <- network + " " + address
			}
		}()
		return l.Addr()
	}
	t.address = machineAddress()
	t.tcp = listen("tcp", "0.0.0.0:0").(*net.TCPAddr).Port
	t.abstract = fmt.Sprintf("@nod-test-%d-%d", os.Getpid(), t.tcp)
	listen("unix", t.abstract)
	for _, dir := range []string{w.project, w.home + "/tools", w.home + "/.cache", w.dir + "/outside"} {
		listen("unix", dir+"/socket")
	}
	receive := func(network, address string) net.Addr {
		packets, err := net.ListenPacket(network, address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { packets.Close() })
		go func() {
			for {
				if _, _, err := packets.ReadFrom(make([]byte, 10)); err != nil {
					return
				}
				reached <- network + " " + address
			}
		}()
		return packets.LocalAddr()
	}
	receive("unixgram", t.abstract+"d")
	receive("unixgram", w.dir+"/outside/datagrams")
	t.udp = receive("udp", "0.0.0.0:0").(*net.UDPAddr).Port
	return func() (out []string) {
		for {
			select {
			case what := <-reached:
				out = append(out, what)
			default:
				return out
			}
		}
	}
}

func machineAddress() string {
	addresses, _ := net.InterfaceAddrs()
	for _, address := range addresses {
		if ip, ok := address.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return "127.0.0.2"
}

func TestEscapes(t *testing.T) {
	outside := exec.Command("sleep", "1000")
	outside.Env = []string{"SECRET=" + canary}
	if err := outside.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outside.Process.Kill(); _ = outside.Wait() })
	shared, _, failed := unix.Syscall(unix.SYS_SHMGET, sharedKey, 16, unix.IPC_CREAT|0o666)
	if failed != 0 {
		t.Fatal(failed)
	}
	t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_SHMCTL, shared, unix.IPC_RMID, 0) })
	for name := range attacks {
		inEach(t, name, func(t *testing.T, w *world) {
			to := target{home: w.home, project: w.project, dir: w.dir, pid: outside.Process.Pid}
			to.kind = w.e.Kind()
			heard := w.listeners(&to)
			w.profile.Hide = append(w.profile.Hide, w.project+"/socket")
			leaked, err := unix.Open(w.home, unix.O_RDONLY, 0) // without O_CLOEXEC
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(leaked)
			before := w.state()
			c := w.command(sandbox.FirstPath, "attack", name, to.home, to.project, to.dir, fmt.Sprint(to.pid),
				fmt.Sprint(to.tcp), fmt.Sprint(to.udp), to.address, to.abstract, string(to.kind))
			c.Env = append(c.Env, "GORACE=atexit_sleep_ms=0")
			out, status, err := w.run(c)
			if out != "" || status != 0 || err != nil {
				t.Errorf("%s (status %d, %v)", out, status, err)
			}
			if reached := heard(); len(reached) > 0 {
				t.Errorf("reaches %q", reached)
			}
			for path, was := range before {
				if is := w.state()[path]; is != was {
					t.Errorf("changes %s: %s, was %s", path, is, was)
				}
			}
			if err := outside.Process.Signal(syscall.Signal(0)); err != nil {
				t.Errorf("a process outside: %v", err)
			}
		})
	}
}

// state is what no command may change: all files outside of the project, and those in it that are kept or hidden.
func (w *world) state() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, root := range []string{w.dir, "/etc/passwd", "/usr/bin/true", "/etc/ld.so.preload"} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if path == w.profile.Private {
				return fs.SkipDir
			}
			name, in := strings.CutPrefix(path, w.project+"/")
			fixed := name[0] == '.' || strings.HasPrefix(name, "keys") || strings.HasSuffix(name, ".envrc")
			if in && !fixed || err != nil || !entry.Type().IsRegular() {
				return nil
			}
			text, _ := os.ReadFile(path)
			info, _ := entry.Info()
			out[path] = fmt.Sprint(string(text[:min(len(text), 64)]), info.Size(), info.Mode(), info.ModTime())
			return nil
		})
	}
	for _, path := range []string{w.home + "/.bashrc", "/etc/ld.so.preload", "/usr/x", "/x", "/etc/x", "/opt/x"} {
		if _, ok := out[path]; !ok {
			_, err := os.Lstat(path)
			out[path] = fmt.Sprint(err)
		}
	}
	return out
}

// TestRaces has somebody exchange folders of the project for links while sandboxes are made: either the command does
// not run, or what is kept is kept and nothing outside is changed.
func TestRaces(t *testing.T) {
	w := newWorld(t)
	w.write("outside/.envrc", "outside")
	stop, done := make(chan struct{}), make(chan struct{})
	deep, away := w.project+"/sub/deep", w.project+"/sub/away"
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(deep, away)
			_ = os.Symlink(w.dir+"/outside", deep)
			_ = os.Remove(deep)
			_ = os.Rename(away, deep)
		}
	}()
	ran := 0
	for range 40 {
		_, _, err := w.run(w.command("sh", "-c", "echo attack >sub/deep/.envrc; cat sub/deep/x"))
		if err == nil {
			ran++
		}
	}
	close(stop)
	<-done
	t.Logf("%d of 40 ran", ran)
	if is := w.read("outside/.envrc"); is != "outside" {
		t.Errorf("outside: %q", is)
	}
	if is := w.read("home/src/shop/sub/deep/.envrc"); is != "export B=1\n" {
		t.Errorf("in the project: %q", is)
	}
}

// TestInputIsOnlyRead has commands open anew what they may only read, which is a way around the mounts.
func TestInputIsOnlyRead(t *testing.T) {
	inEach(t, "", func(t *testing.T, w *world) {
		in, err := os.Open(w.dir + "/outside/x")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		c := w.command("sh", "-c", "cat; { echo attack >/proc/self/fd/0; } 2>/dev/null")
		c.Stdin = in
		if out, _, err := w.run(c); out != canary || err != nil {
			t.Errorf("reads %q: %v", out, err)
		}
		if is := w.read("outside/x"); is != canary {
			t.Errorf("outside: %q", is)
		}
	})
}

// TestInputIsNotUsedUp has a shell's loop read on where it was, after a command that reads nothing.
func TestInputIsNotUsedUp(t *testing.T) {
	inEach(t, "", func(t *testing.T, w *world) {
		in, err := os.Open(w.dir + "/outside/x")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		for i, args := range [][]string{{"true"}, {"cat"}, {"true"}} {
			if _, err := in.Seek(int64(i), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			c := w.command(args...)
			c.Stdin = in
			if out, _, err := w.run(c); err != nil || args[0] == "cat" && out != canary[i:] {
				t.Errorf("%s reads %q: %v", args[0], out, err)
			}
			if left, err := io.ReadAll(in); string(left) != canary[i:] || err != nil {
				t.Errorf("%s leaves %q: %v", args[0], left, err)
			}
		}
	})
}
