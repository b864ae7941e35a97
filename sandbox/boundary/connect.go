package boundary

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"nod/policy"
)

// A refusal is nod's error when it does not let a command connect. All other errors are the network's.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

func isRefusal(err error) bool {
	_, is := errors.AsType[refusal](err)
	return is
}

// connect connects to a target once it is allowed, at exactly the address that was checked.
func (p *proxy) connect(ctx context.Context, t Target) (net.Conn, error) {
	addrs, err := p.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	far := slices.DeleteFunc(slices.Clone(addrs), isNear)
	if len(far) > 0 {
		addrs = far
	}
	var failed error
	for _, addr := range addrs[:min(len(addrs), maxAddresses)] {
		if len(far) == 0 {
			if err := p.permit(ctx, Target{t.Host, t.Port, addr}); err != nil {
				return nil, err
			}
		}
		c, err := p.dial(ctx, netip.AddrPortFrom(addr, t.Port))
		if err == nil {
			return c, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, fmt.Errorf("connect to %s: %w", t.name(), failed)
}

// addresses returns the addresses of a target. It resolves a name only once the name is allowed.
func (p *proxy) addresses(ctx context.Context, t Target) ([]netip.Addr, error) {
	if addr, ok := t.isAddress(); ok {
		if isNear(addr) {
			return []netip.Addr{addr}, nil // connect asks
		}
		return []netip.Addr{addr}, p.permit(ctx, t)
	}
	if isLocalhost(t.Host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if err := p.permit(ctx, t); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := p.lookup(ctx, t.Host)
	if err == nil && len(found) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", t.Host, err)
	}
	for i := range found {
		found[i] = found[i].Unmap().WithZone("")
	}
	return found, nil
}

// permit returns nil if a target was allowed in advance, or the user allows it now.
func (p *proxy) permit(ctx context.Context, t Target) error {
	if p.isAllowed(t) {
		return nil
	}
	err := p.answers.about(ctx, t)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return refuse("no network to %s: %w", t.name(), err)
}

// isAllowed reports whether a target was allowed in advance. An allowed name does not allow an address nearby.
func (p *proxy) isAllowed(t Target) bool {
	_, isAddress := t.isAddress()
	return t.isWeb() && (isAddress || !t.Addr.IsValid()) && slices.ContainsFunc(p.Allowed, func(pattern string) bool {
		return pattern == t.Host || !isAddress && policy.MatchesHost(pattern, t.Host)
	})
}
