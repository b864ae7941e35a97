package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/api"
)

func TestReadProcess(t *testing.T) {
	p, err := readProcess(int32(os.Getpid()), time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exe, _ := os.Executable()
	cwd, _ := os.Getwd()
	if p.PID != int32(os.Getpid()) || p.Exe != exe || p.CWD != cwd {
		t.Errorf("%+v, want process %d, %s in %s", p, os.Getpid(), exe, cwd)
	}
	if age := time.Since(p.Started); age < 0 || age > 24*time.Hour {
		t.Errorf("started at %v", p.Started)
	}
	if len(p.Parents) == 0 || p.Parents[0].PID != int32(os.Getppid()) {
		t.Errorf("parents %+v, want %d first", p.Parents, os.Getppid())
	}
	for _, parent := range p.Parents {
		if parent.Exe != "" && parent.Name != filepath.Base(parent.Exe) {
			t.Errorf("%+v is not called after its executable", parent)
		}
	}
	again, err := readProcess(int32(os.Getpid()), time.Now(), nil)
	if err != nil || !again.Started.Equal(p.Started) || !slices.Equal(again.Parents, p.Parents) {
		t.Errorf("a second look sees %+v, %v; want %+v", again, err, p)
	}
}

// A process that started after the connection was accepted did not make it: it has got the id of the one
// that did.
func TestRecycledProcess(t *testing.T) {
	if _, err := readProcess(int32(os.Getpid()), time.Now().Add(-24*time.Hour), nil); err != errRecycled {
		t.Errorf("%v, want %v", err, errRecycled)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if p, err := readProcess(int32(gone.Process.Pid), time.Now(), nil); err == nil {
		t.Errorf("a process that has ended: %+v", p)
	}
	from := Unknown()
	from.accepted = time.Now().Add(-24 * time.Hour)
	from.credentials = func() (credentials, error) { return credentials{pid: int32(os.Getpid()), uid: 7}, nil }
	if p := from.Process(); p.PID != 0 || p.Exe != "" {
		t.Errorf("facts about a process that is gone: %+v", p)
	}
	if uid, known := from.User(); uid != 7 || !known {
		t.Errorf("user %d, %v", uid, known)
	}
}

// A program that was replaced on disk is not the one that has its name now.
func TestDeletedProgram(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "sleep")
	if err := os.WriteFile(program, text, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	p, err := readProcess(int32(c.Process.Pid), time.Now(), nil)
	if err != nil || p.Exe != program+" (deleted)" {
		t.Errorf("executable %q, %v, want it marked as deleted", p.Exe, err)
	}
}

func TestParseStat(t *testing.T) {
	tail := " S 42 1 7 34816 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200 18446744073709551615 0"
	for line, want := range map[string]stat{
		"7 (bash)" + strings.Replace(tail, "S", "Z", 1): {comm: "bash", isZombie: true},
		"7 (bash)" + tail:                                {comm: "bash"},
		"7 (a b)" + tail:                                 {comm: "a b"},
		"7 (evil) S 1 1 1 (x)" + tail:                    {comm: "evil) S 1 1 1 (x"},
		"7 ()" + tail:                                    {comm: ""},
		"7 (new\nline)" + tail + "\n":                    {comm: "new\nline"},
		"7 (tabs)" + strings.ReplaceAll(tail, " ", "\t"): {comm: "tabs"},
	} {
		want.parent, want.session, want.terminal, want.started = 42, 7, 34816, 987654
		if got, err := parseStat([]byte(line)); err != nil || got != want {
			t.Errorf("parseStat(%q) = %+v, %v; want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{
		"", "7", "7 (bash", "7 bash)" + tail, ")(", "7 (bash) S 42 1", "7 (bash) S x" + tail[5:], strings.Replace(
			"7 (b)"+tail, "987654", "-1", 1,
		),
		"7 (b)" + strings.Replace(tail, " 42 ", " 99999999999 ", 1),
		"7 (b)" + strings.Replace(tail, " 7 ", " x ", 1), "7 (b)" + strings.Replace(tail, " 34816 ", " x ", 1),
	} {
		if got, err := parseStat([]byte(line)); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", line, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (bash) S 42 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000"))
	f.Add([]byte("7 (a) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21"))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := parseStat(line)
		if err == nil && !strings.Contains(string(line), "("+s.comm+")") {
			t.Errorf("%q has no process called %q", line, s.comm)
		}
	})
}

func BenchmarkReadProcess(b *testing.B) {
	for b.Loop() {
		if _, err := readProcess(int32(os.Getpid()), time.Now(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A program that mounts what it likes can give itself any path. It is not taken for what lies there.
func TestRuns(t *testing.T) {
	self := api.Parent{PID: int32(os.Getpid()), Exe: readLink(int32(os.Getpid()), "exe")}
	if !Runs(self) {
		t.Errorf("%+v does not run what it runs", self)
	}
	if gone := (api.Parent{PID: 1 << 30, Exe: self.Exe}); Runs(gone) {
		t.Error("a process that is not there runs something")
	}
	dir := t.TempDir()
	fake := filepath.Join(dir, "claude")
	if err := os.WriteFile(fake, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount --bind "$0" "$1" && exec "$1" 60`, sleep, fake)
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	p := api.Parent{PID: int32(cmd.Process.Pid)}
	for p.Exe != fake {
		if st, err := readStat(p.PID); err != nil || st.isZombie {
			t.Skip("no namespaces here")
		}
		runtime.Gosched()
		p.Exe = readLink(p.PID, "exe")
	}
	if Runs(p) {
		t.Errorf("a program that was mounted at %s runs it", fake)
	}
}
