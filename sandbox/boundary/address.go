package boundary

import (
	"net"
	"net/netip"
	"slices"
)

// Public addresses are all of IPv4 but these, and of IPv6 only the one block that has been allocated.
// See the registries of special-purpose addresses of IANA.
var (
	notPublic4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/3")
	public6    = netip.MustParsePrefix("2000::/3")
	notPublic6 = prefixes("2001::/23", "2001:db8::/32", "3fff::/20")

	// These contain an IPv4 address, which counts.
	sixToFour = netip.MustParsePrefix("2002::/16")
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(list ...string) []netip.Prefix {
	var parsed []netip.Prefix
	for _, text := range list {
		parsed = append(parsed, netip.MustParsePrefix(text))
	}
	return parsed
}

// isPublic reports whether an address is globally reachable, and not this machine's or its networks'.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	bytes := addr.As16()
	switch {
	case sixToFour.Contains(addr):
		return isPublic(netip.AddrFrom4([4]byte(bytes[2:6])))
	case nat64.Contains(addr):
		return isPublic(netip.AddrFrom4([4]byte(bytes[12:16])))
	case addr.Is4():
		return !holds(notPublic4, addr)
	}
	return public6.Contains(addr) && !holds(notPublic6, addr)
}

func holds(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// isNear reports whether an address may lead to this machine or its networks, which can have public ones, too.
func isNear(addr netip.Addr) bool {
	if !isPublic(addr) {
		return true
	}
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return !ok || network.Contains(addr.AsSlice())
	})
}
