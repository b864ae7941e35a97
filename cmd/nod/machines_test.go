//go:build !relay

package main

import (
	"strings"
	"testing"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
)

func TestMachinesAreListed(t *testing.T) {
	p := operator.Peers{
		Fingerprint: "army robot job circle desk demise", Problem: "another program changed the list",
		Peers: []operator.Peer{{
			Peer:  remote.Peer{Name: "build", Role: remote.RoleMachine},
			State: remote.State{Up: true, Since: time.Now(), Trip: 12 * time.Millisecond},
			Hello: remote.Hello{Version: "1\x1b[2J\n2"}, Pending: 2,
		}, {
			Peer: remote.Peer{Name: "phone", Role: remote.RoleDevice, Seen: time.Now()},
		}, {
			Peer: remote.Peer{Name: "office", Role: remote.RoleDesk},
		}, {
			Peer: remote.Peer{Name: "tablet", Role: remote.RoleDevice}, State: remote.State{Up: true},
		}},
		Phone: operator.Phone{URL: "https://192.0.2.1:7464/", Fingerprint: "AB:CD"},
		Joining: []operator.Joining{{Role: remote.RoleDevice, Fingerprint: "g h i j k l"}, {
			Role: "machine\x1b[1m", Fingerprint: "a b c d e f\x1b[0m", Line: "ssh build-2",
		}},
		Lines: []operator.Line{
			{Name: "ssh build", State: remote.State{Up: true, Since: time.Now()}},
			{Name: "ssh gone", State: remote.State{Problem: "the host does not answer\x1b]0;x\a\n"}},
		},
	}
	text := describePeers(p)
	for _, want := range []string{
		"army robot job circle desk demise", "12ms away, 2 requests waiting", "not connected, last seen", "can answer too",
		"asks to join by ssh build-2", "a b c d e f", "not connected: the host does not answer", "another program",
		"asks to join by an invitation", "g h i j k l", "https://192.0.2.1:7464/", "SHA-256 AB:CD",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the list:\n%s", want, text)
		}
	}
	if strings.Contains(text, "since Mon 1 Jan") {
		t.Errorf("it is not known since when a device is connected:\n%s", text)
	}
	if strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 11 {
		t.Errorf("a machine's words are not made safe: %q", text)
	}
}
