package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/textproto"
	"strconv"
	"strings"

	"nod/api"
	"nod/ipc/endpoint"
)

// This file replaces the client of net/http, whose TLS, HTTP/2 and proxies are too much for a program that agents start
// on every call. One plain exchange per connection is enough between nod's two ends.

// The methods of requests.
const (
	get    = "GET"
	post   = "POST"
	remove = "DELETE"
)

// The statuses of replies that the client distinguishes.
const (
	statusOK        = 200
	statusAccepted  = 202
	statusNoContent = 204
)

// maxHead limits the bytes of a reply before its body.
const maxHead = 64 << 10

// response is a reply whose body is still to be read. Its connection also ends with the context of the request.
type response struct {
	status int
	header textproto.MIMEHeader
	body   io.Reader
	conn   net.Conn
	forget func() bool // forgets that context
}

// open sends one request over its own connection, which ends with ctx, and returns the reply up to its body.
func open(ctx context.Context, at endpoint.Endpoint, r request) (*response, error) {
	text, err := encode(at, r)
	if err != nil {
		return nil, err
	}
	conn, err := DialAt(ctx, at)
	if err != nil {
		return nil, err
	}
	forget := context.AfterFunc(ctx, func() { _ = conn.Close() })
	_, wrote := conn.Write(text)
	resp, err := readResponse(conn) // also of a server that has replied before it read all
	if err != nil {
		forget()
		_ = conn.Close()
		return nil, &LostError{Err: errors.Join(wrote, err)}
	}
	resp.conn, resp.forget = conn, forget
	return resp, nil
}

// Close implements [io.Closer].
func (r *response) Close() error {
	r.forget()
	return r.conn.Close()
}

// closeWrite tells the other end that nothing more will be sent. Reading still works.
func (r *response) closeWrite() error {
	half, ok := r.conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// encode writes a request. The Host header is the published one even on the socket, because the server knows no other.
func encode(at endpoint.Endpoint, r request) ([]byte, error) {
	body, isRaw := r.body.(json.RawMessage)
	if r.body != nil && !isRaw {
		var err error
		if body, err = api.Encode(r.body); err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
	}
	lines := []string{
		r.method + " " + r.path + " HTTP/1.1", "Host: " + strings.TrimPrefix(at.URL, "http://"), "Connection: close",
		"User-Agent: nod", "Authorization: Bearer " + at.Token, "Accept: application/json",
	}
	if r.key != "" {
		lines = append(lines, "Idempotency-Key: "+r.key)
	}
	if r.body != nil {
		lines = append(lines, "Content-Type: application/json", "Content-Length: "+strconv.Itoa(len(body)))
	}
	var text bytes.Buffer
	for _, line := range lines {
		if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return nil, errors.New("write the request: a header has a control character")
		}
		text.WriteString(line + "\r\n")
	}
	text.WriteString("\r\n")
	text.Write(body)
	return text.Bytes(), nil
}

// readResponse reads a reply up to its body, which must have a stated length or be in chunks: otherwise its end would
// look the same as a broken connection.
func readResponse(conn io.Reader) (*response, error) {
	limited := &io.LimitedReader{R: conn, N: maxHead}
	in := textproto.NewReader(bufio.NewReader(limited))
	line, err := in.ReadLine()
	if err != nil {
		return nil, cut(err)
	}
	version, status, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(status, " ")
	r := &response{}
	if r.status, err = strconv.Atoi(code); err != nil || len(code) != 3 || r.status < 200 || version != "HTTP/1.1" {
		return nil, errors.New("not an HTTP/1.1 reply")
	}
	if r.header, err = in.ReadMIMEHeader(); err != nil {
		return nil, cut(err)
	}
	limited.N = math.MaxInt64
	r.body, err = bodyOf(r, in.R)
	return r, err
}

func bodyOf(r *response, in *bufio.Reader) (io.Reader, error) {
	lengths, encodings := r.header["Content-Length"], r.header["Transfer-Encoding"]
	switch {
	case r.status == statusNoContent && len(encodings) == 0:
		return strings.NewReader(""), nil
	case len(encodings) == 1 && strings.EqualFold(encodings[0], "chunked") && len(lengths) == 0:
		return &chunks{in: in}, nil
	case len(lengths) == 1 && len(encodings) == 0:
		if n, err := strconv.ParseUint(lengths[0], 10, 62); err == nil {
			return &whole{in: in, left: int64(n)}, nil
		}
	}
	return nil, errors.New("a reply without a length")
}

// cut returns the error of a read in the middle of a reply, where [io.EOF] is unexpected.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// whole reads a body of a stated length.
type whole struct {
	in   io.Reader
	left int64
}

// Read implements [io.Reader].
func (w *whole) Read(p []byte) (n int, err error) {
	if w.left == 0 {
		return 0, io.EOF
	}
	n, err = w.in.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	return n, cut(err)
}

// chunks reads a body that comes in chunks, each after its length.
type chunks struct {
	in    *bufio.Reader
	now   whole
	begun bool // a chunk was read: the end of its line comes next
	err   error
}

// Read implements [io.Reader].
func (c *chunks) Read(p []byte) (int, error) {
	if c.now.left == 0 && c.err == nil {
		c.err = c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.now.Read(p)
}

// next reads the head of a chunk. The error is [io.EOF] after the last one.
func (c *chunks) next() error {
	if c.begun {
		if err := c.empty(); err != nil {
			return err
		}
	}
	c.begun = true
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return cut(err)
	}
	length, err := strconv.ParseUint(strings.TrimSuffix(string(line), "\r\n"), 16, 31)
	switch {
	case err != nil:
		return errChunk
	case length > 0:
		c.now = whole{in: c.in, left: int64(length)}
		return nil
	}
	return cmp.Or(c.empty(), io.EOF)
}

// empty reads an empty line.
func (c *chunks) empty() error {
	line, err := c.in.ReadSlice('\n')
	if err == nil && string(line) != "\r\n" {
		return errChunk
	}
	return cut(err)
}

var errChunk = errors.New("a reply with malformed chunks")
