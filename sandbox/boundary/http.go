package boundary

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
)

type pinned struct {
	*conn
	to Target
}

type key int

const (
	pinKey  key = iota // the Target of all requests of a connection
	dialKey            // the connection that was made for one request
)

func pin(ctx context.Context, c net.Conn) context.Context {
	if p, ok := c.(*pinned); ok {
		return context.WithValue(ctx, pinKey, p.to)
	}
	return ctx
}

func (p *proxy) serveHTTP(w http.ResponseWriter, r *http.Request) {
	to, isPinned := r.Context().Value(pinKey).(Target)
	switch {
	case r.ProtoMajor != 1:
		http.Error(w, "nod: speak HTTP/1.1 with the proxy", http.StatusHTTPVersionNotSupported)
	case isPinned:
		p.serveRequest(w, r, to, checkPinned(r, to))
	case r.Method == http.MethodConnect:
		p.serveConnect(w, r)
	default:
		to, err := targetOf(r)
		p.serveRequest(w, r, to, err)
	}
}

// targetOf returns the target of a request to the proxy: the host of its absolute URL. The Host header does not count.
func targetOf(r *http.Request) (Target, error) {
	switch {
	case r.URL.Scheme != "http" || r.URL.Opaque != "" || r.URL.Host == "":
		return Target{}, refuse("this is a proxy: want a whole address that begins with http://, or CONNECT")
	case r.URL.User != nil:
		return Target{}, refuse("the address names a user: send that in a header")
	case r.URL.Port() == "" && !strings.HasSuffix(r.URL.Host, ":"):
		return newTarget(r.URL.Hostname(), "80")
	}
	return newTarget(r.URL.Hostname(), r.URL.Port())
}

// checkPinned refuses a request for another host than its connection was opened to.
func checkPinned(r *http.Request, to Target) error {
	authority := r.Host
	if _, _, err := net.SplitHostPort(authority); err != nil {
		bare := strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")
		authority = net.JoinHostPort(bare, strconv.Itoa(int(to.Port)))
	}
	asked, err := parseAuthority(authority)
	if err == nil && asked == to && r.Method != http.MethodConnect {
		return nil
	}
	return refuse("the connection is to %s, and a request in it for %q", to.name(), clip(r.Host))
}

func (p *proxy) serveRequest(w http.ResponseWriter, r *http.Request, to Target, err error) {
	var upstream net.Conn
	if err == nil {
		upstream, err = p.connect(r.Context(), to)
	}
	if err != nil {
		status, reason := p.describe(err)
		http.Error(w, reason, status)
		return
	}
	defer upstream.Close()
	out := r.WithContext(context.WithValue(r.Context(), dialKey, upstream))
	out.URL.Scheme, out.URL.Host = "http", to.authority()
	if out.Host = to.authority(); to.Port == 80 {
		out.Host = strings.TrimSuffix(out.Host, ":80")
	}
	p.forward.ServeHTTP(w, out)
}

func (p *proxy) newForward(silent *log.Logger) httputil.ReverseProxy {
	dialed := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, ok := ctx.Value(dialKey).(net.Conn)
		if !ok {
			return nil, net.ErrClosed
		}
		return c, nil
	}
	return httputil.ReverseProxy{
		// One connection per request: none is used for anything else.
		Transport:     &http.Transport{DialContext: dialed, DisableKeepAlives: true, DisableCompression: true},
		Rewrite:       rewrite,
		FlushInterval: -1,
		ErrorLog:      silent,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "nod: the host did not answer: "+line(err.Error()), http.StatusBadGateway)
		},
	}
}

// rewrite leaves a request unchanged except for upgrades to protocols in which other hosts could be named.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.Host = r.In.Host
	if !strings.EqualFold(r.In.Header.Get("Upgrade"), "websocket") {
		r.Out.Header.Del("Upgrade")
		r.Out.Header.Del("Connection")
	}
	if _, named := r.In.Header["User-Agent"]; !named {
		r.Out.Header["User-Agent"] = nil
	}
}

func (p *proxy) serveConnect(w http.ResponseWriter, r *http.Request) {
	to, err := parseAuthority(r.RequestURI)
	var upstream net.Conn
	if err == nil {
		upstream, err = p.connect(r.Context(), to)
	}
	c, buffered, hijackErr := http.NewResponseController(w).Hijack()
	if hijackErr != nil {
		closeAll(upstream)
		return
	}
	if err != nil {
		defer c.Close()
		status, reason := p.describe(err)
		refuseConnect(c, status, reason)
		return
	}
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		closeAll(c, upstream)
		return
	}
	p.tunnel(c, buffered.Reader, upstream, to)
}

// refuseConnect also gives the reason in the status line: most programs show nothing else of a refused CONNECT.
func refuseConnect(w io.Writer, status int, reason string) {
	response := http.Response{
		Status:     strconv.Itoa(status) + " " + reason,
		StatusCode: status,
		ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		Body:          io.NopCloser(strings.NewReader(reason + "\n")),
		ContentLength: int64(len(reason) + 1),
		Close:         true,
	}
	response.Write(w)
}

func (p *proxy) describe(err error) (status int, reason string) {
	if !isRefusal(err) {
		return http.StatusBadGateway, "nod: " + line(err.Error())
	}
	p.reportRefusal(err)
	return http.StatusForbidden, "nod: " + line(err.Error())
}

func (p *proxy) reportRefusal(err error) {
	if p.Refused != nil && isRefusal(err) {
		p.Refused(err)
	}
}

const maxReason = 400

// line makes a text safe for a header. The text may come from a client or the user.
func line(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case b.Len() >= maxReason:
			return b.String() + "..."
		case r == '\n':
			b.WriteString(" ")
		case r < ' ' || r > '~':
			b.WriteString("?")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
