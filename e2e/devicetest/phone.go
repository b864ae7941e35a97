// Package devicetest plays a phone that signs as a browser does.
package devicetest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"nod/interact"
	"nod/ipc/device"
)

// Phone is a device with a key of its own. It speaks to a server without a network between.
type Phone struct {
	t      testing.TB
	server http.Handler
	host   string
	key    *ecdsa.PrivateKey
}

// NewPhone returns a device that is not paired.
func NewPhone(t testing.TB, s *device.Server) *Phone {
	t.Helper()
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return At(t, u.Host, s)
}

// At is NewPhone for a server that a handler reaches.
func At(t testing.TB, host string, server http.Handler) *Phone {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &Phone{t, server, host, key}
}

// Over has it reach the server by a client, over the network. Any error fails the test.
func (p *Phone) Over(client *http.Client) *Phone {
	p.server = Network(client, p.host, func(r *http.Request, err error) {
		p.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	})
	return p
}

// Network reaches a host by a client. It replies with status 502 if it cannot, and then calls failed.
func Network(client *http.Client, host string, failed func(*http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := r.Clone(r.Context())
		out.RequestURI, out.URL.Scheme, out.URL.Host = "", "https", host
		reply, err := client.Do(out)
		if err != nil {
			failed(r, err)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer reply.Body.Close()
		w.WriteHeader(reply.StatusCode)
		_, _ = io.Copy(w, reply.Body)
	})
}

// Key is its public key, as the protocol has it.
func (p *Phone) Key() string {
	raw, err := p.key.PublicKey.Bytes()
	if err != nil {
		p.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Nonce fetches a nonce.
func (p *Phone) Nonce() string {
	p.t.Helper()
	var n Nonce
	if w := p.Send(p.Request("GET", "/nonce", nil)); json.Unmarshal(w.Body.Bytes(), &n) != nil || n.Nonce == "" {
		p.t.Fatalf("nonce: %d %s", w.Code, w.Body)
	}
	return n.Nonce
}

// Request is one that nobody has signed.
func (p *Phone) Request(method, path string, body any) *http.Request {
	p.t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			p.t.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(p.t.Context(), method, path, bytes.NewReader(text))
	r.Host = p.host
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// Sign signs a request with a nonce, whatever its body was when it was made.
func (p *Phone) Sign(r *http.Request, nonce string, body any) *http.Request {
	p.t.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	digest := sha256.Sum256(text)
	signed := strings.Join([]string{
		"nod-device-1", r.Method + " " + p.host, r.RequestURI, hex.EncodeToString(digest[:]), nonce,
	}, "\n")
	sum := sha256.Sum256([]byte(signed))
	x, y, err := ecdsa.Sign(rand.Reader, p.key, sum[:])
	if err != nil {
		p.t.Fatal(err)
	}
	raw := append(x.FillBytes(make([]byte, 32)), y.FillBytes(make([]byte, 32))...)
	r.Header.Set("Authorization", "Nod key="+p.Key()+", nonce="+nonce+", sig="+base64.RawURLEncoding.EncodeToString(raw))
	return r
}

// Send sends a request and returns the reply.
func (p *Phone) Send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.server.ServeHTTP(w, r)
	return w
}

// Do sends a signed request, and reads the reply into a value unless that is nil. It returns the status and the code of
// the problem, if there is one.
func (p *Phone) Do(method, path string, body, into any) (status int, code string) {
	p.t.Helper()
	w := p.Send(p.Sign(p.Request(method, path, body), p.Nonce(), body))
	return w.Code, Read(p.t, w, into)
}

// Read reads a reply into a value unless that is nil, or returns the code of the problem.
func Read(t testing.TB, w *httptest.ResponseRecorder, into any) (code string) {
	t.Helper()
	var problem Problem
	switch {
	case w.Code >= 400:
		_ = json.Unmarshal(w.Body.Bytes(), &problem)
	case into != nil:
		reply := json.NewDecoder(w.Body)
		reply.DisallowUnknownFields()
		if err := reply.Decode(into); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
	}
	return problem.Code
}

// Pair has it ask to be paired by the address of an invitation, and wait until that is decided.
func (p *Phone) Pair(invitation string) (status int, code string) {
	p.t.Helper()
	status, code, paired := p.Ask(invitation, false)
	for status == http.StatusOK && paired.Device == nil {
		status, code, paired = p.Ask(invitation, true)
	}
	return status, code
}

// Ask has it ask once to be paired by the address of an invitation.
func (p *Phone) Ask(invitation string, waits bool) (status int, code string, paired Paired) {
	p.t.Helper()
	u, err := url.Parse(invitation)
	if err != nil {
		p.t.Fatal(err)
	}
	told, err := url.ParseQuery(u.Fragment)
	if err != nil {
		p.t.Fatal(err)
	}
	asked := Pairing{Secret: told.Get("pair"), Key: p.Key(), Waits: waits}
	status, code = p.Do("POST", "/pair", asked, &paired)
	return status, code, paired
}

// View fetches a view, and its digest.
func (p *Phone) View(id interact.ID) (v View, digest string) {
	p.t.Helper()
	path := "/prompts/" + string(id)
	w := p.Send(p.Sign(p.Request("GET", path, nil), p.Nonce(), nil))
	digest = interact.Digest(w.Body.Bytes())
	if code := Read(p.t, w, &v); w.Code != http.StatusOK {
		p.t.Fatalf("view of %s: %d %s", id, w.Code, code)
	}
	return v, digest
}
