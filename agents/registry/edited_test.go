package registry

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"nod/agents/claude"
)

const (
	mine = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}, "model": "x"}`
	ours = "/opt/nod/bin/nod hook claude-code"

	entry = "{\n        \"hooks\": [" // the beginning of one that nod makes
)

// What a user has changed since nod came is there when nod has gone, and nothing of nod's is.
func TestUninstallAfterAnEdit(t *testing.T) {
	for name, test := range map[string]struct {
		before   string
		old, new string // the edit of what was installed, at its first place
		want     string // as JSON; empty: what was there before
		comments []string
	}{
		"a comment before nod's entry": {
			before: mine, old: entry, new: "// why\n" + entry, comments: []string{"// why"}},
		"comments in nod's entry": {
			before: "{}", old: "[\n          {", new: "[ // first\n          {/* in */",
			comments: []string{"// first", "/* in */"}},
		"a comment after a command": {
			before: "{}", old: ours + `",`, new: ours + `", // mine`, comments: []string{"// mine"}},
		"comments at an event": {
			before: "{}", old: `"PreToolUse": [`, new: "/* mine */ \"PreToolUse\": [ // too",
			comments: []string{"/* mine */", "// too"}},
		"a comment in what nod made": {
			old: `"hooks": {`, new: "\"hooks\": { // a\n", want: "{}", comments: []string{"// a"}},
		"a comment at the end": {
			before: mine, old: `"model": "x"`, new: `"model": "x" // z` + "\n", comments: []string{"// z"}},
		"a key of the file": {
			before: mine, old: `"model"`, new: `"new": [1.0, 12345678901234567890], "model"`,
			want: strings.Replace(mine, `"model"`, `"new": [1.0, 12345678901234567890], "model"`, 1)},
		"a matcher": {
			before: "{}", old: entry, new: `{"matcher": "Bash", ` + entry[1:],
			want: `{"hooks": {"PermissionRequest": [{"matcher": "Bash", "hooks": []}]}}`},
		"a handler after nod's": {
			before: "{}", old: "          }\n        ]", new: "          }, {\"command\": \"mine\"}\n        ]",
			want: `{"hooks": {"PermissionRequest": [{"hooks": [{"command": "mine"}]}]}}`},
		"a handler before nod's": {
			before: "{}", old: "          {\n", new: "          {\"command\": \"mine\"} , {\n",
			want: `{"hooks": {"PermissionRequest": [{"hooks": [{"command": "mine"}]}]}}`},
		"another time-out":   {before: mine, old: `"timeout": 600`, new: `"timeout": 6`},
		"a key in a handler": {before: mine, old: `"timeout": 600`, new: `"statusMessage": "nod", "timeout": 600`},
		"another event":      {before: mine, old: `"PreToolUse": [`, new: `"PreCompact": [`},
		"another nod":        {before: mine, old: ours, new: "/old/nod hook claude-code"},
		"an event of its own": {
			before: `{"hooks": {"Stop": []}}`, old: `"Stop": [`, new: `"Other": [], "Stop": [`,
			want: `{"hooks": {"Stop": [], "Other": []}}`},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t)
			path := claude.Agent.Settings(m).Path
			if test.before != "" {
				write(t, path, test.before)
			}
			install(t, claude.Agent, m, false)
			installed := text(t, path)
			edited := strings.Replace(installed, test.old, test.new, 1)
			if edited == installed {
				t.Fatalf("%q is not in:\n%s", test.old, installed)
			}
			write(t, path, edited)
			uninstall(t, claude.Agent, m)
			got := text(t, path)
			want := test.want
			if want == "" {
				want = test.before
			}
			if !sameJSON(got, want) || strings.Contains(got, "claude-code") {
				t.Errorf("left:\n%s\nwant:\n%s", got, want)
			}
			for _, c := range test.comments {
				if !strings.Contains(got, c) {
					t.Errorf("%s is gone from:\n%s", c, got)
				}
			}
		})
	}
}

func sameJSON(a, b string) bool {
	value := func(s string) (v any) {
		plain, err := hujson.Standardize([]byte(s))
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(plain))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return err
		}
		return v
	}
	return reflect.DeepEqual(value(a), value(b))
}

// To install again renews what is nod's where it stands, and leaves what somebody has put around it.
func TestInstallAgainKeepsEdits(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	install(t, claude.Agent, m, false)
	edited := strings.Replace(text(t, path), `"timeout": 600`, `"timeout": 60, // short`+"\n"+`"statusMessage": "nod"`, 1)
	edited = strings.Replace(edited, entry, `{"matcher": "Bash", `+entry[1:], 1)
	write(t, path, edited)
	const short = "its settings cut nod's hook off after 60 s: "
	if s, err := claude.Agent.Status(m); err != nil || s.CutOff == nil || !strings.HasPrefix(s.CutOff.Error(), short) {
		t.Errorf("cut off: %v, %v", s.CutOff, err)
	}
	install(t, claude.Agent, m, false)
	got := text(t, path)
	for _, want := range []string{"// short", `"statusMessage": "nod"`, `"matcher": "Bash"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is gone from:\n%s", want, got)
		}
	}
	if s, err := claude.Agent.Status(m); err != nil || !s.Installed || s.CutOff != nil || strings.Contains(got, `60,`) {
		t.Errorf("status %+v, %v:\n%s", s, err, got)
	}
	if changes, err := claude.Agent.Install(m, false); err != nil || len(changes) != 0 {
		t.Errorf("once more: %d changes, %v", len(changes), err)
	}
}

// FuzzHooks installs into any text and uninstalls, which gives the same bytes back; and once more with a comment that
// somebody added meanwhile, which gives the same value back, and the comment.
func FuzzHooks(f *testing.F) {
	for _, s := range settings {
		f.Add([]byte(s), uint(3), true)
	}
	f.Add([]byte(mine), uint(40), false)
	f.Fuzz(func(t *testing.T, before []byte, place uint, line bool) {
		m := machine(t)
		path := claude.Agent.Settings(m).Path
		write(t, path, string(before))
		if s, err := claude.Agent.Status(m); err == nil && (s.Installed || s.Partly) {
			return // nod came earlier
		}
		changes, err := claude.Agent.Install(m, false)
		if err != nil {
			return
		}
		apply(t, changes, nil)
		after := text(t, path)
		if s, err := claude.Agent.Status(m); err != nil || !s.Installed {
			t.Fatalf("installed, but not there: %v\n%s", err, after)
		}
		if again, err := claude.Agent.Install(m, false); err != nil || len(again) != 0 {
			t.Fatalf("twice is not once: %v\n%s", err, after)
		}
		if json.Valid(before) && !json.Valid([]byte(after)) {
			t.Fatalf("JSON became\n%s", after)
		}
		uninstall(t, claude.Agent, m)
		if got := text(t, path); got != string(before) {
			t.Fatalf("before:\n%q\nleft:\n%q", before, got)
		}
		install(t, claude.Agent, m, false)
		write(t, path, commented(t, after, place, line))
		uninstall(t, claude.Agent, m)
		checkLeft(t, string(before), text(t, path))
	})
}

// checkLeft makes sure that what is left is what there was, with a comment more.
func checkLeft(t *testing.T, before, left string) {
	t.Helper()
	was, got := strings.TrimPrefix(before, mark), strings.TrimPrefix(left, mark)
	if strings.TrimSpace(was) == "" {
		was = "{}"
	}
	if !sameJSON(got, was) || !strings.Contains(got, "mine") {
		t.Fatalf("before:\n%q\nleft:\n%q", before, left)
	}
	plain := strings.Replace(strings.Replace(got, "//mine\n", "", 1), "/*mine*/", "", 1)
	if json.Valid([]byte(was)) && !json.Valid([]byte(plain)) {
		t.Fatalf("JSON became\n%s", left)
	}
}

const mark = "\ufeff" // a byte order mark

// commented is a settings file with a comment more, at one of the places where there may be any.
func commented(t *testing.T, text string, place uint, line bool) string {
	t.Helper()
	plain, marked := strings.CutPrefix(text, mark)
	v, err := hujson.Parse([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	var places []*hujson.Extra
	for x := range v.All() {
		places = append(places, &x.BeforeExtra)
		switch c := x.Value.(type) {
		case *hujson.Object:
			places = append(places, &c.AfterExtra)
		case *hujson.Array:
			places = append(places, &c.AfterExtra)
		}
	}
	comment := "/*mine*/"
	if line {
		comment = "//mine\n"
	}
	p := places[place%uint(len(places))]
	*p = slices.Concat([]byte(comment), *p)
	if marked {
		return mark + v.String()
	}
	return v.String()
}
