package shell_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// traced are the system calls that strace shows: what runs a program, opens a file, reaches out, or changes something.
const traced = "?execve,?execveat,?open,?openat,?openat2,?creat,?connect,?sendto,?sendmsg,?bind,?listen," +
	"?unlink,?unlinkat,?rename,?renameat,?renameat2,?mkdir,?mkdirat,?rmdir,?link,?linkat," +
	"?symlink,?symlinkat,?mknod,?mknodat," +
	"?chmod,?fchmod,?fchmodat,?fchmodat2,?chown,?fchown,?lchown,?fchownat,?truncate,?ftruncate," +
	"?fallocate,?utime,?utimes,?utimensat,?futimesat," +
	"?setxattr,?lsetxattr,?fsetxattr,?removexattr,?lremovexattr,?fremovexattr," +
	"?kill,?tkill,?tgkill,?pidfd_send_signal,?ptrace," +
	"?mount,?umount2,?sethostname,?setdomainname,?settimeofday,?clock_settime,?adjtimex," +
	"?clock_adjtime,?shmget,?msgget,?semget,?mq_open"

var (
	callLine   = regexp.MustCompile(`^(\w+)\((.*?)(?:\) += (-?\d+|\?)(?:<(.*)>)?.*| <unfinished \.\.\.>)$`)
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	fdPath     = regexp.MustCompile(`(?:AT_FDCWD|\d+)<([^>]*)>`)
	writeFlags = regexp.MustCompile(`\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b`)
	// git looks at its index under a lock, and writes down what it learned on the way.
	indexLock = regexp.MustCompile(`(^|/)(\.git|bare\.git)/index(\.lock)?$`)
	otherProc = regexp.MustCompile(`^/proc/[^/]+/(task/\d+/)?(environ|mem|fd|cwd|root|exe|map_files)(/|$)`)
)

// event is one system call.
type event struct {
	process    string
	call, args string
	paths      []string // its arguments that are texts
	failed     bool
	opened     string // what a successful open gave, without links
}

// readTrace reads what strace wrote with -ff -y -x: one file for each process, each call on one line.
func readTrace(dir string) ([]event, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var out []event
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if e, ok := readEvent(strings.TrimSuffix(line, "\n")); ok {
				e.process = strings.TrimPrefix(filepath.Ext(file), ".")
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func readEvent(line string) (event, bool) {
	m := callLine.FindStringSubmatch(line)
	if m == nil {
		return event{}, false
	}
	e := event{call: m[1], args: m[2], failed: strings.HasPrefix(m[3], "-"), opened: unescape(m[4])}
	folder := ""
	if fd := fdPath.FindStringSubmatch(e.args); fd != nil {
		folder = unescape(fd[1])
	}
	for _, quoted := range quotedText.FindAllString(e.args, -1) {
		path := unescape(quoted[1 : len(quoted)-1])
		if !strings.HasPrefix(path, "/") && folder != "" {
			path = filepath.Join(folder, path)
		}
		e.paths = append(e.paths, path)
	}
	if len(e.paths) == 0 && folder != "" {
		e.paths = []string{folder}
	}
	return e, true
}

func unescape(s string) string {
	if text, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return text
	}
	return s
}

// helpers are the programs that a program consists of.
var helpers = map[string][]string{
	"egrep": {"grep"}, "fgrep": {"grep"}, "git": {"git"}, "zcat": {"gzip"}, "gunzip": {"gzip"},
	"bzcat": {"bzip2"}, "locale": {"gzip"}, "tar": {"gzip"}, "yq": {"jq"},
}

// judgement holds a trace to what was said of a command.
type judgement struct {
	job
	may      []string // names of programs
	reach    reach
	findings []string
}

func judge(j job, events []event, r reach) []string {
	d := judgement{job: j, reach: r, may: []string{filepath.Base(j.Shell[0])}}
	for _, name := range j.Programs {
		d.may = append(append(d.may, filepath.Base(name)), helpers[name]...)
	}
	if d.may[0] == "dash" { // to which time is a program
		d.may = append(d.may, "time")
	}
	shells := 0
	for _, e := range events {
		d.event(e)
		if e.call == "execve" && len(e.paths) > 0 && filepath.Base(e.paths[0]) == d.may[0] {
			shells++
		}
	}
	if shells > 1 && !slices.Contains(d.may[1:], d.may[0]) {
		d.find("runs another shell")
	}
	return d.findings
}

func (d *judgement) find(finding string) {
	if !slices.Contains(d.findings, finding) && len(d.findings) < 10 {
		d.findings = append(d.findings, finding)
	}
}

func (d *judgement) event(e event) {
	path := ""
	if len(e.paths) > 0 {
		path = e.paths[0]
	}
	switch e.call {
	case "execve", "execveat":
		if !slices.Contains(d.may, filepath.Base(path)) || strings.HasPrefix(path, worldRoot) && !e.failed {
			d.find("runs " + path)
		}
	case "open", "openat", "openat2", "creat":
		d.open(e, path)
	case "connect", "sendto", "sendmsg", "bind", "listen":
		// The C library asks a name service on this machine first. Netlink is the kernel.
		isKernel := strings.Contains(e.args, "AF_NETLINK") || strings.Contains(e.args, "SOCK_DIAG_BY_FAMILY") // of ss
		if !isKernel && !strings.Contains(e.args, `sun_path="/var/run/nscd/socket"`) {
			d.find("calls " + e.call + "(" + e.args + ")")
		}
	case "kill", "tkill", "tgkill":
		// Shells look with 0 whether a process is there, and zsh has its jobs go on; programs end themselves with a
		// signal, and Go's wake their threads with SIGURG.
		ordinary := strings.HasSuffix(e.args, ", 0") || strings.HasSuffix(e.args, ", SIGURG") ||
			d.may[0] == "zsh" && strings.HasSuffix(e.args, ", SIGCONT")
		if !ordinary && !strings.HasPrefix(e.args, e.process+", ") {
			d.find("calls " + e.call + "(" + e.args + ")")
		}
	default:
		if len(e.paths) == 0 || slices.ContainsFunc(e.paths, func(path string) bool { return !d.mayWrite(path) }) {
			d.find("calls " + e.call + "(" + e.args + ")")
		}
	}
}

// mayWrite allows temporary files, which must be gone at the end, and git's index.
func (d *judgement) mayWrite(path string) bool {
	return path == "/dev/null" || path == "/dev/tty" || strings.HasPrefix(path, "/tmp/") ||
		slices.Contains(d.may, "git") && indexLock.MatchString(path)
}

func (d *judgement) open(e event, path string) {
	flags := e.args[strings.LastIndexByte(e.args, '"')+1:]
	switch {
	case e.call == "creat" || writeFlags.MatchString(flags):
		// perl opens a folder in this way to have an error of the system's.
		if !d.mayWrite(path) && !(e.failed && isFolder(path) && !strings.Contains(flags, "O_TMPFILE")) {
			d.find("opens " + path + " for writing")
		}
	case e.failed || strings.Contains(flags, "O_DIRECTORY") || strings.Contains(flags, "O_PATH"):
	case !d.mayRead(e.opened):
		d.find("reads " + e.opened)
	}
}

// mayRead reports whether a file, without links, is one that the command was said to read, or none that matters.
func (d *judgement) mayRead(path string) bool {
	switch {
	case strings.HasPrefix(path, "/dev/"):
		return slices.Contains([]string{"/dev/null", "/dev/tty", "/dev/urandom"}, path)
	case otherProc.MatchString(path): // ps opens the environment of each process, and shows none: that would be seen
		return slices.Contains(d.may, "ps") && strings.HasSuffix(path, "/environ")
	case !strings.HasPrefix(path, worldRoot), d.ownFile(path), d.reach.covers(path):
		return true
	}
	return isFolder(path)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ownFile reports whether path is one that a program of the command reads for itself: settings and repositories.
func (d *judgement) ownFile(path string) bool {
	readers := []string{"git", "rg", "fd", "fdfind", "tree"}
	if !slices.ContainsFunc(d.may, func(name string) bool { return slices.Contains(readers, name) }) {
		return false
	}
	switch filepath.Base(path) {
	case ".gitignore", ".gitattributes", ".gitmodules", ".mailmap", ".gitconfig", ".ignore", ".rgignore", ".fdignore":
		return true
	}
	return strings.Contains(path, "/.git/") || strings.Contains(path, "/bare.git/")
}
