package asking

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"

	"nod/ipc/operator"
)

func TestUsableAddresses(t *testing.T) {
	var all []operator.Address
	for _, a := range []struct {
		ip, link string
		flags    net.Flags
	}{
		{"192.168.1.7", "eth0", 0}, {"fd00::7", "eth0", 0}, {"10.8.0.2", "wg0", net.FlagPointToPoint},
		{"100.70.1.2", "tailscale0", net.FlagPointToPoint}, {"fd7a:115c:a1e0::5", "tailscale0", net.FlagPointToPoint},
		{"100.65.0.9", "eth1", 0}, {"203.0.113.9", "eth2", 0}, {"2001:db8::1", "eth0", 0}, {"fe80::1", "eth0", 0},
		{"127.0.0.1", "eth0", 0}, {"0.0.0.0", "eth0", 0}, {"224.0.0.1", "eth0", 0},
	} {
		all = append(all, usable(netip.MustParseAddr(a.ip), net.Interface{Name: a.link, Flags: a.flags})...)
	}
	var got []string
	for _, a := range best(all) {
		got = append(got, fmt.Sprint(a.IP, " ", a.Private))
	}
	want := []string{
		"10.8.0.2 true", "100.70.1.2 true", "fd7a:115c:a1e0::5 true", "192.168.1.7 false", "fd00::7 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
