package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
)

// dial connects to the published socket or, where none was published, to the published port. A published
// socket that is dead is not a reason to try the port: whoever listens there now is not the nod that
// published it.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	network, address := "unix", c.Endpoint.Socket
	if address == "" {
		u, err := url.Parse(c.Endpoint.URL)
		if err != nil {
			return nil, fmt.Errorf("published address: %w", err)
		}
		network, address = "tcp", u.Host
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if err := checkOwner(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkOwner returns [ErrForeign] unless the server at the other end runs as this user or as root.
func checkOwner(conn net.Conn) error {
	uid, err := serverUID(conn)
	switch {
	case errors.Is(err, errNoOwner):
		return nil
	case err != nil:
		return fmt.Errorf("%w: cannot tell whose it is: %w", ErrForeign, err)
	case uid != 0 && uid != os.Geteuid():
		return fmt.Errorf("%w: it runs as user %d", ErrForeign, uid)
	}
	return nil
}

// errNoOwner means that this platform does not say who is at the other end of such a connection.
var errNoOwner = errors.New("unknown on this platform")
