package device

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Address is one of this machine's addresses for the server.
type Address struct {
	IP        netip.Addr
	Interface string // as in tailscale0
	Private   bool   // of an encrypted network, such as Tailscale's or WireGuard's
}

var tailnet = []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fd7a:115c:a1e0::/48")}

// Addresses returns this machine's addresses, the best first: those of encrypted networks, then those of local
// networks. It omits loopback and link-local addresses.
func Addresses() ([]Address, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []Address
	for _, link := range links {
		if link.Flags&net.FlagUp == 0 || link.Flags&net.FlagLoopback != 0 || isInner(link.Name) {
			continue
		}
		addresses, err := link.Addrs()
		if err != nil {
			continue // just removed
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				all = append(all, addressOf(prefix.Addr().Unmap(), link))
			}
		}
	}
	return best(all), nil
}

// isInner reports whether an interface only leads to containers and virtual machines on this machine.
func isInner(name string) bool {
	return slices.ContainsFunc([]string{"docker", "br-", "veth", "virbr", "podman", "cni", "lxc"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}

func addressOf(ip netip.Addr, link net.Interface) Address {
	isTunnel := link.Flags&net.FlagPointToPoint != 0
	isVPN := strings.HasPrefix(link.Name, "tailscale") || strings.HasPrefix(link.Name, "wg") ||
		isTunnel && slices.ContainsFunc(tailnet, func(p netip.Prefix) bool { return p.Contains(ip) })
	return Address{ip, link.Name, isVPN}
}

// best sorts the addresses and omits those that the internet can reach.
func best(all []Address) []Address {
	all = slices.DeleteFunc(all, func(a Address) bool {
		return !a.IP.IsGlobalUnicast() || !a.IP.IsPrivate() && !a.Private
	})
	slices.SortStableFunc(all, func(a, b Address) int { return cmp.Compare(a.rank(), b.rank()) })
	return all
}

func (a Address) rank() int {
	rank := 0
	if !a.Private {
		rank = 2
	}
	if a.IP.Is6() {
		rank++
	}
	return rank
}
