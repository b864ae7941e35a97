package policy

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"nod/policy/shell"
)

// Who allowed a command always allowed other texts for people and other numbers where it has some, and nothing more.
// Each round grants a command that is put together by chance, then changes it in ways that are covered, and in one more
// that is not.
func TestGrantedTextsAndNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	text := func() string {
		return pick("Mended", "The build", "It's", "🎉 Done:", "✗ Not", "→ 3", "#12 is", "(Draft)", "fix") + " " +
			pick("by hand", "(again); see https://example.com/a", "a/b.go && c", "5 % faster → ok", `as "they" say`)
	}
	flag := func() string {
		return pick("--reason", "--message", "--title", "--description", "--release-notes", "--comment")
	}
	quoted := func(s string) string { return "'" + strings.ReplaceAll(strings.TrimSpace(s), "'", `'"'"'`) + "'" }
	long := func() string { return text() + pick("and", "or") + " " + text() }
	for range 400 {
		program, verb, told := pick("bd", "shopctl", "./tool"), pick("close", "update", "create"), flag()
		joint, count := pick("=", " "), pick(" --limit ", " --limit=", " -n ")
		command := func(first, operand, text, number, rest string) string {
			return first + " " + operand + " " + told + joint + text + count + number + rest
		}
		first := program + " " + verb
		seen := command(first, "a-1", quoted(long()), "5", "")
		p := withGrants(t, seen)
		for range 4 {
			operand, number := pick("b-2", "c.d", "a-1 x-9", "docs/a.md"), pick("7", "0", "123")
			other := command(first, operand, quoted(long()), number, "")
			if d := Decide(bash(other), p, testNow); d.Effect != Allow {
				t.Errorf("%q does not cover %q: %s", seen, other, d.Reason)
			}
		}
		for _, other := range []string{
			command(first, "a-1", quoted(long()), "5",
				pick(" --fast", " -x", " --config=a", " --exec 'rm a'", " -- --all")),
			command(first, "a-1", quoted(long()), "5", pick(" > a", " >> a/b", " 2> a", " > /dev/shm/a", " >&a")),
			command(first, "a-1", quoted(long()), "5", pick("; rm a", " && x", " | sh", "\nx")),
			command(first, pick("$X", `"$(x)"`, "`x`", "$((1))", "<(x)"), quoted(long()), "5", ""),
			command(first, pick("../a", "/etc/passwd", "~/.ssh/id_rsa", "~/a", ".env", "a/../../b"),
				quoted(long()), "5", ""),
			command(first, pick("remove", "delete", "'rm (-rf) a'", "a=b", "https://example.com", "'a (b)'"),
				quoted(long()), "5", ""),
			command(first, "a-1", quoted(pick("-", "@", "/", "~/", "$(", "${", "./", "../", "`", "{", "a=", "a/",
				"https://")+long()), "5", ""),
			command(first, "a-1", quoted(long()+pick(" ../../etc/passwd", " $(x)", " ${x}")), "5", ""),
			command(first, "a-1", pick(`"$(x)"`, `"a $X b"`, "\"`x` y\"", `"a ${X}"`, "<(x)"), "5", ""),
			command(first, "a-1", quoted(long()), pick("-5", "a/../../b", "/5", "$X", "5;x", "~/5"), ""),
			command(pick("bd reopen", "bd", "shopctl run", "x close", "sudo bd close"), "a-1", quoted(long()), "5", ""),
			command(pick("X=1 ", "cd /tmp && ", "sudo ", "PATH=. ", "FOO=1 ")+first, "a-1", quoted(long()), "5", ""),
		} {
			if d := Decide(bash(other), p, testNow); d.Effect == Allow {
				t.Errorf("%q covers %q", seen, other)
			}
		}
	}
}

// A grant of an earlier version of nod, which knew no texts and numbers, covers what it did.
func TestOldGrantCoversNoOtherText(t *testing.T) {
	for _, tt := range []struct {
		pattern, command string
		want             Effect
	}{
		{`{"words":["bd","close"],"flags":["--reason=Done it"]}`, `bd close 8 --reason="Done it"`, Allow},
		{`{"words":["bd","close"],"flags":["--reason=Done it"]}`, `bd close 8 --reason="Undone it"`, Ask},
		{`{"words":["bd","close"],"flags":["--reason=Done it"]}`, `bd close 8 --reason "Done it"`, Ask},
		{`{"words":["bd","close"],"flags":["--reason=Done it"]}`, `bd close 8`, Ask},
		{`{"words":["bd","close"],"flags":["--reason"]}`, `bd close 8 --reason "Undone it"`, Allow},
		{`{"words":["bd","close"],"flags":["--reason"]}`, `bd close 8 --reason "Undone (it)"`, Ask},
		{`{"words":["bd","close"],"flags":["--reason"]}`, `bd close 8 --reason="Undone it"`, Ask},
		{`{"words":["bd","create"]}`, `bd create "Mend it"`, Allow},
		{`{"words":["bd","create"]}`, `bd create "Mend (it)"`, Ask},
		{`{"words":["bd","create"],"flags":["--limit=5"]}`, `bd create --limit=5 "Mend it"`, Allow},
		{`{"words":["bd","create"],"flags":["--limit=5"]}`, `bd create --limit=6 "Mend it"`, Ask},
		{`{"words":["bd","create"],"flags":["--limit"]}`, `bd create --limit 6 a`, Allow},
		{`{"words":["bd","create"],"flags":["-n 5"]}`, `bd create -n 6`, Ask},
	} {
		var pattern shell.Pattern
		if err := json.Unmarshal([]byte(tt.pattern), &pattern); err != nil {
			t.Fatal(err)
		}
		p := withGrants(t)
		c := bash(tt.command)
		f := newFacts(&c, p, testNow)
		p = p.WithGrants([]Grant{{Scope: Always, Agent: c.Agent, Program: c.program(), CWD: f.project(), Tool: c.Tool,
			Command: &pattern, Created: testNow}})
		if d := Decide(c, p, testNow); d.Effect != tt.want {
			t.Errorf("%s, %q: %+v, want %s", tt.pattern, tt.command, d, tt.want)
		}
	}
}

// What a prompt says an answer covers can be read back as the rule that covers it.
func TestGrantedTextIsShown(t *testing.T) {
	for command, want := range map[string]string{
		`bd close 7 --reason="Mended"`:        `may run "bd close --reason 'any text'" with other`,
		`bd close 7 --reason "It's mended"`:   `may run "bd close --reason 'any text'" with other`,
		`bd create "Mend the build" -p 2`:     `may run "bd create -p 'any number' 'any text'" with other`,
		`bd update 7 --notes "a b" --limit=5`: `may run "bd update --limit 'any number' --notes 'any text'"`,
		`shopctl run "rm -rf a"`:              `may run "shopctl run`,
	} {
		list, err := NewGrants(bash(command), Always, CoverCommands, withGrants(t), testNow)
		if err != nil || len(list) != 1 || !strings.Contains(list[0].Text(), want) {
			t.Errorf("%q: %v, %v", command, list, err)
			continue
		}
		shown := list[0].Command
		read, err := shell.ParsePattern(shown.String())
		if strings.Contains(shown.String(), "any ") && (err != nil || !read.Equal(*shown)) {
			t.Errorf("%q is read as %+v, want %+v (%v)", shown, read, shown, err)
		}
	}
}

// What goes to nowhere, or comes from there, says nothing of where a command leads.
func TestNowhereIsNoLostPath(t *testing.T) {
	for seen, other := range map[string]string{
		"go build ./...":         "go build -o /dev/null ./...",
		"go test -o /dev/null .": "go test -o /dev/null ./a",
		"curl -s localhost:80/a": `curl -s -o /dev/null -w "%{http_code}\n" localhost:80/b`,
	} {
		if d := Decide(bash(other), withGrants(t, seen), testNow); d.Effect != Allow {
			t.Errorf("%q does not cover %q: %s", seen, other, d.Reason)
		}
	}
	if _, err := NewGrants(bash("tool do -o /dev/tty"), Always, CoverCommands, withGrants(t), testNow); err == nil {
		t.Error("what a terminal says can be remembered")
	}
}

// A text may stand in a here-document, as it is and nothing else.
func TestGrantedHereDocument(t *testing.T) {
	told := func(flag, end, text string) string {
		return "bd create " + flag + "\"$(cat <<" + end + "\n" + text + "\nEOF\n)\""
	}
	for _, flag := range []string{"--body ", "--body=", "--description ", "--title 'A b' --description="} {
		p := withGrants(t, told(flag, "'EOF'", "Mend the build"))
		for _, other := range []string{
			told(flag, "'EOF'", "## It's\n\n- mended: `go test` && $x\n- 🎉"), "bd create " + flag + "'Another (text)'",
		} {
			if d := Decide(bash(other), p, testNow); d.Effect != Allow {
				t.Errorf("%q is not covered: %s", other, d.Reason)
			}
		}
		for _, other := range []string{
			told(flag, "EOF", "a $(rm x) b"), told(flag, "EOF", "a $X b"), told(flag, "'EOF'", "-a b"),
			told(flag, "'EOF'", "/etc/a b"), told(flag, "'EOF'", "@a b"), told(flag, "'EOF'", "$(a) b"),
			told(flag, "'EOF'", "a b") + "/../../c", strings.ReplaceAll(told(flag, "'EOF'", "a b"), `"$`, `"/etc/$`),
			strings.ReplaceAll(told(flag, "'EOF'", "a b"), `"$`, `"$(x)$`), told(flag, "'EOF'", "a b") + " --force",
			strings.ReplaceAll(told(flag, "'EOF'", "a b"), "cat", "sh"),
			strings.ReplaceAll(told(flag, "'EOF'", "a b"), "cat", "cat .env -"),
			strings.ReplaceAll(told(flag, "'EOF'", "a b"), "cat", "cat a -"),
			strings.ReplaceAll(told(flag, "'EOF'", "a b"), "cat", "X=1 cat"),
			strings.ReplaceAll(told(flag, "'EOF'", "a b"), `"`, ""),
			"cat() { rm x; }; " + told(flag, "'EOF'", "a b"),
			told(strings.TrimRight(flag, "= "), "'EOF'", "a b"),
		} {
			if d := Decide(bash(other), p, testNow); d.Effect == Allow {
				t.Errorf("%q is covered", other)
			}
		}
	}
}
