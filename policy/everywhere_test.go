//go:build unix

package policy

import "testing"

// In any folder holds only what says the same there, and neither deletes nor reaches others.
func TestEverywhereIsOffered(t *testing.T) {
	p := compiled(t, Default())
	for _, tt := range []struct {
		call  Call
		cover Cover
		want  bool
	}{
		{bash("npm test"), CoverCommands, true},
		{bash("npm test && make"), CoverCommands, true},
		{bash("git commit -m x"), CoverCommands, true},
		{bash("npm test"), CoverInput, false},
		{bash("npm test > out.txt"), CoverCommands, false}, // a file of this project
		{bash("cd sub && make"), CoverCommands, false},     // a folder of this project
		{bash("./run.sh"), CoverCommands, false},
		{bash("rm -rf build"), CoverCommands, false},
		{bash("rm -rf ~"), CoverCommands, false},
		{bash("sudo make"), CoverCommands, false},
		{bash("git push"), CoverCommands, false},
		{bash("git push --force"), CoverCommands, false},
		{bash("curl https://docs.rs"), CoverCommands, false},
		{bash("npm publish"), CoverCommands, false},
		{bash("npm install left-pad"), CoverCommands, false},
		{bash("npm test").with(func(c *Call) { c.Refused = true }), CoverCommands, false},
		{page("https://docs.rs/x"), CoverHost, true},
		{call("WebSearch", `{"query":"go"}`), CoverTool, true},
		{call(mcpTool, `{}`), CoverTool, false}, // another project may have another server of that name
		{call(NetworkTool, `{"url":"https://docs.rs"}`), CoverHost, false},
		{file("Write", "/home/u/src/shop/a.go"), CoverEdits, false},
		{file("Read", "/srv/x/y"), CoverReads, false},
	} {
		offers := NewOffers(tt.call, p, p, testNow)
		got := offers.Grant(Everywhere, tt.cover).Text != ""
		if got != tt.want {
			t.Errorf("%s %s, %s: offered: %v", tt.call.Tool, tt.call.Input, tt.cover, got)
		}
		if got && offers.Grant(Always, tt.cover).Text == "" {
			t.Errorf("%s: everywhere, but not here", tt.call.Input)
		}
		if _, err := NewGrants(tt.call, Everywhere, tt.cover, p, testNow); (err == nil) != tt.want && !tt.call.Refused {
			t.Errorf("%s, %s: %v", tt.call.Input, tt.cover, err)
		}
	}
}

// It passes the same command of the same agent in another folder, and nothing else.
func TestEverywhereHolds(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	elsewhere := func(c *Call) { c.CWD = "/home/u/src/bank" }
	for name, tt := range map[string]struct {
		call   Call
		change func(*Call)
		want   Effect
	}{
		"here":            {bash("npm test"), func(*Call) {}, Allow},
		"elsewhere":       {bash("npm test"), elsewhere, Allow},
		"a repository":    {bash("npm test unit"), func(c *Call) { c.CWD = project }, Allow},
		"another part":    {bash("npm test && npm run build"), elsewhere, Ask},
		"another command": {bash("npm run deploy"), elsewhere, Ask},
		"its output":      {bash("npm test > /tmp/x"), elsewhere, Ask},
		"out of it":       {bash("cd .. && npm test"), elsewhere, Ask},
		"what it fetched": {bash("cd node_modules/x && npm test"), elsewhere, Ask},
		"at home":         {bash("npm test"), func(c *Call) { c.CWD = "/home/u" }, Ask},
		"another agent":   {bash("npm test"), func(c *Call) { c.Agent = "codex" }, Ask},
		"another program": {bash("npm test"), func(c *Call) { c.Programs = []string{"/tmp/claude"} }, Ask},
		"a secret":        {bash("npm test .env"), elsewhere, Ask},
		"hidden":          {bash("npm test\u200b"), elsewhere, Ask},
	} {
		p := after(t, bash("npm test"), Everywhere, CoverCommands)
		if d := Decide(tt.call.with(tt.change), p, testNow); d.Effect != tt.want {
			t.Errorf("%s: %+v", name, d)
		}
	}
	p := after(t, page("https://docs.rs/serde"), Everywhere, CoverHost)
	if d := Decide(page("https://docs.rs/anyhow").with(elsewhere), p, testNow); d.Effect != Allow {
		t.Errorf("a page: %+v", d)
	}
	if d := Decide(page("https://crates.io").with(elsewhere), p, testNow); d.Effect == Allow {
		t.Errorf("another host: %+v", d)
	}
	rules := Default()
	rules.Rules = []Rule{{ID: "no", Effect: Deny, Command: "npm test"}}
	denies := compiled(t, rules).WithGrants(after(t, bash("npm test"), Everywhere, CoverCommands).grants)
	if d := Decide(bash("npm test"), denies, testNow); d.Effect != Deny {
		t.Errorf("over a rule that denies: %+v", d)
	}
	g := p.grants[0]
	if !g.Rests(g.Created.Add(restAfter + 1)) {
		t.Error("it does not rest")
	}
}
