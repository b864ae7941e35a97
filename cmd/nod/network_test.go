package main

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/e2e/ipctest"
	"nod/interact"
	"nod/policy"
	"nod/sandbox/boundary"
)

// target is what a command wants to reach; an address is near.
func target(host string, port uint16, addr string) boundary.Target {
	t := boundary.Target{Host: host, Port: port}
	if addr != "" {
		t.Addr = netip.MustParseAddr(addr)
	}
	return t
}

func TestHostRequest(t *testing.T) {
	for _, test := range []struct {
		target      boundary.Target
		input, says string
		keeps       bool // a grant for the host
	}{
		{target("registry.npmjs.org", 443, ""), `{"url":"https://registry.npmjs.org"}`, "npm ci", true},
		{target("registry.npmjs.org", 80, ""), `{"url":"https://registry.npmjs.org"}`, "npm ci", true},
		{target("github.com", 22, ""), `{"url":"https://github.com:22"}`, "npm ci", false},
		{target("93.184.215.14", 443, ""), `{"url":"https://93.184.215.14"}`, "npm ci", false},
		{target("2606:4700::1", 443, ""), `{"url":"https://[2606:4700::1]"}`, "npm ci", false},
		{target("127.0.0.1", 5432, "127.0.0.1"), `{"url":"https://127.0.0.1:5432"}`, "npm ci", false},
		{target("db.example", 443, "10.0.0.7"), `{"url":"https://10.0.0.7"}`, "npm ci\n(db.example)", false},
		{target("db.example", 5432, "fd00::1"), `{"url":"https://[fd00::1]:5432"}`, "npm ci\n(db.example)", false},
	} {
		who := api.Common{Agent: "claude-code", Session: "s", CWD: "/srv/shop"}
		r := hostRequest(who, "npm ci", test.target)
		if string(r.Input) != test.input || r.Description != test.says {
			t.Errorf("%v: %s, %q", test.target, r.Input, r.Description)
		}
		call := policy.Call{
			Agent: r.Agent, Session: r.Session, CWD: r.CWD, Tool: r.Tool, Input: policy.ReadInput(r.Input),
			Declared: policy.Class(r.Class),
		}
		rules, err := policy.Compile(policy.Default(), policy.Places{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		if d := policy.Decide(call, rules, time.Now()); d.Effect != policy.Ask || d.Class != policy.Network {
			t.Errorf("%v: %+v", test.target, d)
		}
		for cover, offered := range map[policy.Cover]bool{policy.CoverHost: test.keeps, policy.CoverInput: true} {
			for _, scope := range []policy.Scope{policy.ThisSession, policy.Always} {
				if _, err := policy.NewGrants(call, scope, cover, rules, time.Now()); (err == nil) != offered {
					t.Errorf("%v: %s of %s: %v", test.target, scope, cover, err)
				}
			}
		}
	}
}

// sayer is a user who allows one host and gives a reason for every other.
type sayer struct{ host string }

func (s sayer) Prompt(_ context.Context, r interact.Request, _ policy.Decision) (interact.Answer, error) {
	input := r.Body.(interact.Approve).Input
	if strings.Contains(string(input), s.host) {
		return interact.Answer{Outcome: api.Allowed, ShownSHA256: interact.Digest(input)}, nil
	}
	return interact.Answer{Outcome: api.Denied, Reason: "not that one"}, nil
}

func TestTheUserIsAskedAboutHosts(t *testing.T) {
	server := ipctest.Serve(t, sayer{"registry.npmjs.org"}, &interacttest.Policy{})
	ask := askAboutHosts(server.Client, api.Common{Agent: "claude-code", CWD: t.TempDir()}, "npm ci")
	if err := ask(t.Context(), target("registry.npmjs.org", 443, "")); err != nil {
		t.Error(err)
	}
	err := ask(t.Context(), target("evil.example", 443, ""))
	if err == nil || !strings.Contains(err.Error(), "not that one") {
		t.Errorf("got %v, want the reason", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(gone, target("registry.npmjs.org", 443, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
