package client

import (
	"context"
	"errors"
	"io/fs"
	"net/http"

	"nod/ipc/api"
	"nod/ipc/endpoint"
)

// call makes one call, at the next nod-desktop when this one went away.
func (c *Client) call(ctx context.Context, r request) (text []byte, err error) {
	isAgain := false
	err = c.reach(ctx, r.isWaiting, func(at *server) error {
		if isAgain && r.again != nil {
			r.again()
		}
		isAgain = true
		text, err = at.exchange(ctx, r)
		return err
	})
	return text, err
}

// reach tries something at the nod-desktop that c talks to, and again at the next when that went away. isWaiting says
// that it waits for a person, and then for a nod-desktop, too.
func (c *Client) reach(ctx context.Context, isWaiting bool, try func(*server) error) error {
	var lost *LostError // the first one: from then on, it waits
	for {
		at := c.current()
		err := try(at)
		if lost == nil && isWaiting {
			lost, _ = errors.AsType[*LostError](err)
		}
		if !isAbsent(err) {
			return err
		}
		if err := c.follow(ctx, at, err, lost); err != nil {
			return err
		}
	}
}

// isAbsent reports whether an exchange ended as it does where another nod-desktop has come, or will: nobody is there,
// the connection broke, or whoever is there does not know the token or its own address.
func isAbsent(err error) bool {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Code == api.CodeUnauthorized || p.Code == api.CodeForbidden
	}
	_, isLost := errors.AsType[*LostError](err)
	return isLost || errors.Is(err, ErrNotRunning)
}

// follow has c talk to another nod-desktop than the one at which an exchange ended with err, and returns err when there
// is none to talk to. A call that has lost its nod-desktop waits for one.
func (c *Client) follow(ctx context.Context, at *server, err error, lost *LostError) error {
	if c.Dir == "" {
		return err
	}
	e, readErr := endpoint.Read(c.Dir)
	if readErr == nil && c.moved(at, e) {
		return nil
	}
	_, isLost := errors.AsType[*LostError](err)
	_, isRefused := errors.AsType[*Problem](err)
	switch {
	case isLost && lost == nil, isLost && at.isAlive(ctx): // it has hung up, and will do so again
		return err
	case isLost && errors.Is(readErr, fs.ErrNotExist): // it was quit: one that dies leaves its endpoint behind
		return err
	case lost != nil:
		if isLost && c.Lost != nil {
			c.Lost()
		}
		if waited := c.await(ctx, at); waited != nil {
			return &LostError{Err: lost.Err, waited: waited}
		}
		return nil
	case isRefused: // it has bound the address, and publishes it next
		soon, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if c.await(soon, at) == nil {
			return nil
		}
	}
	return err
}

// await waits until another nod-desktop than the one at at has published its endpoint, and has c talk to it.
func (c *Client) await(ctx context.Context, at *server) error {
	e, err := endpoint.Await(ctx, c.Dir, at.Endpoint)
	if err == nil {
		c.moved(at, e)
	}
	return err
}

// moved has c talk to the nod-desktop at e, unless that is the one at at.
func (c *Client) moved(at *server, e endpoint.Endpoint) bool {
	if e == at.Endpoint {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.Endpoint != e {
		c.at.http.CloseIdleConnections()
		c.at = c.serverAt(e)
	}
	return true
}

// isAlive reports whether a nod-desktop answers.
func (s *server) isAlive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	_, err := s.exchange(ctx, request{method: http.MethodGet, path: "/v1/health"})
	return err == nil
}

// Reattach waits until another nod-desktop than the one that c talks to has published its endpoint, and has c talk to
// that one: for when a connection of [Client.HTTPClient] broke. Its error, a [*LostError], is broke when the same
// nod-desktop still answers, or nobody can know of another.
func (c *Client) Reattach(ctx context.Context, broke error) error {
	lost := &LostError{Err: broke}
	return c.follow(ctx, c.current(), lost, lost)
}
