package device

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How often something may be asked for.
const (
	perSecond      = 20  // requests from one address
	burst          = 120 // enough to open the page anew a few times in a row
	pairsPerMinute = 12
	pairBurst      = 6
	maxAddresses   = 1024 // that are remembered
)

// rates limits who asks how often.
type rates struct {
	pairing *rate.Limiter // of all, whoever asks

	mu sync.Mutex
	of map[netip.Addr]*rate.Limiter
}

func newRates() *rates {
	return &rates{
		pairing: rate.NewLimiter(rate.Every(time.Minute/pairsPerMinute), pairBurst),
		of:      map[netip.Addr]*rate.Limiter{},
	}
}

// allow reports whether one more request may come from there.
func (r *rates) allow(remote string) bool {
	from := network(remote)
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
