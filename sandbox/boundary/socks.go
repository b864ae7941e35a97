package boundary

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/things-go/go-socks5"
	"github.com/things-go/go-socks5/statute"
)

func (p *proxy) newSOCKS() *socks5.Server {
	unsupported := func(_ context.Context, w io.Writer, _ *socks5.Request) error {
		return socks5.SendReply(w, statute.RepCommandNotSupported, nil)
	}
	return socks5.NewServer(
		socks5.WithResolver(noResolver{}),
		socks5.WithConnectHandle(p.serveSOCKS),
		socks5.WithBindHandle(unsupported),
		socks5.WithAssociateHandle(unsupported),
	)
}

// noResolver resolves nothing: names are resolved after they are allowed.
type noResolver struct{}

func (noResolver) Resolve(ctx context.Context, _ string) (context.Context, net.IP, error) {
	return ctx, nil, nil
}

func (p *proxy) serveSOCKS(_ context.Context, w io.Writer, r *socks5.Request) error {
	c := w.(*conn)
	c.SetDeadline(time.Time{})
	in := bufio.NewReader(r.Reader)
	host := r.RawDestAddr.FQDN
	if r.RawDestAddr.AddrType != statute.ATYPDomain {
		host = r.RawDestAddr.IP.String()
	}
	to, err := newTarget(host, strconv.Itoa(r.RawDestAddr.Port))
	var upstream net.Conn
	if err == nil {
		err = whileOpen(p.run, c, in, func(ctx context.Context) error {
			upstream, err = p.connect(ctx, to)
			return err
		})
	}
	if err != nil {
		closeAll(upstream)
		p.reportRefusal(err)
		return socks5.SendReply(c, replyTo(err), nil)
	}
	if err := socks5.SendReply(c, statute.RepSuccess, &net.TCPAddr{IP: net.IPv4zero}); err != nil {
		closeAll(upstream)
		return err
	}
	p.tunnel(c, in, upstream, to)
	return nil
}

func replyTo(err error) uint8 {
	switch {
	case isRefusal(err):
		return statute.RepRuleFailure
	case errors.Is(err, syscall.ECONNREFUSED):
		return statute.RepConnectionRefused
	case errors.Is(err, syscall.ENETUNREACH):
		return statute.RepNetworkUnreachable
	}
	return statute.RepHostUnreachable
}

// whileOpen runs do, which may wait for the user, and cancels it when the client closes the connection.
func whileOpen(ctx context.Context, c net.Conn, in *bufio.Reader, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if _, err := in.Peek(1); err != nil {
			cancel()
		}
	}()
	err := do(ctx)
	c.SetReadDeadline(time.Unix(1, 0)) // wakes the watcher
	<-watched
	c.SetReadDeadline(time.Time{})
	return err
}
