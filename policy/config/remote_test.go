package config

import (
	"strings"
	"testing"

	"nod/policy"
)

// What reaches a command line, a network or a file system from the section remote is what it says it is.
func TestRemoteProblems(t *testing.T) {
	ssh := func(host string) Remote { return Remote{Machines: []Machine{{MachineSSH, host}}} }
	docker := func(name string) Remote { return Remote{Machines: []Machine{{MachineDocker, name}}} }
	servers := func(url string) Remote { return Remote{NATS: NATS{URL: url}} }
	phone := func(address string) Remote { return Remote{Phone: Phone{Address: address}} }
	push := func(to string) Remote { return Remote{Phone: Phone{Push: to}} }
	for _, tt := range []struct {
		name  string
		r     Remote
		isBad bool
	}{
		{"a host", ssh("build-1"), false},
		{"a user at a host", ssh("me@build-1.example.com"), false},
		{"an address", ssh("ssh://me@[2001:db8::1]:2222"), false},
		{"a host of letters", ssh("büro"), false},
		{"no host", ssh(""), true},
		{"a flag", ssh("-oProxyCommand=id"), true},
		{"a flag as the user", ssh("-l@web"), true},
		{"a flag as the host of a user", ssh("me@-oProxyCommand"), true},
		{"a flag behind the scheme", ssh("ssh://-oProxyCommand"), true},
		{"a flag in brackets", ssh("[-oProxyCommand]"), true},
		{"a bracket", ssh("[::1"), true},
		{"an address without a scheme", ssh("me@[::1]"), false},
		{"a command", ssh("web;id"), true},
		{"a substitution", ssh("web$(id)"), true},
		{"a token of ssh", ssh("%h"), true},
		{"a line end", ssh("web\n"), true},
		{"a space", ssh("web id"), true},
		{"a hidden character", ssh("web\u200b"), true},
		{"a container", docker("shop_web.1"), false},
		{"no container", docker(""), true},
		{"a flag for docker", docker("--privileged"), true},
		{"a host for docker", docker("me@web"), true},
		{"a long name", docker(strings.Repeat("a", 256)), true},
		{"a server", servers("nats://127.0.0.1:4222"), false},
		{"servers", servers("tls://a.example.com,wss://b.example.com"), false},
		{"a space between servers", servers("tls://a, tls://b"), true},
		{"no scheme", servers("a.example.com:4222"), true},
		{"no server", servers("tls://"), true},
		{"one address", phone("[fd7a:115c:a1e0::1]:7464"), false},
		{"a loopback address", phone("127.0.0.1:7464"), false},
		{"every address", phone("0.0.0.0:7464"), true},
		{"every address of IPv6", phone("[::]:7464"), true},
		{"every address, disguised", phone("[::ffff:0.0.0.0]:7464"), true},
		{"a zone", phone("[fe80::1%eth0]:7464"), true},
		{"a name", phone("localhost:7464"), true},
		{"any port", phone("192.0.2.1:0"), true},
		{"no port", phone("192.0.2.1"), true},
		{"a topic", push("https://ntfy.example.com/me"), false},
		{"no topic", push("https://ntfy.example.com/"), true},
		{"a topic in the clear", push("http://ntfy.example.com/me"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.r.NATS.Prefix = "nod"
			if found := remoteProblems(tt.r); (len(found) > 0) != tt.isBad {
				t.Errorf("%v", found)
			}
		})
	}
	many := Remote{Machines: make([]Machine, maxMachines+1), NATS: NATS{Prefix: "nod"}}
	if found := remoteProblems(many); len(found) != 1 {
		t.Errorf("%d machines: %v", len(many.Machines), found)
	}
}

func remoteProblems(r Remote) []*policy.FieldError {
	c := Default()
	c.Remote = r
	return c.problems()
}
