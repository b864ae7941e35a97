package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/basefile"
	"nod/policy/shell"
)

func call(command string) policy.Call { return toolCall("Bash", map[string]string{"command": command}) }

func toolCall(tool string, input map[string]string) policy.Call {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return policy.Call{
		Agent: "claude-code", Session: "s1", CWD: "/home/ann/shop", Tool: tool, Input: policy.ReadInput(text),
		Programs: []string{"/usr/bin/nod", "/usr/bin/claude"},
	}
}

func newTestJudge() *judge {
	return newJudge(policy.Places{Home: "/home/ann"}, slog.New(slog.DiscardHandler))
}

func rules(serial uint64, rules ...policy.Rule) remote.Policy {
	return remote.Policy{Serial: serial, Policy: policy.Policy{Rules: rules}}
}

func runs(id string, effect policy.Effect, commands ...string) policy.Rule {
	return policy.Rule{ID: id, Effect: effect, Run: commands}
}

// Of several desks the strictest counts; without any nothing passes, also not what everybody lets pass.
func TestStrictestCounts(t *testing.T) {
	lax := rules(1, runs("a", policy.Allow, "make all"))
	tests := map[string]struct {
		given []remote.Policy
		want  policy.Effect
	}{
		"nobody":             {nil, policy.Ask},
		"one":                {[]remote.Policy{lax}, policy.Allow},
		"another asks":       {[]remote.Policy{lax, rules(1)}, policy.Ask},
		"another denies":     {[]remote.Policy{lax, rules(1, runs("d", policy.Deny, "make all"))}, policy.Deny},
		"the first denies":   {[]remote.Policy{rules(1, runs("d", policy.Deny, "make all")), lax}, policy.Deny},
		"both allow":         {[]remote.Policy{lax, lax}, policy.Allow},
		"one cannot be read": {[]remote.Policy{lax, rules(1, policy.Rule{ID: "x", Effect: policy.Allow})}, policy.Ask},
		"one cannot be read, but denies": {[]remote.Policy{
			rules(1, policy.Rule{ID: "x", Effect: policy.Allow}, runs("d", policy.Deny, "make all"))}, policy.Deny},
	}
	for name, tt := range tests {
		j := newTestJudge()
		err := j.apply(list(tt.given...))
		if (err != nil) != strings.Contains(name, "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
		if d := j.Decide(call("make all")); d.Effect != tt.want || d.Reason == "" {
			t.Errorf("%s: %+v, want %s", name, d, tt.want)
		}
	}
	if d := newTestJudge().Decide(toolCall("Read", map[string]string{"file_path": "x"})); d.Effect != policy.Ask {
		t.Errorf("reading before there is a policy: %+v", d)
	}
}

func list(all ...remote.Policy) func() []remote.Policy { return func() []remote.Policy { return all } }

// Of the policies that two desks send at once none is lost.
func TestPoliciesThatComeAtOnce(t *testing.T) {
	j := newTestJudge()
	lax, strict := rules(1, runs("a", policy.Allow, "make all")), rules(1, runs("d", policy.Deny, "make all"))
	var second sync.WaitGroup
	comes := func() { must(t, j.apply(list(lax, strict))) }
	must(t, j.apply(func() []remote.Policy {
		if j.mu.TryLock() { // then the second need not wait
			j.mu.Unlock()
			comes()
		} else {
			second.Go(comes)
		}
		return []remote.Policy{lax}
	}))
	second.Wait()
	if d := j.Decide(call("make all")); d.Effect != policy.Deny {
		t.Errorf("%+v", d)
	}
}

// A rule's examples were tried at the desk, in folders that are not here.
func TestExamplesAreTheDesks(t *testing.T) {
	j := newTestJudge()
	r := policy.Rule{ID: "w", Effect: policy.Allow, Tool: "Write", Path: "~/shop/**", Examples: policy.Examples{
		Match: []string{`{"tool":"Write","input":{"file_path":"/Users/ann/shop/x"},"cwd":"/Users/ann/shop"}`}}}
	if err := j.apply(list(rules(1, r))); err != nil {
		t.Error(err)
	}
	if d := j.Decide(toolCall("Write", map[string]string{"file_path": "x", "content": ""})); d.Effect != policy.Allow {
		t.Errorf("%+v", d)
	}
}

// What a user allows for a while is in this relay's memory, for as long as they said and until they forget it.
func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newTestJudge()
		make := call("make all")
		if err := j.Grant(make, policy.ThisSession, policy.CoverInput); err == nil {
			t.Error("kept before there is a policy")
		}
		must(t, j.apply(list(rules(1), rules(2))))
		for _, scope := range []policy.Scope{policy.Always, policy.Everywhere} {
			if err := j.Grant(make, scope, policy.CoverCommands); !errors.Is(err, errAlways) {
				t.Errorf("%s: %v", scope, err)
			}
		}
		must(t, j.Grant(make, policy.QuarterHour, policy.CoverInput))
		d := j.Decide(make)
		if d.Effect != policy.Allow || !d.Grant || j.kept() != 1 {
			t.Fatalf("%+v, %d kept", d, j.kept())
		}
		j.Used(d)
		must(t, j.apply(list(rules(3), rules(2)))) // a new policy leaves it in force
		if d := j.Decide(make); d.Effect != policy.Allow {
			t.Errorf("%+v", d)
		}
		must(t, j.apply(list(rules(4, runs("d", policy.Deny, "make all")), rules(2))))
		if d := j.Decide(make); d.Effect != policy.Deny {
			t.Errorf("a grant beats a rule: %+v", d)
		}
		must(t, j.apply(list(rules(5), rules(2))))
		time.Sleep(15 * time.Minute)
		if d := j.Decide(make); d.Effect != policy.Ask || j.kept() != 0 {
			t.Errorf("after its time: %+v, %d kept", d, j.kept())
		}
		must(t, j.Grant(make, policy.UntilQuit, policy.CoverInput))
		j.forget()
		if d := j.Decide(make); d.Effect != policy.Ask || j.kept() != 0 {
			t.Errorf("after it was forgotten: %+v, %d kept", d, j.kept())
		}
	})
}

// What is offered is what would be kept, and nothing for always.
func TestOffers(t *testing.T) {
	j := newTestJudge()
	if o := j.offers(call("make all")); len(o.Grants) > 0 {
		t.Errorf("offered before there is a policy: %+v", o)
	}
	must(t, j.apply(list(rules(1), rules(1, runs("a", policy.Allow, "make all")))))
	o := j.offers(call("make all"))
	if o.Grant(policy.ThisSession, policy.CoverInput).Text == "" ||
		o.Grant(policy.ThisSession, policy.CoverCommands).Text != "" {
		t.Errorf("%+v", o)
	}
	for _, offer := range o.Grants {
		if offer.Scope.IsPermanent() {
			t.Errorf("offered: %+v", offer)
		}
		if err := j.Grant(call("make all"), offer.Scope, offer.Cover); err != nil {
			t.Errorf("%s, %s: %v", offer.Scope, offer.Cover, err)
		}
	}
}

// A desk learns of files what it needs to show a change, and no more than there is room for.
func TestReportOnFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("small", "old\n")
	write("large", strings.Repeat("x", maxFileText+1))
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		write(name, strings.Repeat("x", maxFileText))
	}
	j := newTestJudge()
	files := func(tool, input string) []interact.ReportedFile {
		t.Helper()
		r := interact.Request{
			Requester: interact.Requester{Agent: "claude-code", CWD: dir},
			Body:      interact.Approve{Tool: tool, Input: []byte(input)},
		}
		return j.reportOn(r, policy.Decision{Effect: policy.Ask}).Files
	}
	for name, tt := range map[string]struct {
		tool, input   string
		text, problem string
		exists        bool
	}{
		"a change":  {"Edit", `{"file_path":"small","old_string":"old","new_string":"new"}`, "old\n", "", true},
		"a new one": {"Write", `{"file_path":"new","content":""}`, "", "", false},
		"too large": {"Write", `{"file_path":"large","content":""}`, "", basefile.TooLarge, true},
		"a device":  {"Write", `{"file_path":"/dev/zero","content":""}`, "", "it is not a regular file", true},
	} {
		f := files(tt.tool, tt.input)
		if len(f) != 1 || f[0].Text != tt.text || f[0].Problem != tt.problem || f[0].Exists != tt.exists {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := files("Read", `{"file_path":"small"}`); len(f) != 1 || f[0].Text != "" {
		t.Errorf("what is only read: %+v", f)
	}
	sum := 0
	for _, f := range files("save", `{"files":["1","2","3","4","5"]}`) {
		sum += len(f.Text)
	}
	if sum != maxFileTexts {
		t.Errorf("%d bytes of text", sum)
	}
	if r := j.reportOn(interact.Request{Body: api.Ask{Question: "?"}}, policy.Decision{}); r != nil {
		t.Errorf("of a question: %+v", r)
	}
}

// However long a command is and however much it names, what desks are told of it beside stays short.
func TestReportIsBounded(t *testing.T) {
	var names, lines []string
	for i := range 2000 {
		names = append(names, fmt.Sprintf("a/folder/of/the/project/file-%d", i))
		lines = append(lines, fmt.Sprintf("rm -rf %s", names[i]))
	}
	j := newTestJudge()
	must(t, j.apply(list(rules(1))))
	for name, command := range map[string]string{
		"many files":  "rm " + strings.Join(names, " "),
		"many parts":  strings.Join(lines, "\n"),
		"short parts": strings.Repeat("a;", 4500),
		"a long name": "rm " + strings.Repeat("a", 900_000),
	} {
		r := interact.Request{Requester: interact.Requester{Agent: "claude-code", Session: "s", CWD: t.TempDir()}}
		r.Body = interact.Approve{Tool: "Bash", Input: call(command).Input.Raw}
		told := j.reportOn(r, policy.Decision{Effect: policy.Ask})
		size := interact.SizeOf(told)
		if size > 512<<10 || len(told.Risks) > maxRisks+1 || len(told.Offers.Parts) > maxParts {
			t.Errorf("%s: %d bytes, %d risks, %d parts", name, size, len(told.Risks), len(told.Offers.Parts))
		}
		if len(told.Risks) > 0 && told.Risks[0].Level < shell.Caution {
			t.Errorf("%s: %+v", name, told.Risks[0])
		}
	}
}
