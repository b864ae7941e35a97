package device

import (
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// Limits on requests and connections per address. Addresses share no limit, because one could use it up for all.
const (
	perSecond    = 20
	burst        = 120  // enough to open the page anew a few times in a row
	maxAddresses = 1024 // that are remembered
)

// rates limits requests per address.
type rates struct {
	mu sync.Mutex
	of map[netip.Addr]*rate.Limiter
}

// allow reports whether the address may make another request.
func (r *rates) allow(from netip.Addr) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.of[from]
	if one == nil {
		// The limit on connections applies to a client with so many addresses.
		if r.of == nil || len(r.of) >= maxAddresses {
			r.of = map[netip.Addr]*rate.Limiter{}
		}
		one = rate.NewLimiter(perSecond, burst)
		r.of[from] = one
	}
	return one.Allow()
}

// peerAddress returns the address that a connection comes from. It keeps each IPv6 address apart, because devices of
// one network share its prefix.
func peerAddress(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}
