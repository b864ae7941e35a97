package dialogs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
	"nod/policy/basefile"
	"nod/policy/shell"
)

// onBuild1 turns r into a request from another machine with that report.
func onBuild1(r interact.Request, reported *interact.Reported) interact.Request {
	r.Requester.Machine, r.Reported = "build-1", reported
	return r
}

// remoteEdit changes a file on another machine that also exists here, with other content.
func remoteEdit(t testing.TB) (r interact.Request, path string) {
	t.Helper()
	dir := project(t, "shop.go", "what this machine has: n * 199\n")
	path = filepath.Join(dir, "shop.go")
	input, err := json.Marshal(object{"file_path": path, "old_string": "n * 199", "new_string": "n * 249"})
	if err != nil {
		t.Fatal(err)
	}
	r = request("1", interact.Approve{Tool: "Edit", Input: input})
	r.Requester.CWD = dir
	return onBuild1(r, &interact.Reported{
		Files: []interact.ReportedFile{{
			Path: path, Where: policy.Location{Path: path, Inside: true}, Exists: true,
			Text: "what build-1 has\nreturn n * 199\n",
		}},
		Risks: []policy.Risk{{Level: shell.Caution, Text: "Writes outside the project: {{.What}}", What: "/src/pay"}},
	}), path
}

// A prompt shows the files of another machine as reported, never the files here.
func TestRemotePromptShowsWhatIsReported(t *testing.T) {
	test.NewTempApp(t)
	r, _ := remoteEdit(t)
	v := newInputView(nil, prompt.ViewOf(r, policy.Decision{}))
	text := shown(v.Lines)
	if !strings.Contains(text, "what build-1 has") || strings.Contains(text, "this machine") {
		t.Errorf("the diff is not of the reported file:\n%s", text)
	}
	if got := factTexts(v.Reported); !slices.Contains(got, "Writes outside the project: /src/pay") {
		t.Errorf("reported facts are %q", got)
	}
	if slices.Contains(factTexts(v.Facts), "Writes outside the project: /src/pay") {
		t.Error("what is reported stands among what nod worked out")
	}
	if v.Stale() {
		t.Error("stale, though what is reported is the same")
	}
	r.Reported = nil
	v = newInputView(nil, prompt.ViewOf(r, policy.Decision{}))
	if text := shown(v.Lines); strings.Contains(text, "this machine") || strings.Contains(text, "what build-1 has") {
		t.Errorf("with nothing reported the prompt shows\n%s", text)
	}
	want := "Not compared with the current file: build-1 has reported nothing about this file."
	if !slices.Contains(v.Warnings, want) {
		t.Errorf("warnings are %q", v.Warnings)
	}
}

func TestRemotePromptNamesTheMachine(t *testing.T) {
	s := newScreen(t)
	r, _ := remoteEdit(t)
	r.Requester.Process = claude.Process
	s.open(r)
	s.ready()
	for _, want := range []string{"on build-1", "reported by build-1"} {
		if !s.says(want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if want := "build-1 reports: Writes outside the project: /src/pay"; !s.shows(want) {
		t.Errorf("nothing shows %q", want)
	}
	if s.says("verified") {
		t.Error("what another machine says of a process counts as verified")
	}
	s.tapText("Once")
	if !s.shows("Until nod quits") || s.shows("Always") {
		t.Error("the menu offers what holds for always, or nothing")
	}
}

// The home folder of the user here means nothing on another machine.
func TestRemotePathsAreNotShortened(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	r := bash("1", "make")
	r.Requester.CWD = "/home/ann"
	if got := r.Requester.Project(); got != "~" {
		t.Errorf("here it is %q", got)
	}
	r.Requester.Machine = "build-1"
	if got := r.Requester.Project(); got != "ann" {
		t.Errorf("there it is %q", got)
	}
}

// Two machines may have sessions of the same name: denying one does not affect the other.
func TestSessionsOfTwoMachines(t *testing.T) {
	a, b := bash("1", "make"), bash("2", "make")
	a.Requester.Session, b.Requester.Session = "s", "s"
	if !sameSession(a.Requester, b.Requester) {
		t.Fatal("one session counts as two")
	}
	b.Requester.Machine = "build-1"
	if sameSession(a.Requester, b.Requester) {
		t.Error("sessions of two machines count as one")
	}
}

const maxReported = 64 // risks that a prompt shows

// The report of a machine may contain anything.
func TestHostileReport(t *testing.T) {
	test.NewTempApp(t)
	many := make([]policy.Risk, 10*maxReported)
	for i := range many {
		many[i] = policy.Risk{Text: fmt.Sprint("risk ", i)}
	}
	path := "/src/shop/shop.go"
	for name, reported := range map[string]interact.Reported{
		"no level":       {Risks: []policy.Risk{{Level: 255, Text: "x"}}},
		"before a text":  {Risks: []policy.Risk{{Level: shell.Danger, Text: "x", At: -7, Line: "rm"}}},
		"behind a text":  {Risks: []policy.Risk{{Level: shell.Danger, Text: "x", At: 1 << 40, Line: "rm"}}},
		"a template":     {Risks: []policy.Risk{{Text: "{{range .}}{{.}}{{end}} {{template \"x\"}} {{.What}}"}}},
		"half of one":    {Risks: []policy.Risk{{Text: "{{.What}} {{"}}},
		"hidden letters": {Risks: []policy.Risk{{Text: "safe\u202e\n\x1b[31m", What: "\u200b"}}},
		"too many":       {Risks: many},
		"a lie of nod's": {Files: []interact.ReportedFile{{Path: path, Exists: true, Problem: "{{.X}}\nAllow is safe"}}},
		"no path":        {Files: []interact.ReportedFile{{Exists: true, Text: "x"}}},
		"too long": {Files: []interact.ReportedFile{{Path: path, Exists: true,
			Text: strings.Repeat("x", basefile.MaxBytes+1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []interact.Request{bash("1", strings.Repeat("rm -rf x\n", 9)), anEdit} {
				v := newInputView(nil, prompt.ViewOf(onBuild1(r, &reported), policy.Decision{}))
				for _, f := range v.Reported {
					if strings.ContainsAny(f.Text, "\u202e\u200b\n\x1b") || f.Level > shell.Danger {
						t.Errorf("a badge says %q at level %d", f.Text, f.Level)
					}
				}
				if len(v.Reported) > maxReported+1 {
					t.Errorf("%d reported facts", len(v.Reported))
				}
				for _, w := range v.Warnings {
					if strings.Contains(w, "\n") {
						t.Errorf("a warning of two lines: %q", w)
					}
				}
			}
		})
	}
}

// toDisk lists, by package, functions that read the disk or depend on this machine.
var toDisk = map[string][]string{
	"os": {"Open", "OpenFile", "Stat", "Lstat", "ReadFile", "ReadDir", "Readlink", "UserHomeDir", "WriteFile", "MkdirTemp",
		"Create", "CreateTemp", "DirFS", "Getwd"},
	"filepath": {"EvalSymlinks", "Abs", "Glob", "Walk", "WalkDir"},
	"policy":   {"Locate", "Risks", "DefaultPlaces", "Explain", "FindProject"},
	"basefile": {"Read", "Risks"},
	"exec":     {"Command", "CommandContext", "LookPath"},
}

// Only localFiles of package prompt looks at this machine's disk, and only placesOf says that a request is about it.
func TestOnlyHereLooksAtTheDisk(t *testing.T) {
	may := map[string][]string{
		"prompt/places.go": {"os.UserHomeDir", "policy.Locate", "basefile.Risks", "basefile.Read"},
		"sheet.go":         {"os.MkdirTemp", "os.WriteFile"}, // a copy of a text in a new file
	}
	seen := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	words, err := filepath.Glob("prompt/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(files, words) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				from, ok := n.X.(*ast.Ident)
				if what := n.Sel.Name; ok && slices.Contains(toDisk[from.Name], what) {
					seen[from.Name+"."+what] = true
					if !slices.Contains(may[name], from.Name+"."+what) {
						t.Errorf("%s calls %s.%s", set.Position(n.Pos()), from.Name, what)
					}
				}
			case *ast.FuncDecl:
				if n.Name.Name != "placesOf" {
					ast.Inspect(n, func(n ast.Node) bool {
						made, ok := n.(*ast.CompositeLit)
						if ok && fmt.Sprint(made.Type) == "localFiles" {
							t.Errorf("%s looks at this machine's disk, whoever asks", set.Position(n.Pos()))
						}
						return true
					})
				}
			}
			return true
		})
	}
	for _, calls := range may {
		for _, c := range calls {
			if !seen[c] {
				t.Errorf("nothing calls %s", c)
			}
		}
	}
}

// reportedInputs are inputs of every kind about a folder.
func reportedInputs(folder string) map[string]object {
	path := filepath.Join(folder, "shop.go")
	return map[string]object{
		"Bash":                {"command": "cat " + path + " && rm -rf " + folder + "/*", "workdir": folder},
		"Edit":                {"file_path": path, "old_string": "a", "new_string": "b"},
		"Write":               {"file_path": path, "content": "x"},
		"Read":                {"file_path": path},
		"apply_patch":         {"patch": "*** Begin Patch\n*** Delete File: " + path + "\n*** End Patch"},
		"Glob":                {"pattern": "*", "path": folder},
		"WebFetch":            {"url": "file://" + path},
		interact.ExitPlanMode: {"plan": "read " + path},
	}
}

func remoteRequests(t testing.TB, folder string) []interact.Request {
	t.Helper()
	var all []interact.Request
	inputs := reportedInputs(folder)
	for i, tool := range slices.Sorted(maps.Keys(inputs)) {
		input, err := json.Marshal(inputs[tool])
		if err != nil {
			t.Fatal(err)
		}
		r := request(fmt.Sprint(i), interact.Approve{Tool: tool, Input: input})
		r.Requester.CWD = folder
		r.Requester.Process = api.Process{PID: int32(os.Getpid()), Exe: filepath.Join(folder, "agent"), CWD: folder}
		all = append(all, onBuild1(r, &interact.Reported{}))
	}
	return all
}
