package device

import (
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// How often one address may ask for something, or connect. There is no limit that addresses share: whoever reached it
// would use up what is there for the others.
const (
	perSecond    = 20
	burst        = 120  // enough to open the page anew a few times in a row
	maxAddresses = 1024 // that are remembered
)

// rates limits who asks how often.
type rates struct {
	mu sync.Mutex
	of map[netip.Addr]*rate.Limiter
}

func newRates() *rates { return &rates{of: map[netip.Addr]*rate.Limiter{}} }

// allow reports whether one more may come from there.
func (r *rates) allow(from netip.Addr) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.of[from]
	if one == nil {
		if len(r.of) >= maxAddresses {
			clear(r.of) // who has so many addresses is held by the limit on connections
		}
		one = rate.NewLimiter(perSecond, burst)
		r.of[from] = one
	}
	return one.Allow()
}

// peerAddress is where a connection comes from. Each address of IPv6 is one of its own: devices of one network share
// the rest of it.
func peerAddress(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}
