package asking

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strings"

	"nod/ipc/operator"
)

var tailnet = []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fd7a:115c:a1e0::/48")}

// addresses returns this machine's addresses for the phone page, the best first: those of encrypted networks, then
// those of local networks. It omits loopback and link-local addresses, and those that the internet can reach.
func addresses() ([]operator.Address, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []operator.Address
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
				all = append(all, usable(prefix.Addr().Unmap(), link)...)
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

// usable returns an address of a link, or nothing if the internet can reach it.
func usable(ip netip.Addr, link net.Interface) []operator.Address {
	isTunnel := link.Flags&net.FlagPointToPoint != 0
	isVPN := strings.HasPrefix(link.Name, "tailscale") || strings.HasPrefix(link.Name, "wg") ||
		isTunnel && slices.ContainsFunc(tailnet, func(p netip.Prefix) bool { return p.Contains(ip) })
	if !ip.IsGlobalUnicast() || !ip.IsPrivate() && !isVPN {
		return nil
	}
	return []operator.Address{{IP: ip.String(), Interface: link.Name, Private: isVPN}}
}

func best(all []operator.Address) []operator.Address {
	slices.SortStableFunc(all, func(a, b operator.Address) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func rank(a operator.Address) int {
	rank := 0
	if !a.Private {
		rank = 2
	}
	if strings.Contains(a.IP, ":") {
		rank++
	}
	return rank
}
