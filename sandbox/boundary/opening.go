package boundary

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
)

const (
	handshake = 22 // the first byte of TLS
	maxHello  = 128 << 10
)

// readHello reads the ClientHello of a TLS handshake with crypto/tls, and refuses it unless it names the target's host.
// For an address it must name none.
func readHello(in io.Reader, to Target) (read []byte, err error) {
	var record bytes.Buffer
	name, isRead := "", false
	seen := errors.New("seen")
	server := tls.Server(&deaf{Reader: io.TeeReader(io.LimitReader(in, maxHello), &record)}, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name, isRead = strings.ToLower(hello.ServerName), true
			return nil, seen
		},
	})
	err = server.Handshake()
	_, isAddress := to.isAddress()
	switch {
	case !isRead:
		return nil, refuse("no network to %s: its TLS handshake cannot be read: %w", to.name(), err)
	case name == to.Host || isAddress && name == "":
		return record.Bytes(), nil
	}
	return nil, refuse("no network to %s: its TLS handshake names %s", to.name(), cmp.Or(clip(name), "no host"))
}

type deaf struct {
	net.Conn
	io.Reader
}

func (d *deaf) Read(b []byte) (int, error)  { return d.Reader.Read(b) }
func (d *deaf) Write(b []byte) (int, error) { return len(b), nil }

const maxRequestLine = 4 << 10

// looksLikeHTTP reports whether a client is sending an HTTP request, without waiting for more than a server would.
// Other protocols show in the first bytes, or in the first line.
func looksLikeHTTP(in *bufio.Reader) bool {
	isToken := true
	start := 0
	for n := 1; n <= min(maxRequestLine, in.Size()); n++ {
		head, err := in.Peek(n)
		if err != nil {
			return false
		}
		switch c := head[n-1]; {
		case n-1 == start && (c == '\r' || c == '\n'): // empty lines, which servers skip
			start = n
		case c == '\n':
			return bytes.Contains(bytes.ToUpper(head[start:]), []byte("HTTP/"))
		case c == 0:
			return false
		case isToken && (c == ' ' || c == '\t'):
			isToken = false
		case isToken && (c < ' ' || c > '~') && c != '\r':
			return false
		}
	}
	return true
}
