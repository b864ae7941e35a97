package dialogs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
	"nod/policy/basefile"
)

// shown returns the text of lines with leads; notes and rules are in parentheses.
func shown(lines []prompt.Line) string {
	var b strings.Builder
	for _, l := range lines {
		switch l.Style {
		case prompt.LineNote, prompt.LineRule:
			b.WriteString("(" + l.Text() + ")\n")
		default:
			b.WriteString(l.Lead + l.Text() + "\n")
		}
	}
	return b.String()
}

// in is an agent that works in a folder.
func in(folder string) interact.Requester {
	return interact.Requester{Agent: "claude-code", IsAgent: true, CWD: folder}
}

// viewOf returns the view of a call by who.
func viewOf(a interact.Approve, who interact.Requester) *inputView {
	return newInputView(nil, prompt.ViewOf(interact.Request{Requester: who, Body: a}, policy.Decision{}))
}

func factTexts(facts []prompt.Fact) []string {
	var texts []string
	for _, f := range facts {
		texts = append(texts, f.Text)
	}
	return texts
}

func TestContent(t *testing.T) {
	test.NewTempApp(t)
	dir := project(t, "shop.go", "one\ntwo\nthree\n")
	if err := os.WriteFile(filepath.Join(dir, "dos.txt"), []byte("a\r\nb\r\nc\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, tool, input string
		shown             string
		facts             string // joined by ""
		warns             string // a part of a warning; "" for no warning at all
	}{
		{"command", "Bash", `{"command":"ls","description":"Command: rm -rf /"}`, "1 ls\n", "", ""},
		{"deletes outside", "Bash", `{"command":"mkdir -p a && rm -rf /srv/x"}`, "1 mkdir -p a && rm -rf /srv/x\n",
			"Deletes outside the project: /srv/x", ""},
		{"network", "Bash", `{"command":"curl https://x.y"}`, "1 curl https://x.y\n",
			"Reaches x.y", ""},
		{"drives the screen", "Bash", `{"command":"xdotool key a"}`, "1 xdotool key a\n",
			"Can control your screen", ""},
		{"cannot be foreseen", "Bash", `{"command":"$X y"}`, "1 $X y\n",
			"Runs a program known only when it runs", ""},
		{"command and more", "Bash", `{"command":"ls","timeout":5}`, "1 ls\n(with)\ntimeout  5\n", "",
			""},
		{"no sandbox", "Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`,
			"1 ls\n(with)\ndangerouslyDisableSandbox\n  true\n", "Outside the sandbox", ""},
		{"elsewhere", "shell", `{"command":["ls"],"workdir":"/usr"}`, "0 ls\n(with)\nworkdir  /usr\n",
			"Works outside the project; Reads outside the project: /usr; Arguments: 1, not read by a shell", ""},
		{"Windows lines", "Bash", `{"command":"ls\r\nid"}`, "1 ls‹CR›\n2 id\n",
			"nod can't read all of it", "carriage return"},
		{"hidden", "Bash", `{"command":"ls\u202e"}`, "1 ls‹U+202E›\n", "nod can't read all of it",
			"invisible characters"},
		{"look-alike", "Bash", `{"command":"pаypal"}`, "1 pаypal\n",
			"The program's name contains unusual characters: pаypal", "а looks like a"},

		{"edit", "Edit", `{"file_path":"shop.go","old_string":"two","new_string":"2"}`,
			"shop.go\n()\n1 1   one\n2   - two\n  2 + 2\n3 3   three\n", "Inside the project; +1 -1 lines", ""},
		{"edit, other names", "edit", `{"filePath":"shop.go","oldString":"two","newString":"2","replaceAll":false}`,
			"shop.go\n(with)\nreplaceAll  false\n()\n1 1   one\n2   - two\n  2 + 2\n3 3   three\n",
			"+1 -1 lines", ""},
		{"edits", "MultiEdit",
			`{"file_path":"shop.go","edits":[{"old_string":"one","new_string":"1"},{"old_string":"three\n","new_string":""}]}`,
			"shop.go\n()\n1   - one\n  1 + 1\n2 2   two\n3   - three\n", "Inside the project; +1 -2 lines", ""},
		{"edits with an unknown field", "MultiEdit",
			`{"file_path":"shop.go","edits":[{"old_string":"one","new_string":"1","x":1}]}`,
			"file_path  shop.go\nedits      [\n             {\n               \"old_string\": \"one\",\n" +
				"               \"new_string\": \"1\",\n               \"x\": 1\n             }\n           ]\n",
			"Inside the project", ""},
		{"edit of what is not there", "Edit", `{"file_path":"shop.go","old_string":"four","new_string":"4"}`,
			"shop.go\n()\n- four\n+ 4\n", "Inside the project; +1 -1 lines", "exactly once"},
		{"edit of what is there twice", "Edit", `{"file_path":"shop.go","old_string":"t","new_string":"T"}`,
			"shop.go\n()\n- t\n+ T\n", "Inside the project; +1 -1 lines", "exactly once"},
		{"edit of a Windows file", "Edit", `{"file_path":"dos.txt","old_string":"a\nb","new_string":"a\nB"}`,
			"dos.txt\n()\n1 1   a\n2   - b\n  2 + B\n3 3   c\n", "Inside the project; +1 -1 lines", "Windows line endings"},
		{"new file", "Write", `{"file_path":"new.txt","content":"a\n\nb\n"}`,
			"new.txt\n()\n1 a\n2 \n3 b\n", "Inside the project; Creates a new file; +3 -0 lines", ""},
		{"no line break", "Write", `{"file_path":"new.txt","content":"a"}`,
			"new.txt\n()\n1 a\n(no line break at the end)\n", "Inside the project; Creates a new file; +1 -0 lines", ""},
		{"overwrite", "Write", `{"file_path":"shop.go","content":"one\n"}`,
			"shop.go\n()\n1 1   one\n2   - two\n3   - three\n", "Replaces the file; Inside the project; +0 -2 lines", ""},
		{"overwrite with the same", "Write", `{"file_path":"shop.go","content":"one\ntwo\nthree\n"}`,
			"shop.go\n()\n(The file already has exactly this content:)\n1 one\n2 two\n3 three\n",
			"Inside the project; Changes nothing", ""},
		{"a folder", "Write", `{"file_path":".","content":"x\n"}`,
			".\n()\n1 x\n", "Replaces an existing file; Inside the project", "not a regular file"},
		{"protected", "Write", `{"file_path":".git/hooks/pre-commit","content":"x\n"}`, ".git/hooks/pre-commit\n()\n1 x\n",
			"Changes what git runs: .git/hooks/pre-commit; Creates a new file; +1 -0 lines", ""},
		{"outside", "Write", `{"file_path":"../x.txt","content":"x\n"}`, "../x.txt\n()\n1 x\n",
			"Writes a temporary file: TMP/x.txt; Creates a new file; +1 -0 lines", ""},
		{"somebody else's tool", "mcp__mail__send", `{"path":"x","content":"hello"}`, "path     x\ncontent  hello\n",
			"From the MCP server mail", ""},
		{"patch", "apply_patch", `{"input":"*** Begin Patch\n*** Delete File: shop.go\n*** End Patch"}`,
			"*** Delete File: shop.go\n()\n1 *** Begin Patch\n2 *** Delete File: shop.go\n3 *** End Patch\n",
			"Deletes a file; Deletes: shop.go; +0 -0 lines", ""},

		{"address", "WebFetch", `{"url":"https://example.com/a"}`, "example.com\n()\nhttps://example.com/a\n",
			"", ""},
		{"user name", "WebFetch", `{"url":"https://github.com@evil.example/"}`,
			"evil.example\n()\nhttps://github.com@evil.example/\n",
			"A user name precedes the host: github.com@", ""},
		{"backslash", "WebFetch", `{"url":"https://evil.example\\@good.example/"}`, "https://evil.example\\@good.example/\n",
			"Unclear which host: programs may read this address differently", ""},
		{"without slashes", "WebFetch", `{"url":"http:evil.example"}`, "http:evil.example\n",
			"Unclear which host: programs may read this address differently", ""},
		{"this computer", "WebFetch", `{"url":"http://127.0.0.1:9107/x"}`, "127.0.0.1:9107\n()\nhttp://127.0.0.1:9107/x\n",
			"Not encrypted; This computer", ""},

		{"this computer, mapped", "WebFetch", `{"url":"https://[::ffff:127.0.0.1]/x"}`,
			"[::ffff:127.0.0.1]\n()\nhttps://[::ffff:127.0.0.1]/x\n", "This computer", ""},
		{"this computer, as a number", "WebFetch", `{"url":"https://2130706433/x"}`, "https://2130706433/x\n",
			"Unclear which host: programs may read this address differently", ""},
		{"this computer, in short", "WebFetch", `{"url":"https://127.1/x"}`, "https://127.1/x\n",
			"Unclear which host: programs may read this address differently", ""},
		{"this computer, in hex", "WebFetch", `{"url":"https://127.0.0.0X1./x"}`, "https://127.0.0.0X1./x\n",
			"Unclear which host: programs may read this address differently", ""},
		{"foreign letters", "WebFetch", `{"url":"https://bücher.example:8443/x"}`,
			"xn--bcher-kva.example:8443\n()\nhttps://bücher.example:8443/x\n",
			"Host name with foreign letters: bücher.example", ""},
		{"foreign letters, encoded", "WebFetch", `{"url":"https://XN--bcher-kva.example/"}`,
			"xn--bcher-kva.example\n()\nhttps://XN--bcher-kva.example/\n",
			"Host name with foreign letters: bücher.example", ""},
		{"imitated letters", "WebFetch", `{"url":"https://аpple.com/"}`,
			"xn--pple-43d.com\n()\nhttps://аpple.com/\n",
			"Host name with foreign letters: аpple.com", "look-alike characters"},
		{"imitated letters, encoded", "WebFetch", `{"url":"https://xn--pple-43d.com/"}`,
			"xn--pple-43d.com\n()\nhttps://xn--pple-43d.com/\n",
			"Host name with foreign letters: аpple.com", ""},
		{"a dot that is none", "WebFetch", `{"url":"https://evil.example。github.com/"}`,
			"evil.example.github.com\n()\nhttps://evil.example‹U+3002›github.com/\n",
			"Host name with foreign letters: evil.example.github.com", ""},
		{"letters that no host has", "WebFetch", `{"url":"https://evil.example℀.github.com/"}`,
			"https://evil.example‹U+2100›.github.com/\n", "Unclear which host: programs may read this address differently", ""},
		{"encoded wrongly", "WebFetch", `{"url":"https://xn--a.example/"}`, "https://xn--a.example/\n",
			"Unclear which host: programs may read this address differently", ""},

		{"table", "Grep", `{"pattern":"a b","path":"/usr/lib","-n":true,"x":"","y":"true","z":{"a":1}}`,
			"pattern  a b\npath     /usr/lib\n-n       true\nx        \"\"\ny        \"true\"\n" +
				"z        {\n           \"a\": 1\n         }\n", "Reads outside the project: /usr/lib", ""},
		{"key that imitates", "X", `{"a\u202eb":1}`, "a‹U+202E›b\n  1\n", "", "invisible characters"},
		{"nothing", "X", `{}`, "(The input is empty.)\n", "", ""},

		{"a key twice", "Bash", `{"command":"ls","command":"rm"}`, "1 {\"command\":\"ls\",\"command\":\"rm\"}\n",
			"nod can't read all of it", "here it is, unchanged"},
		{"a key twice, deep", "X", `{"a":[{"b":1,"b":2}]}`, "1 {\"a\":[{\"b\":1,\"b\":2}]}\n",
			"nod can't read all of it", "here it is, unchanged"},
		{"half a character", "Bash", `{"command":"\ud800"}`, "1 {\"command\":\"\\ud800\"}\n",
			"nod can't read all of it", "here it is, unchanged"},
		{"a whole one", "Bash", `{"command":"\ud83d\ude00"}`, "1 😀\n",
			"The program's name contains unusual characters: 😀", ""},
		{"not UTF-8", "Bash", "{\"command\":\"\xff\"}", "1 {\"command\":\"‹0xFF›\"}\n",
			"nod can't read all of it", "here it is, unchanged"},
		{"no object", "X", `[1]`, "1 [1]\n", "nod can't read all of it", "here it is, unchanged"},
		{"no JSON", "X", `{"a":1} x`, "1 {\"a\":1} x\n", "nod can't read all of it", "here it is, unchanged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := viewOf(interact.Approve{Tool: tt.tool, Input: json.RawMessage(tt.input)}, in(dir))
			if got := shown(v.Content.Lines); got != tt.shown {
				t.Errorf("shown:\n%s\nwant:\n%s", got, tt.shown)
			}
			got := strings.ReplaceAll(strings.Join(factTexts(v.Facts), "; "), filepath.Dir(dir), "TMP")
			if got != tt.facts {
				t.Errorf("facts: %s\nwant:  %s", got, tt.facts)
			}
			warnings := strings.Join(v.Warnings, "\n")
			if (tt.warns == "") != (warnings == "") || !strings.Contains(warnings, tt.warns) {
				t.Errorf("warnings: %q, want one with %q", warnings, tt.warns)
			}
		})
	}
}

func TestDescriptionIsTheAgentsWord(t *testing.T) {
	test.NewTempApp(t)
	v := viewOf(call(t, "Bash", object{"command": "id", "description": "Command: ls\nAllow is safe"}), in("/"))
	if strings.Contains(shown(v.Content.Lines), "safe") {
		t.Error("the agent's words are in the primary block")
	}
	if v.AgentSays != "Command: ls\nAllow is safe" {
		t.Errorf("agentSays = %q", v.AgentSays)
	}
}

func TestStale(t *testing.T) {
	test.NewTempApp(t)
	for _, tt := range []struct {
		name   string
		input  object
		change func(dir string) error
		want   bool
	}{
		{"nothing happened", object{"file_path": "f", "content": "new"}, func(string) error { return nil }, false},
		{"written again with the same", object{"file_path": "f", "content": "new"}, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o600)
		}, false},
		{"other text", object{"file_path": "f", "old_string": "text", "new_string": "x"}, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "f"), []byte("tixt\n"), 0o600)
		}, true},
		{"gone", object{"file_path": "f", "content": "new"}, func(dir string) error {
			return os.Remove(filepath.Join(dir,
				"f"))
		}, true},
		{"come", object{"file_path": "g", "content": "new"}, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "g"), nil, 0o600)
		}, true},
		{"now a link elsewhere", object{"file_path": "g", "content": "new"}, func(dir string) error {
			return os.Symlink("/nowhere", filepath.Join(dir, "g"))
		}, true},
		{"a command", object{"command": "cat f"}, func(dir string) error { return os.Remove(filepath.Join(dir, "f")) },
			false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := project(t, "f", "text\n")
			v := viewOf(call(t, "Write", tt.input), in(dir))
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			if got := v.Stale(); got != tt.want {
				t.Errorf("stale() = %v, want %v", got, tt.want)
			}
		})
	}
}

// Edits that are too many for comparison with a large file can be allowed nevertheless.
func TestNotComparedIsNotStale(t *testing.T) {
	test.NewTempApp(t)
	dir := project(t, "f", strings.Repeat("x", basefile.MaxBytes))
	edits := make([]object, 64<<20/basefile.MaxBytes+1) // the limit of all searches together
	for i := range edits {
		edits[i] = object{"old_string": "a", "new_string": "b"}
	}
	v := viewOf(call(t, "MultiEdit", object{"file_path": "f", "edits": edits}), in(dir))
	if v.Stale() || !strings.Contains(strings.Join(v.Warnings, " "), "too large") {
		t.Errorf("stale: %v, warnings: %v", v.Stale(), v.Warnings)
	}
}

func TestLinkIsTold(t *testing.T) {
	test.NewTempApp(t)
	dir := project(t, "f", "text\n")
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	v := viewOf(call(t, "Write", object{"file_path": "link/x", "content": "new"}), in(dir))
	if !slices.Contains(factTexts(v.Facts), "A link leads out of the project: link/x") {
		t.Errorf("facts: %v", factTexts(v.Facts))
	}
	if !strings.Contains(strings.Join(v.Warnings, " "), "through a link") {
		t.Errorf("warnings: %v", v.Warnings)
	}
}

// FuzzInput: any input is shown, copying loses nothing, and nothing panics.
func FuzzInput(f *testing.F) {
	for _, s := range []string{
		`{"command":"ls"}`, `{"file_path":"x","content":"y"}`, `{"url":"http://a@b"}`, `{"a":{"b":[1,2]}}`, `{`,
		`{"file_path":"x","edits":[{"old_string":"","new_string":"z"}]}`, `{"input":"*** Begin Patch\n*** Add File: a\n+b"}`,
	} {
		f.Add("Edit", s)
	}
	test.NewApp().Settings().SetTheme(Theme("light"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, tool, input string) {
		v := viewOf(interact.Approve{Tool: tool, Input: json.RawMessage(input)}, in(dir))
		if len(v.Content.Lines) == 0 {
			t.Error("nothing is shown")
		}
		sheet := v.block
		sheet.Resize(fyne.NewSize(400, 200))
		if !sheet.read && sheet.unread == 0 && !sheet.capped {
			t.Error("every row has been in view, but the input has not")
		}
	})
}
