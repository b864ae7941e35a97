package policy

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"nod/policy/invisible"
	"nod/policy/shell"
)

var update = flag.Bool("update-risks", false, "write testdata/risks.tsv anew")

// A riskCase is a line of testdata/risks.tsv.
type riskCase struct {
	worst string
	call  string // a command, or the name of a tool and its input
	risks []string
}

func readRiskCases(t *testing.T) (cases []riskCase, head []string) {
	t.Helper()
	file, err := os.Open("testdata/risks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			head = append(head, line)
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			t.Fatalf("%q: want three cells", line)
		}
		cases = append(cases, riskCase{cells[0], cells[1], strings.Split(cells[2], "; ")})
	}
	return cases, head
}

// asAda has the test run in Ada's home folder.
func asAda(t *testing.T) {
	t.Helper()
	t.Cleanup(xdg.Reload)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", "/home/ada")
	xdg.Reload()
}

// riskCall is the call of a case, in Ada's project.
func riskCall(t *testing.T, text string) Call {
	t.Helper()
	call := Call{Agent: "claude-code", CWD: "/home/ada/shop"}
	tool, input, isTool := strings.Cut(text, " {")
	if isTool && !strings.Contains(tool, " ") && json.Valid([]byte("{"+input)) {
		call.Tool, call.Input = tool, ReadInput([]byte("{"+input))
		return call
	}
	spelled := strings.NewReplacer(`\n`, "\n", `\u200b`, "\u200b")
	raw, err := json.Marshal(map[string]string{"command": spelled.Replace(text)})
	if err != nil {
		t.Fatal(err)
	}
	call.Tool, call.Input = "Bash", ReadInput(raw)
	return call
}

// told are the risks as a case spells them. How many files are there depends on the machine.
func told(risks []Risk) (texts []string) {
	for _, r := range risks {
		if r.Text != "Deletes {{.What}} files" && !slices.Contains(texts, r.String()) {
			texts = append(texts, r.String())
		}
	}
	if len(texts) == 0 {
		return []string{"nothing"}
	}
	return texts
}

func worstOf(risks []Risk) shell.Level {
	level := shell.Note
	for _, r := range risks {
		level = max(level, r.Level)
	}
	return level
}

func TestRisks(t *testing.T) {
	asAda(t)
	cases, head := readRiskCases(t)
	if len(cases) < 120 {
		t.Errorf("only %d cases", len(cases))
	}
	text := strings.Join(head, "\n") + "\n"
	for _, c := range cases {
		got := Risks(riskCall(t, c.call))
		text += strings.Join([]string{worstOf(got).String(), c.call, strings.Join(told(got), "; ")}, "\t") + "\n"
		if *update {
			continue
		}
		if worstOf(got).String() != c.worst {
			t.Errorf("%s: %s, want %s", c.call, worstOf(got), c.worst)
		}
		if !slices.Equal(told(got), c.risks) {
			t.Errorf("%s:\n got  %q\n want %q", c.call, told(got), c.risks)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/risks.tsv", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOddCharactersHideNoRisk adds what nobody can see at every place of a command, and an emoji where it is a word of
// its own.
func TestOddCharactersHideNoRisk(t *testing.T) {
	asAda(t)
	cases, _ := readRiskCases(t)
	for _, c := range cases {
		call := riskCall(t, c.call)
		if c.worst == "note" || call.Tool != "Bash" || strings.ContainsFunc(c.call, invisible.Is) {
			continue
		}
		var input struct{ Command string }
		if err := json.Unmarshal(call.Input.Raw, &input); err != nil {
			t.Fatal(err)
		}
		for _, odd := range []string{
			"echo 😀; " + input.Command, input.Command + "\necho '😀'", input.Command + "\n# 😀",
		} {
			keepsRisks(t, call, odd)
		}
		for i := range input.Command {
			if i%5 == 0 || i < 4 || i > len(input.Command)-3 {
				keepsRisks(t, call, input.Command[:i]+"\u200b"+input.Command[i:])
			}
		}
	}
}

// keepsRisks holds a command to have the risks of a call, whatever else it has.
func keepsRisks(t *testing.T, call Call, command string) {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	want := Risks(call)
	call.Input = ReadInput(raw)
	got := Risks(call)
	for _, r := range want {
		is := func(o Risk) bool { return o.Text == r.Text && o.Level == r.Level }
		if r.Level > shell.Note && !slices.ContainsFunc(got, is) {
			t.Errorf("%q lacks %q", command, r)
		}
	}
	if worstOf(got) < worstOf(want) {
		t.Errorf("%q: %s, want at least %s", command, worstOf(got), worstOf(want))
	}
}

// TestRisksDecideNothing holds the decision on each case to be the same, whether or not its risks were looked for.
func TestRisksDecideNothing(t *testing.T) {
	for _, file := range []string{"shell/testdata/shell.tsv", "shell/testdata/shell-red.tsv", "shell/testdata/more.tsv"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if command == "" || command[0] == '#' {
				continue
			}
			before := shell.Analyze(command)
			shell.Assess(command)
			if after := shell.Analyze(command); before.ReadOnly != after.ReadOnly || before.Whole != after.Whole ||
				!slices.Equal(before.Reasons, after.Reasons) || len(before.Risks) > 0 || len(after.Risks) > 0 {
				t.Errorf("%q is read differently", command)
			}
		}
	}
}

// A name joins only words that stand together in the command.
func TestCommandNames(t *testing.T) {
	for command, want := range map[string]string{
		"git push":                                  "git push",
		"git push origin main":                      "git push origin main",
		"git push --force origin main":              "git push",
		"git -C lib push -u origin main":            "git push",
		"kubectl delete pods -n shop web":           "kubectl delete pods",
		"docker run --rm debian sh":                 "docker run",
		"npm run build -- --minify && ls | wc -l":   "npm run build, ls, wc",
		"FOO=1 make -j4 all; make all; rm -rf dist": "make all, rm",
		"kubectl --context eu delete ns shop":       "kubectl delete ns shop",
		"kubectl -n shop rollout restart deploy/x":  "kubectl rollout restart",
		"go -C lib test ./...":                      "go test",
		"systemctl --user restart nod":              "systemctl restart nod",
	} {
		call := Call{Tool: "Bash", Input: ReadInput(fmt.Appendf(nil, `{"command":%q}`, command))}
		if got := strings.Join(CommandNames(call), ", "); got != want {
			t.Errorf("%s is called %q, want %q", command, got, want)
		}
	}
}

// What find picks is not counted: the folder holds more.
func TestCountOfDeletedFiles(t *testing.T) {
	folder := t.TempDir()
	for i := range 12 {
		if err := os.WriteFile(fmt.Sprintf("%s/%d.go", folder, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]bool{
		"rm -rf .":                     true,
		"rm *.go":                      true,
		"find . -type f -delete":       true,
		"find . -name '*.pyc' -delete": false,
		"find . -mtime +9 -delete":     false,
		"find . -name '*~' | xargs rm": false,
	} {
		raw, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		risks := Risks(Call{Agent: "claude-code", Tool: "Bash", CWD: folder, Input: ReadInput(raw)})
		isCount := func(r Risk) bool { return r.String() == "Deletes 12 files" }
		if got := slices.ContainsFunc(risks, isCount); got != want {
			t.Errorf("%s: %v, want %v: %v", command, got, want, risks)
		}
	}
}
