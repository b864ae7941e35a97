package boundary

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// tunnel copies between a client and its target until both have ended, and closes both. If the client's first bytes
// name a host, as TLS and HTTP do, it must be the target's.
func (p *proxy) tunnel(client net.Conn, in *bufio.Reader, upstream net.Conn, to Target) {
	defer closeAll(client, upstream)
	defer context.AfterFunc(p.run, func() { closeAll(client, upstream) })()
	idle := time.AfterFunc(idleTimeout, func() { closeAll(client, upstream) })
	defer idle.Stop()

	var isOver atomic.Bool // ignore further data from the target
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		io.Copy(client, &touching{upstream, idle})
		if !isOver.Load() {
			closeWrite(client)
		}
	}()
	cut := func() {
		isOver.Store(true)
		upstream.Close()
		<-answered
	}

	opening, err := readOpening(in, to)
	switch {
	case err != nil:
		cut()
		p.reportRefusal(err)
		if isRefusal(err) {
			client.Write(accessDenied)
		}
		return
	case opening.isHTTP:
		cut()
		idle.Stop()
		p.servePinned(client, in, to)
		return
	}
	if _, err := upstream.Write(opening.hello); err == nil {
		io.Copy(upstream, &touching{in, idle})
	}
	closeWrite(upstream)
	<-answered
}

// servePinned serves a connection with the HTTP server, which checks every request, and waits for its end.
func (p *proxy) servePinned(client net.Conn, in *bufio.Reader, to Target) {
	closed := make(chan struct{})
	p.passOn(&pinned{&conn{Conn: client, in: in, ended: func() { close(closed) }}, to})
	<-closed
}

// touching is a reader that keeps a connection from counting as idle.
type touching struct {
	io.Reader
	idle *time.Timer
}

func (t *touching) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	t.idle.Reset(idleTimeout)
	return n, err
}

func closeAll(list ...net.Conn) {
	for _, c := range list {
		if c != nil {
			c.Close()
		}
	}
}

type opening struct {
	hello  []byte // of TLS: already read, to be forwarded
	isHTTP bool   // unencrypted; still to be read
}

var accessDenied = []byte{21, 3, 3, 0, 2, 2, 49}

// readOpening reads enough to know which host a client means, and refuses any but the target.
func readOpening(in *bufio.Reader, to Target) (opening, error) {
	first, err := in.Peek(1)
	switch {
	case err != nil && errors.Is(err, io.EOF) && to.Port != 443:
		return opening{}, nil
	case err != nil:
		return opening{}, err
	case first[0] == handshake:
		hello, err := readHello(in, to)
		return opening{hello: hello}, err
	case to.Port == 443:
		return opening{}, refuse("no network to %s: port 443 is for TLS only", to.name())
	}
	return opening{isHTTP: to.Port == 80 || looksLikeHTTP(in)}, nil
}
