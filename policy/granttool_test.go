package policy

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call is a call of a tool of Claude Code's.
func call(tool, input string) Call { return bash("").with(named(tool)).with(holding(input)) }

func named(tool string) func(*Call) { return func(c *Call) { c.Tool = tool } }

func page(address string) Call {
	input, err := json.Marshal(map[string]string{"url": address, "prompt": "what is new?"})
	if err != nil {
		panic(err)
	}
	return call("WebFetch", string(input))
}

// after returns the default policy, in which a user has allowed what cover says of a call.
func after(t testing.TB, c Call, scope Scope, cover Cover) *Compiled {
	t.Helper()
	p := compiled(t, Default())
	list, err := NewGrants(c, scope, cover, p, testNow)
	if err != nil {
		t.Fatalf("%s of %s %s: %v", cover, c.Tool, c.Input, err)
	}
	return p.WithGrants(list)
}

const mcpTool = "mcp__github__create_issue"

func TestToolGrant(t *testing.T) {
	base := call(mcpTool, `{"title":"a"}`)
	p := after(t, base, ThisSession, CoverTool)
	for name, change := range map[string]func(*Call){
		"the same":        func(*Call) {},
		"another input":   holding(`{"title":"b","labels":["x"],"n":1}`),
		"no input":        holding(`{}`),
		"a file":          holding(`{"path":"/srv/x"}`),
		"a list of words": holding(`{"args":["a","b"],"script":"build"}`),
	} {
		if d := Decide(base.with(change), p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%s: %+v, want the grant", name, d)
		}
	}
	for name, change := range map[string]func(*Call){
		"another tool":       named("mcp__github__create_issue2"),
		"another server":     named("mcp__gitlab__create_issue"),
		"the other spelling": named("mcp_github_create_issue"),
		"another case":       named("mcp__GitHub__create_issue"),
		"agent":              func(c *Call) { c.Agent = "codex" },
		"program":            func(c *Call) { c.Programs = []string{"/tmp/claude"} },
		"session":            func(c *Call) { c.Session = "s2" },
		"project":            func(c *Call) { c.CWD = "/home/u/src/bank" },
		"a command":          holding(`{"command":"ls"}`),
		"a hidden character": holding(`{"title":"a\u200b"}`),
		"a field twice":      holding(`{"title":"a","title":"b"}`),
		"a long input":       holding(`{"title":"` + strings.Repeat("x", maxInput) + `"}`),
		"nod's own file":     holding(`{"path":"/home/u/.config/nod/config.yaml"}`),
		"a guarded file":     holding(`{"path":"/home/u/src/shop/.git/hooks/pre-push"}`),
		"a secret":           holding(`{"path":"/home/u/.ssh/id_rsa"}`),
		"a lost path":        holding(`{"path":"~other/x"}`),
	} {
		if d := Decide(base.with(change), p, testNow); d.Effect == Allow {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestToolsThatAreOfferedAsAWhole(t *testing.T) {
	tests := []struct {
		call          Call
		most          Scope // the widest that is offered; empty: none is
		whyNot, other string
	}{
		{call: call(mcpTool, `{}`), most: Always},
		{call: call("mcp_github_create_issue", `{}`), most: Always},
		{call: call("MCP:create_issue", `{}`), most: Always},
		{call: call("mcp__github__delete_repo", `{}`), most: UntilQuit},
		{call: call("mcp__x__dropTable", `{}`), most: UntilQuit},
		{call: call("mcp__ide__executeCode", `{}`), most: UntilQuit},
		{call: call("mcp__x__undeleted", `{}`), most: Always},
		{call: call(mcpTool, `{}`).with(func(c *Call) { c.Declared = Destructive }), most: UntilQuit},
		{call: call("mcp__computer__click", `{}`)},
		{call: call("mcp__x__mouse_move", `{}`)},
		{call: call("mcp__x__y", `{"command":"make"}`)},
		{call: call("mcp__x__y", `{"path":"/home/u/.ssh/id_rsa"}`)},
		{call: call("WebSearch", `{"query":"go"}`), most: Everywhere},
		{call: call("WebSearch", `{"query":"go","proxy":"x"}`)},
		{call: call("WebFetch", `{"url":"https://docs.rs"}`)},
		{call: call("SendMessage", `{"to":"x"}`)},
		{call: call("Search", `{"query":"x"}`)},
		{call: bash("make")},
		{call: file("Write", "/home/u/src/shop/a")},
		{call: call("Frobnicate", `{}`)},
	}
	for _, tt := range tests {
		offers, most := NewOffers(tt.call, compiled(t, Default()), compiled(t, Default()), testNow), Scope("")
		for _, scope := range Scopes {
			if offers.Grant(scope, CoverTool).Text != "" {
				most = scope
			}
		}
		if most != tt.most {
			t.Errorf("%s %s: up to %q, want %q", tt.call.Tool, tt.call.Input, most, tt.most)
		}
	}
}

// What was allowed for always does not hold for a call that its caller declares to be destructive.
func TestToolGrantForAlwaysDestroysNothing(t *testing.T) {
	c := call(mcpTool, `{}`)
	destroys := func(c *Call) { c.Declared = Destructive }
	if d := Decide(c.with(destroys), after(t, c, Always, CoverTool), testNow); d.Effect == Allow {
		t.Errorf("always: %+v", d)
	}
	if d := Decide(c.with(destroys), after(t, c, ThisSession, CoverTool), testNow); d.Effect != Allow {
		t.Errorf("this session: %+v", d)
	}
}

func TestHostGrant(t *testing.T) {
	p := after(t, page("https://docs.rs/serde"), ThisSession, CoverHost)
	for _, address := range []string{
		"https://docs.rs", "https://docs.rs/", "https://docs.rs/x?y=z#w", "https://DOCS.rs/x", "HTTPS://docs.rs/x",
		"https://docs.rs:443/x", "https://docs.rs./x", "https://docs.rs/@me/x", "https://docs.rs/a%20b",
	} {
		if d := Decide(page(address), p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%q: %+v, want the grant", address, d)
		}
	}
	for _, address := range []string{
		"http://docs.rs/", "https://docs.rs:8443/", "https://docs.rs:80/", "https://docs.rs:/", "docs.rs/x", "//docs.rs/x",
		"https://x.docs.rs/", "https://docs.rs.evil.com/", "https://evil.com/docs.rs", "https://evil.com/?https://docs.rs",
		"https://docs.rs@evil.com/", "https://evil.com@docs.rs/", "https://u:p@docs.rs/", "https://docs.rs:443@evil.com/",
		"https://docs.rs\\@evil.com/", "https://docs.rs\\.evil.com/", "https://docs.rs#@evil.com/", "https://docs.rs?@x/",
		"https://docs%2ers/", "https://docs.rs%00.evil.com/", "https:docs.rs", "https:/docs.rs/", "https:///docs.rs/",
		"https://d\u043ecs.rs/", "https://docs\u3002rs/", "https://docs.rs/ https://evil.com/", " https://docs.rs/",
		"https://docs.rs\t/", "https://docs.rs\n.evil.com/", "https://docs.rs../", "https://.docs.rs/",
		"https://doc\u017f.rs/", "ftp://docs.rs/", "file://docs.rs/", "javascript:https://docs.rs/", "",
	} {
		if d := Decide(page(address), p, testNow); d.Effect == Allow {
			t.Errorf("%q: %+v", address, d)
		}
	}
	base := page("https://docs.rs/serde")
	for name, change := range map[string]func(*Call){
		"another tool":            named("Fetch"),
		"another tool that knows": named("WebSearch"),
		"agent":                   func(c *Call) { c.Agent = "kimi" },
		"program":                 func(c *Call) { c.Programs = nil },
		"session":                 func(c *Call) { c.Session = "" },
		"project":                 func(c *Call) { c.CWD = "/srv" },
		"a field nod knows not":   holding(`{"url":"https://docs.rs/","prompt":"x","proxy":"x"}`),
		"a list of addresses":     holding(`{"url":["https://docs.rs/","https://evil.com/"]}`),
		"two addresses":           holding(`{"url":"https://docs.rs/","prompt":"and https://evil.com/"}`),
		"two fields":              holding(`{"url":"https://docs.rs/","href":"https://evil.com/"}`),
		"no address":              holding(`{"prompt":"https://docs.rs/"}`),
		"a number":                holding(`{"url":7}`),
		"what destroys":           func(c *Call) { c.Declared = Destructive },
	} {
		if d := Decide(base.with(change), p, testNow); d.Effect == Allow {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// What was allowed to commands in the sandbox is for them alone, and for the agent and the project that were asked for.
func TestNetworkGrant(t *testing.T) {
	base := call(NetworkTool, `{"url":"https://docs.rs"}`).with(func(c *Call) { c.Agent = "an agent nod knows not" })
	offers := NewOffers(base, compiled(t, Default()), compiled(t, Default()), testNow)
	want := `"an agent nod knows not" (/usr/bin/claude) may reach docs.rs from the sandbox in ~/src/shop, until you ` +
		`revoke it`
	if got := offers.Grant(Always, CoverHost).Text; got != want {
		t.Errorf("offered %q, want %q", got, want)
	}
	p := after(t, base, Always, CoverHost)
	if d := Decide(base, p, testNow); d.Effect != Allow || !d.Grant {
		t.Errorf("%+v, want the grant", d)
	}
	for name, change := range map[string]func(*Call){
		"another port": holding(`{"url":"https://docs.rs:22"}`), "another host": holding(`{"url":"https://evil.com"}`),
		"a field more": holding(`{"url":"https://docs.rs","command":"make"}`), "another case": named("Network"),
		"another agent": func(c *Call) { c.Agent = "kimi" }, "project": func(c *Call) { c.CWD = "/srv" },
		"a page": named("WebFetch"), "of a server": named("mcp__x__network"),
	} {
		if d := Decide(base.with(change), p, testNow); d.Effect == Allow {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := Decide(base, after(t, page("https://docs.rs/x"), Always, CoverHost), testNow); d.Effect == Allow {
		t.Errorf("after a page: %+v", d)
	}
}

// Hosts are offered where they are public names, and for tools that do nothing but fetch.
func TestHostsThatAreOffered(t *testing.T) {
	crush := func(tool, input string) Call {
		return call(tool, input).with(func(c *Call) { c.Agent = "crush" })
	}
	tests := map[string]Call{
		"docs.rs":           page("https://docs.rs/serde"),
		"xn--bcher-kva.com": page("https://xn--bcher-kva.com/"),
		"a.xn--p1ai":        page("https://a.xn--p1ai/"),
		"go.dev":            crush("fetch", `{"url":"https://go.dev","format":"text"}`),
	}
	for host, c := range tests {
		list, err := NewGrants(c, Always, CoverHost, compiled(t, Default()), testNow)
		if err != nil || len(list) != 1 || list[0].Host != host || list[0].Tool != c.Tool {
			t.Errorf("%s: %+v, %v", host, list, err)
		}
	}
	for _, c := range []Call{
		page("https://127.0.0.1/"), page("https://[::1]/"), page("https://localhost/"), page("https://a.localhost/"),
		page("https://printer.local/"), page("https://2130706433/"), page("https://0x7f.1/"), page("https://1.2.3.0x4/"),
		page("https://intranet/"), page("https://metadata.google.internal/"), page("http://docs.rs/"),
		page("https://b\u00fccher.com/"), bash("curl https://docs.rs"), call("mcp__x__fetch", `{"url":"https://docs.rs"}`),
		crush("download", `{"url":"https://go.dev/x","file_path":"/home/u/src/shop/x"}`),
		crush("agentic_fetch", `{"url":"https://go.dev","prompt":"look around"}`),
		crush("nofetch", `{"url":"https://go.dev"}`),
	} {
		if list, err := NewGrants(c, ThisSession, CoverHost, compiled(t, Default()), testNow); err == nil {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, list)
		}
	}
}

// A host that a grant may be about is the one that Go's parser finds, whatever else is in the address.
func FuzzPageHost(f *testing.F) {
	for _, s := range []string{
		"https://docs.rs/x", "HTTPS://Docs.RS:443", "https://docs.rs./", "https://a@b.c/",
		"https://1.2.3.4/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host := pageHost(address)
		if host == "" {
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" && u.Port() != "443" ||
			strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") != host {
			t.Errorf("%q is taken for a page of %q: %+v, %v", address, host, u, err)
		}
		if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.Contains(host, ".") {
			t.Errorf("%q: host %q", address, host)
		}
	})
}

// Reading outside the trusted folders can be allowed by folder, and keeps secrets closed.
func TestReadsGrant(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"src/p/.git", "src/lib/sub", "src/lib/.ssh", "src/other"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home, filepath.Join(home, "src/lib/out")); err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(home, "src")
	project := filepath.Join(src, "p")
	in := func(c Call) Call { c.CWD, c.Session = project, "s"; return c }
	read := func(path string) Call { return in(file("Read", path)) }
	grep := func(path string) Call { return in(call("Grep", `{"pattern":"x","path":"`+path+`"}`)) }
	p, err := Compile(Policy{AutoAllow: []Class{ReadOnly}, TrustedRoots: []string{project}},
		Places{Home: home, Own: []string{filepath.Join(src, "lib/nod")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Call{
		read(project + "/a"), read(home + "/a"), read("/etc/hosts"), read(src + "/lib/out/a"), read(src + "/lib/.ssh/id_rsa"),
		read(src + "/nod"), in(bash("cat " + src + "/lib/a")), in(file("Write", src+"/lib/a")), grep(home), grep("/"),
	} {
		if list, err := NewGrants(c, ThisSession, CoverReads, p, testNow); err == nil && c.Input.String() != "" {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, list)
		}
	}
	if _, err := NewGrants(read(src+"/lib/a.go"), Always, CoverReads, p, testNow); err == nil {
		t.Error("reading is kept for always")
	}
	list, err := NewGrants(read(src+"/lib/sub/a.go"), ThisSession, CoverReads, p, testNow)
	if err != nil || len(list) != 1 || list[0].Reads != src+"/lib/sub" {
		t.Fatalf("%+v, %v", list, err)
	}
	list, err = NewGrants(grep(src+"/other"), ThisSession, CoverReads, p, testNow)
	if err != nil || len(list) != 1 || list[0].Reads != src+"/other" {
		t.Fatalf("%+v, %v", list, err)
	}
	list[0].Reads = src + "/lib"
	p = p.WithGrants(list)
	for _, c := range []Call{
		read(src + "/lib/a.go"), read(src + "/lib/sub/b"), read(src + "/lib"), grep(src + "/lib/sub"),
	} {
		if d := Decide(c, p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%s %s: %+v, want the grant", c.Tool, c.Input, d)
		}
	}
	other := read(src + "/lib/a.go")
	other.Session = "t"
	for _, c := range []Call{
		other, read(src + "/libx"), read(src + "/other/a"), read(src + "/lib/../other/a"), read(src + "/lib/out/a"),
		read(src + "/lib/.ssh/id_rsa"), read(src + "/lib/.env"), read(src + "/lib/nod/config.yaml"), grep(src + "/lib"),
		in(file("Write", src+"/lib/a")), in(bash("make -C " + src + "/lib")),
		in(call("Read", `{"file_path":"`+src+`/lib/a","also":"`+src+`/other/a"}`)),
	} {
		if d := Decide(c, p, testNow); d.Effect == Allow {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, d)
		}
	}
}

// isServers reports whether a grant is for the server that a tool is of.
func isServers(g Grant, tool string) bool {
	return g.Tool == "mcp__github__*" && tool == mcpTool
}

// Who allowed the tools of a server allowed its other tools, and no other server's; none that may harm.
func TestServerGrant(t *testing.T) {
	for scope, first := range map[Scope]Call{
		Always: call(mcpTool, `{"title":"a"}`), UntilQuit: call("mcp__github__get_me", `{}`),
		ThisSession: call(mcpTool, `{"a":1}`),
	} {
		p := after(t, first, scope, CoverServer)
		for tool, want := range map[string]Effect{
			mcpTool: Allow, "mcp__github__list_issues": Allow, "mcp__github__browser_snapshot": Allow,
			"mcp__github__delete_repo": Ask, "mcp__github__run_workflow": Ask, "mcp__github__evaluate_script": Ask,
			"mcp__github__flushall": Ask, "mcp__github__write_cypher": Ask, "mcp__github__aws_cli": Ask,
			"mcp__github__apply_sql": Ask, "mcp__github__DBDelete": Ask, "mcp__github__SQLQuery": Ask,
			"mcp__github__d\u0435lete": Ask, "mcp__github__\uff24elete": Ask, "mcp__github__list\n": Ask,
			"mcp__github__start_process": Ask, "mcp__github__deploy": Ask, "mcp__github__applyMigration": Ask,
			"mcp__github__python": Ask, "mcp__github__DBList": Allow,
			"mcp__github__desktop_click": Ask, "mcp__github2__list_issues": Ask, "mcp__git__hub__list": Ask,
			"mcp__github__x__list": Ask, "mcp__github___list": Ask, "mcp__github__": Ask, "mcp__github": Ask,
			"mcp__github_evil__list": Ask, "mcp_github_list_issues": Ask, "github__list_issues": Ask, "MCP:github": Ask,
			"mcp__github__*": Ask, "mcp__Github__list": Ask, "WebFetch": Ask, "Bash": Ask,
		} {
			c := first
			c.Tool = tool
			if d := Decide(c, p, testNow); d.Effect != want {
				t.Errorf("%s, %s: %s (%s), want %s", scope, tool, d.Effect, d.Reason, want)
			}
		}
		for name, change := range map[string]func(*Call){
			"another agent": func(c *Call) { c.Agent = "codex" }, "another folder": func(c *Call) { c.CWD = "/srv" },
			"said to destroy": func(c *Call) { c.Declared = Destructive },
			"said to run":     func(c *Call) { c.Declared = Execute },
			"secrets":         holding(`{"path":"/home/u/.ssh/id_rsa"}`),
		} {
			if d := Decide(first.with(change), p, testNow); d.Effect != Ask {
				t.Errorf("%s, %s: %+v, want ask", scope, name, d)
			}
		}
	}
	for tool, want := range map[string]bool{
		mcpTool: true, "mcp__github__delete_repo": false, "mcp__github__*": false, "mcp__a__b__c": false,
		"mcp__a_____b": false, "mcp_a_b": false, "WebSearch": false, "mcp__a__execute": false, "mcp____x": false,
		"mcp__*__b": false, "mcp__a b__c": false, "mcp__\u0430__b": false, "mcp__a.b-c__d": true,
	} {
		offers := NewOffers(call(tool, `{}`), compiled(t, Default()), compiled(t, Default()), testNow)
		for _, scope := range Scopes[1:] {
			if got := offers.Grant(scope, CoverServer).Text != ""; got != (want && scope != Everywhere) {
				t.Errorf("%s, %s: offered %v, want %v", tool, scope, got, want)
			}
		}
	}
}

// However a grant came about, it lets nothing pass that is denied or always asked about, and nothing of another agent,
// program, session, project or tool.
func TestGrantsNeverWinOverThePolicy(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 3))
	tools := []string{mcpTool, "mcp__github__delete_repo", "WebFetch", "WebSearch", "Read", "Write", "Bash"}
	inputs := []string{
		`{"url":"https://docs.rs/a","prompt":"x"}`, `{"url":"https://docs.rs@evil.com/","prompt":"x"}`, `{"query":"go"}`,
		`{"file_path":"/home/u/src/shop/a.go"}`, `{"file_path":"/home/u/.ssh/id_rsa"}`, `{"command":"make"}`,
		`{"file_path":"/home/u/.config/nod/config.yaml","content":"x"}`, `{"title":"a\u202eb"}`, `{"a":1,"a":2}`, `{}`,
	}
	changes := []func(*Call){
		func(c *Call) { c.Tool = pick(r, tools...) },
		func(c *Call) { c.Input = ReadInput([]byte(pick(r, inputs...))) },
		func(c *Call) { c.Agent = pick(r, "claude-code", "kimi") },
		func(c *Call) { c.CWD = pick(r, "/home/u/src/shop", "/srv") },
		func(c *Call) { c.Session = pick(r, "s1", "s2", "") },
		func(c *Call) { c.Declared = pick(r, "", Destructive) },
	}
	allowed := 0
	for range 20_000 {
		plain := compiled(t, Policy{AutoAllow: []Class{}})
		first := call(pick(r, tools...), pick(r, inputs...))
		second := first.with(pick(r, changes...)).with(pick(r, changes...))
		cover, scope := pick(r, Covers...), pick(r, ThisSession, UntilQuit, Always)
		list, err := NewGrants(first, scope, cover, plain, testNow)
		if err != nil {
			continue
		}
		granted := plain.WithGrants(list)
		d := Decide(second, granted, testNow)
		if d.Effect != Allow {
			continue
		}
		allowed++
		f := newFacts(&second, plain, testNow)
		if must := f.mustAsk(); must.Effect == Ask {
			t.Fatalf("%+v lets %s %s pass, which must be asked about: %s", list, second.Tool, second.Input, must.Reason)
		}
		if leak := f.mayLeak(); leak.Effect == Ask {
			t.Fatalf("%+v lets %s %s pass, which may leak: %s", list, second.Tool, second.Input, leak.Reason)
		}
		g := list[0]
		if g.Agent != second.Agent || g.Session != "" && g.Session != second.Session ||
			g.Edits == "" && g.CWD != second.CWD ||
			g.Tool != "" && g.Tool != second.Tool && !isServers(g, second.Tool) || g.Host != "" && f.fetches() != g.Host {
			t.Fatalf("%s lets %+v pass", g.Text(), second)
		}
		denies := compiled(t, Policy{Rules: []Rule{{ID: "no", Effect: Deny, Tool: second.Tool}}}).WithGrants(list)
		asks := compiled(t, Policy{Rules: []Rule{{ID: "no", Effect: Ask, Tool: second.Tool}}}).WithGrants(list)
		if d, a := Decide(second, denies, testNow), Decide(second, asks, testNow); d.Effect != Deny || a.Effect != Ask {
			t.Fatalf("%s wins over a rule: %+v, %+v", g.Text(), d, a)
		}
	}
	if allowed < 300 {
		t.Fatalf("only %d calls were allowed: this says nothing", allowed)
	}
}
