package ipc

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"nod/api"

	"nod/policy"
)

// samples are a body for each route that takes one. Each would put something before the user.
var samples = map[string]string{
	"/v1/ask":     `{"question":"Which database?","options":["SQLite","Postgres"],"agent":"claude-code"}`,
	"/v1/confirm": `{"message":"Deploy now?","default":true,"yes_label":"Deploy","no_label":"Not yet"}`,
	"/v1/form": `{"title":"Setup","questions":[{"id":"db","question":"Which?","options":[{"label":"SQLite",` +
		`"recommended":true},{"label":"Postgres","value":"pg"}],"default":["pg"]},{"id":"name","question":"Name?",` +
		`"input_type":"text","required":false}]}`,
	"/v1/approve": `{"tool":"Bash","input":{"command":"make all"},"class":"execute","cwd":"/tmp",` +
		`"session":"s1","timeout":30.5}`,
	"/v1/notify":   `{"message":"Build finished","title":"make","level":"warning"}`,
	"/v1/evaluate": `{"tool":"Bash","input":{"command":"make all"}}`,

	"/v1/hooks/{agent}/{event}": `{"session_id":"s1","cwd":"/tmp","tool_name":"Bash","tool_input":{"command":"make all"}}`,
}

// mcpSample is what would put a question before the user over MCP.
const mcpSample = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"interact_ask",` +
	`"arguments":{"question":"?"}}}`

// ids stand where a route has a variable.
var ids = strings.NewReplacer(
	"{id}", "01900000-0000-7000-8000-000000000000", "{agent}", "claude-code", "{event}", "PermissionRequest",
)

// each calls f with a well-behaved request to every route.
func (d *fixture) each(f func(r *http.Request)) {
	for _, route := range routes() {
		path := ids.Replace(route.path)
		body := ""
		if route.method == "POST" {
			body = samples[route.path]
			if body == "" {
				d.t.Fatalf("no sample of %s", route.path)
			}
		}
		f(d.request(route.method, path, body))
	}
	f(d.request("POST", mcpPath, mcpSample))
}

// wantNothing fails when anything reached the user, the policy or the list of requests.
func (d *fixture) wantNothing() {
	d.t.Helper()
	if shown := d.human.Shown(); len(shown) != 0 {
		d.t.Errorf("the human was asked: %+v", shown)
	}
	if own := d.get("/v1/requests"); own.text != `{"requests":[]}`+"\n" {
		d.t.Errorf("requests were made: %s", own.text)
	}
}

func TestBrowsersAreRefused(t *testing.T) {
	d := open(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	cases := map[string]func(*http.Request){
		"origin of a page":         header("Origin", "https://evil.example"),
		"origin null":              header("Origin", "null"),
		"origin empty":             header("Origin", ""),
		"origin of this server":    header("Origin", d.endpoint.URL),
		"origin of localhost":      header("Origin", "http://localhost"),
		"origin of an extension":   header("Origin", "chrome-extension://abc"),
		"referer":                  header("Referer", "https://evil.example/page"),
		"referer empty":            header("Referer", ""),
		"fetch from another site":  header("Sec-Fetch-Site", "cross-site"),
		"fetch from the same site": header("Sec-Fetch-Site", "same-origin"),
		"fetch from the user":      header("Sec-Fetch-Site", "none"),
		"preflight": func(r *http.Request) {
			r.Method = "OPTIONS"
			header("Access-Control-Request-Method", "POST")(r)
		},
		"preflight with everything": func(r *http.Request) { r.Method = "OPTIONS"; header("Origin", "null")(r) },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			d.each(func(r *http.Request) {
				if name == "origin of this server" && r.URL.Path == mcpPath {
					return // see TestMCPTakesItsOwnOrigin
				}
				for _, client := range []*http.Client{d.tcp, d.socket} {
					spoiled := r.Clone(t.Context())
					spoiled.Body = copyOf(t, r)
					spoil(spoiled)
					d.through(client, spoiled).want(t, http.StatusForbidden, map[string]any{"code": "FORBIDDEN"})
				}
			})
		})
	}
	d.wantNothing()
}

func copyOf(t *testing.T, r *http.Request) io.ReadCloser {
	t.Helper()
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// The MCP conformance suite wants a server to take its own address as the origin, and no other.
func TestMCPTakesItsOwnOrigin(t *testing.T) {
	d := open(t)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for origin, want := range map[string]int{
		d.endpoint.URL:               http.StatusOK,
		d.endpoint.URL + "/":         http.StatusForbidden,
		"https" + d.endpoint.URL[4:]: http.StatusForbidden,
		"http://evil.example":        http.StatusForbidden,
		"null":                       http.StatusForbidden,
	} {
		r := d.request("POST", mcpPath, list)
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Origin", origin)
		resp, err := d.tcp.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("origin %s: status %d, want %d", origin, resp.StatusCode, want)
		}
	}
	r := d.request("POST", mcpPath, list)
	r.Header.Del("Authorization")
	r.Header.Set("Origin", d.endpoint.URL)
	d.through(d.tcp, r).want(t, http.StatusUnauthorized, nil)
}

func TestHostsOfOthersAreRefused(t *testing.T) {
	d := open(t)
	u, _ := url.Parse(d.endpoint.URL)
	port := u.Port()
	foreign := []string{
		"evil.com", "evil.com:80", "evil.com:" + port, "localhost.evil.com", "127.0.0.1.evil.com",
		"127.0.0.1.evil.com:" + port, "localhost", "127.0.0.1", "[::1]", "localhost:1", "127.0.0.1:1",
		"localhost.:" + port, "127.0.0.1.:" + port, "app.localhost:" + port, "LOCALHOST:" + port,
		"0.0.0.0:" + port, "[::]:" + port, "127.0.0.2:" + port, "127.1:" + port, "2130706433:" + port,
		"[::ffff:127.0.0.1]:" + port, "localhost:" + port + ":" + port, "localhost:0" + port, " ", "nod.evil.com",
	}
	for _, host := range foreign {
		t.Run(host, func(t *testing.T) {
			d.each(func(r *http.Request) {
				r.Host = host
				d.through(d.tcp, r).want(t, http.StatusForbidden, map[string]any{"code": "FORBIDDEN"})
			})
		})
	}
	d.wantNothing()
	for _, host := range []string{"127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port} {
		for _, client := range []*http.Client{d.tcp, d.socket} {
			r := d.request("GET", "/v1/health", "")
			r.Host = host
			d.through(client, r).want(t, http.StatusOK, nil)
		}
	}
}

func TestHostOfTheSocketIsForTheSocket(t *testing.T) {
	d := open(t)
	r := d.request("GET", "/v1/health", "")
	r.Host = "nod"
	d.through(d.socket, r.Clone(t.Context())).want(t, http.StatusOK, nil)
	d.through(d.tcp, r).want(t, http.StatusForbidden, nil)
}

// raw sends text on a fresh connection to the port and returns the reply.
func (d *fixture) raw(text string) (*http.Response, error) {
	d.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(d.endpoint.URL, "http://"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		d.t.Fatal(err)
	}
	return http.ReadResponse(bufio.NewReader(c), nil)
}

func TestOddRequestLines(t *testing.T) {
	d := open(t)
	host := strings.TrimPrefix(d.endpoint.URL, "http://")
	auth := "Authorization: Bearer " + d.endpoint.Token + "\r\n"
	cases := []struct {
		name, text string
		want       int
	}{
		{"no host", "GET /v1/health HTTP/1.0\r\n" + auth + "\r\n", 403},
		{"empty host", "GET /v1/health HTTP/1.1\r\nHost:\r\n" + auth + "\r\n", 403},
		{"two hosts", "GET /v1/health HTTP/1.1\r\nHost: " + host + "\r\nHost: evil.com\r\n" + auth + "\r\n", 400},
		{"another server's address", "GET http://evil.com/v1/health HTTP/1.1\r\nHost: " + host + "\r\n" + auth + "\r\n", 403},
		{"options of everything", "OPTIONS * HTTP/1.1\r\nHost: " + host + "\r\n" + auth + "\r\n", 403},
		{"proxy", "CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n" + auth + "\r\n", 404},
		{
			"headers too long",
			"GET /v1/health HTTP/1.1\r\nHost: " + host + "\r\n" + auth + "X: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n",
			431,
		},
		{"fine", "GET /v1/health HTTP/1.1\r\nHost: " + host + "\r\n" + auth + "\r\n", 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp, err := d.raw(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != c.want {
				t.Errorf("status %d, want %d", resp.StatusCode, c.want)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	d := open(t)
	right := d.endpoint.Token
	wrong := []string{
		"", "Bearer", "Bearer ", "Bearer a", "Bearer ab", "Bearer abc", "B", "Be", "Bea",
		"Bearer " + right[:len(right)-1], "Bearer " + right + "x", "Bearer x" + right[1:], "Bearer  " + right,
		"Bearer " + strings.ToLower(right), "Bearer " + strings.Repeat("A", len(right)), "Bearer " + right + " ",
		"Basic " + right, right, "Bearer\t" + right, "Bearer " + right + ", Bearer " + right,
	}
	for _, value := range wrong {
		t.Run(fmt.Sprintf("%q", strings.ReplaceAll(value, right, "RIGHT")), func(t *testing.T) {
			// net/http trims the space at the ends of a value, on both sides of the wire.
			if strings.TrimSpace(value) == "Bearer "+right {
				t.Skip("is the right one by the time it arrives")
			}
			d.each(func(r *http.Request) {
				r.Header.Set("Authorization", value)
				g := d.do(r)
				g.want(t, http.StatusUnauthorized, map[string]any{"code": "UNAUTHORIZED"})
				if g.header.Get("WWW-Authenticate") != "Bearer" {
					t.Error("the reply does not say how to authenticate")
				}
			})
		})
	}
	t.Run("missing, in the URL, in a cookie", func(t *testing.T) {
		d.each(func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "token=" + right + "&access_token=" + right
			r.Header.Set("Cookie", "token="+right)
			d.do(r).want(t, http.StatusUnauthorized, nil)
		})
	})
	t.Run("twice", func(t *testing.T) {
		d.each(func(r *http.Request) {
			r.Header["Authorization"] = []string{"Bearer " + right, "Bearer " + right}
			d.do(r).want(t, http.StatusUnauthorized, nil)
		})
	})
	t.Run("unknown path without a token", func(t *testing.T) {
		r := d.request("GET", "/v2/secrets", "")
		r.Header.Del("Authorization")
		d.do(r).want(t, http.StatusUnauthorized, nil)
	})
	d.wantNothing()
	r := d.request("GET", "/v1/health", "")
	r.Header.Set("Authorization", "bearer "+right)
	d.do(r).want(t, http.StatusOK, nil)
}

func TestContentTypes(t *testing.T) {
	d := open(t)
	set := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Content-Type"] = values }
	}
	refused := map[string]func(*http.Request){
		"none":           set(),
		"empty":          set(""),
		"text":           set("text/plain"),
		"form":           set("application/x-www-form-urlencoded"),
		"multipart":      set("multipart/form-data; boundary=x"),
		"longer":         set("application/jsonp"),
		"suffix":         set("application/problem+json"),
		"another set":    set("application/json; charset=latin1"),
		"more":           set("application/json; boundary=x"),
		"two in one":     set("application/json, text/plain"),
		"two":            set("application/json", "text/plain"),
		"the same twice": set("application/json", "application/json"),
		"compressed":     func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") },
	}
	for name, spoil := range refused {
		t.Run(name, func(t *testing.T) {
			for path, body := range samples {
				r := d.request("POST", path, body)
				spoil(r)
				d.do(r).want(t, http.StatusUnsupportedMediaType, map[string]any{"code": "UNSUPPORTED_MEDIA_TYPE"})
			}
		})
	}
	t.Run("of a request without a body", func(t *testing.T) {
		r := d.request("GET", "/v1/health", "")
		r.Header.Set("Content-Type", "text/plain")
		d.do(r).want(t, http.StatusUnsupportedMediaType, nil)
	})
	d.wantNothing()
	d.policy.Set("Bash", policy.Allow)
	for _, fine := range []string{"application/json", "application/json; charset=utf-8",
		`Application/JSON;charset="UTF-8"`} {
		r := d.request("POST", "/v1/approve", samples["/v1/approve"])
		r.Header.Set("Content-Type", fine)
		d.do(r).want(t, http.StatusOK, map[string]any{"outcome": string(api.Allowed)})
	}
}

// What refuses must not cost: the search for the owner of a connection comes after the token.
func TestOwnerIsLookedUpLast(t *testing.T) {
	d := open(t)
	asked := 0
	stranger := func() (int, bool) { asked++; return d.server.uid + 1, true }
	r := d.request("GET", "/v1/health", "")
	good := r.Header.Clone()
	for _, spoil := range []func(){
		func() { r.Host = "evil.com" },
		func() { r.Header.Set("Origin", "null") },
		func() { r.Header.Del("Authorization") },
	} {
		r.Host, r.Header = r.URL.Host, good.Clone()
		spoil()
		if p := d.server.guard(r, true, stranger); p == nil || asked != 0 {
			t.Errorf("guard = %v after %d searches, want a refusal without one", p, asked)
		}
	}
	r.Host, r.Header = r.URL.Host, good.Clone()
	if p := d.server.guard(r, true, stranger); p == nil || p.Code != api.CodeForbidden || asked != 1 {
		t.Errorf("the connection of another user: %v, want FORBIDDEN", p)
	}
}

func TestMayAsk(t *testing.T) {
	for _, c := range []struct {
		uid   int
		known bool
		want  bool
	}{
		{1000, true, true}, {0, true, true}, {1001, true, false}, {65534, true, false},
		{0, false, true}, // the token decides
	} {
		if got := mayAsk(func() (int, bool) { return c.uid, c.known }, 1000); got != c.want {
			t.Errorf("%+v may ask: %v", c, got)
		}
	}
}
