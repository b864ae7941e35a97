package snapshot

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// names are few, and one is a folder of another, so that everything happens to everything.
var names = []string{
	"a", "b", "a/a", "a/b", "a/b/c", "b/a/c", "c/a", "c/\nb",
	"d", "d/ü/\xff", ".x", "c/.env", "k.o", "d/k.o",
}

// alter does something to a project at random.
func alter(t testing.TB, random *rand.Rand, project string) {
	t.Helper()
	for range 1 + random.IntN(6) {
		name := names[random.IntN(len(names))]
		text := strings.Repeat(fmt.Sprintln(random.IntN(4)), random.IntN(3))
		what := []string{text, text, text, "x:" + text, "->a", "->/etc/passwd", "!"}[random.IntN(7)]
		for above := filepath.Dir(name); above != "."; above = filepath.Dir(above) { // whatever is in the way goes
			if info, err := os.Lstat(filepath.Join(project, above)); err == nil && !info.IsDir() {
				files{above: "!"}.write(t, project)
			}
		}
		files{name: what}.write(t, project)
	}
}

// isCovered reports whether a snapshot would have a file.
func isCovered(name string) bool { return filepath.Base(name) != ".env" && filepath.Ext(name) != ".o" }

// model is what a project should be when what a run did is taken back, except for what is in conflict. What is not in
// a snapshot stays.
func model(before, after, now files, conflicts map[string]bool) files {
	want := files{}
	for _, from := range []files{now, before} {
		for name := range from {
			is, was, current := what(after, name), what(before, name), what(now, name)
			switch {
			case !isCovered(name), conflicts[name], is == was, current != is:
				if current != "!" {
					want[name] = current
				}
			case was != "!":
				want[name] = was
			}
		}
	}
	return want
}

func what(all files, name string) string {
	if text, ok := all[name]; ok {
		return text
	}
	return "!"
}

// TestRandom takes back what happened at random, after more has happened at random.
func TestRandom(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	r, project := open(t)
	files{".gitignore": "*.o\n"}.write(t, project)
	for seed := range rounds {
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		before, beforeID := read(t, project), take(t, r)
		alter(t, random, project)
		after, afterID := read(t, project), take(t, r)
		if random.IntN(2) == 0 {
			alter(t, random, project)
		}
		now := read(t, project)
		conflicts := map[string]bool{}
		for _, c := range takeBack(t, r, beforeID, afterID) {
			conflicts[c.Path] = true
			isChanged := what(now, c.Path) != what(after, c.Path)
			if !isChanged && c.Why == errChanged.Error() {
				t.Errorf("seed %d: %q has not changed since", seed, c.Path)
			}
		}
		equal(t, fmt.Sprint("seed ", seed), read(t, project), model(before, after, now, conflicts))
		if maps.Equal(now, after) {
			for name := range conflicts { // only what no snapshot has can be in the way
				if !slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(other string) bool {
					return !isCovered(other) && strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")
				}) {
					t.Errorf("seed %d: %q is a conflict: %q, %q", seed, name, before, after)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("before %q, after %q, now %q, conflicts %v", before, after, now, conflicts)
		}
	}
}

// applying is the environment variable that makes the test program take something back in its project.
const applying = "NOD_TEST_TAKE_BACK"

func TestMain(m *testing.M) {
	if os.Getenv(applying) != "" {
		applyForTest()
		return
	}
	os.Exit(m.Run())
}

func applyForTest() {
	before, rest, _ := strings.Cut(os.Getenv(applying), " ")
	after, project, _ := strings.Cut(rest, " ")
	r, err := Open(filepath.Join(filepath.Dir(project), "[snapshots"), project, isSecret)
	var p *Plan
	if err == nil {
		fmt.Println("go")
		p, err = r.Plan(context.Background(), Run{Number: 7, Before: ID(before), After: ID(after)})
	}
	if err == nil {
		_, err = p.Apply(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestKill kills take-backs at random moments: each file is as it was or as it should be, and doing it again does the
// rest and leaves nothing behind.
func TestKill(t *testing.T) {
	t.Parallel()
	r, project := open(t)
	old, changed := files{}, files{}
	for i := range 300 {
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		old[name] = strings.Repeat(fmt.Sprintln(i), 1000)
		switch i % 5 {
		case 0:
			changed[name] = "!"
		case 1:
			changed[name] = "->" + name
		case 2:
			changed["new/"+name] = "new"
		default:
			changed[name] = strings.Repeat("changed\n", 3000)
		}
	}
	old.write(t, project)
	was := read(t, project)
	before := take(t, r)
	changed.write(t, project)
	is := read(t, project)
	after := take(t, r)
	random, kills, whole, patience := rand.New(rand.NewPCG(2, 2)), 0, 0, 300*time.Millisecond
	for round := 0; round < 400 && (kills < 15 || whole < 2); round++ {
		if killed(t, project, before, after, time.Duration(random.Int64N(int64(patience)))) {
			kills++
			patience += patience / 4 // until it gets to its end, whatever the machine has to do besides
			now := read(t, project)
			for _, all := range []files{was, is, now} {
				for name := range all {
					text := what(now, name)
					isOwn := strings.HasPrefix(filepath.Base(name), ownPrefix)
					if !isOwn && text != what(was, name) && text != what(is, name) {
						t.Fatalf("%s is neither: %.80q", name, text)
					}
				}
			}
			if _, begun := r.Unfinished(); !begun || kills%3 > 0 {
				continue
			}
			if err := FinishAll(t.Context(), filepath.Dir(r.folder), isSecret); err != nil { // as nod's next start does
				t.Fatal(err)
			}
		} else {
			whole, patience = whole+1, patience/2
		}
		equal(t, "done", read(t, project), was)
		if _, unfinished := r.Unfinished(); unfinished {
			t.Error("it is done, and unfinished")
		}
		runs, err := r.Runs(t.Context())
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		if conflicts := takeBack(t, r, runs[0].Before, runs[0].After); conflicts != nil {
			t.Fatalf("conflicts: %v", conflicts)
		}
		equal(t, "taken back again", read(t, project), is)
		if err := os.Remove(r.runs()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("killed %d times, whole %d times", kills, whole)
	if kills == 0 || whole == 0 {
		t.Errorf("killed %d times, whole %d times", kills, whole)
	}
}

// killed has another process take back, and kills it at some moment. It reports whether it did.
func killed(t *testing.T, project string, before, after ID, at time.Duration) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", applying, before, after, project))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	wait := time.AfterFunc(at, func() { _ = cmd.Process.Kill() })
	defer wait.Stop()
	err = cmd.Wait()
	if err != nil && cmd.ProcessState.Exited() {
		t.Fatal(err)
	}
	return err != nil
}
