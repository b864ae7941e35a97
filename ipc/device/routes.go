package device

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"time"

	strict "github.com/go-json-experiment/json"

	"nod/interact"
	"nod/ipc/remote"
)

const (
	pathNonce   = "/nonce"
	pathPair    = "/pair"
	pathPrompts = "/prompts"
	pathAnswer  = "/answer"
	pathPush    = "/push"
	pathTrust   = "/nod.crt"
)

// contentTypes are those of the page's files, by their extension. Nothing else is served.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".png": "image/png",
}

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types nod")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}

// guard refuses requests from other pages, and addresses that ask too often. Browsers cannot be made to omit or forge
// the headers that it checks.
func (s *Server) guard(r *http.Request) *Problem {
	if r.Host != s.host {
		return &Problem{Code: codeMisdirected, Message: "The Host header names another server."}
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && origins[0] != "https://"+s.host {
		return refused()
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default: // links may lead to the page, but other pages must not use its parts
		isLink := r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
			r.Header.Get("Sec-Fetch-Dest") == "document"
		if !isLink {
			return refused()
		}
	}
	if !s.rates.allow(peerAddress(r.RemoteAddr)) {
		return busy()
	}
	return nil
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathNonce, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, Nonce{s.nonces.make()})
	})
	mux.HandleFunc("POST "+pathPair, s.pair)
	mux.HandleFunc("GET "+pathPrompts, s.signed(s.prompts))
	mux.HandleFunc("GET "+pathPrompts+"/{id}", s.signed(s.view))
	mux.HandleFunc("POST "+pathAnswer, s.signed(s.answer))
	mux.HandleFunc("POST "+pathPush, s.signed(s.subscribe))
	mux.HandleFunc("GET "+pathTrust, s.trust)
	mux.HandleFunc("GET /", s.page)
	return mux
}

// page serves the page's files, which are public.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[1:]
	if name == "" {
		name = "index.html"
	}
	contentType, isKnown := contentTypes[path.Ext(name)]
	text, err := fs.ReadFile(s.config.Page, name)
	if err != nil || !isKnown {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(text) // whoever hung up reads nothing
}

// trust serves the authority's certificate for phones.
func (s *Server) trust(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Header().Set("Content-Disposition", `attachment; filename="nod.crt"`)
	_, _ = w.Write(Authority(s.config.Certificate)) // whoever hung up reads nothing
}

// read reads a request with its body and verifies the signature, but neither whether the key is paired nor the nonce.
func read(r *http.Request) (body []byte, c credentials, p *Problem) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return nil, c, problem(codeInvalid, "This is too long.")
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
		return nil, c, refused()
	}
	c, ok := readCredentials(r.Header)
	if !ok || !c.verify(signedText(r.Method, r.Host, r.RequestURI, body, c.nonce)) {
		return nil, c, unpaired()
	}
	return body, c, nil
}

// decode reads a body and refuses unknown fields.
func decode(body []byte, into any) *Problem {
	if err := strict.Unmarshal(body, into, strict.RejectUnknownMembers(true)); err != nil {
		return &Problem{Code: codeInvalid, Message: err.Error()}
	}
	return nil
}

// pair lets the device with the invitation's secret ask to be paired, and returns the user's decision.
func (s *Server) pair(w http.ResponseWriter, r *http.Request) {
	paired, p := s.paired(r)
	if p != nil {
		writeProblem(w, p)
		return
	}
	w.Header().Set("Nod-Nonce", s.nonces.make())
	writeJSON(w, http.StatusOK, paired)
}

func (s *Server) paired(r *http.Request) (paired Paired, p *Problem) {
	body, c, p := read(r)
	if p != nil {
		return paired, p
	}
	var asked Pairing
	if p := decode(body, &asked); p != nil {
		return paired, p
	}
	if asked.Key != c.key {
		return paired, unpaired()
	}
	paired.Words = remote.Key{Sign: c.key}.Fingerprint()
	over, isNew, p := s.invitations.ask(asked.Secret, c.key, func() bool { return s.nonces.spend(c.nonce) })
	if p != nil && p.Code == codeInvitation {
		return s.decided(paired, c)
	} else if p != nil {
		return paired, p
	}
	if isNew {
		s.config.Log.Info("a device asks to be paired", "words", paired.Words, "from", r.RemoteAddr)
		s.config.Desk.Asked()
	}
	if !asked.Waits {
		return paired, nil
	}
	if !s.enter(c.key) {
		return paired, busy()
	}
	defer s.leave(c.key)
	select {
	case <-r.Context().Done():
	case <-time.After(newsTimeout):
	case <-over:
		return s.decided(paired, c)
	}
	return paired, nil
}

// decided is the reply to a device whose invitation has ended: the user may have admitted it.
func (s *Server) decided(paired Paired, c credentials) (Paired, *Problem) {
	device, isPaired := s.config.Desk.Find(c.key)
	if !isPaired {
		return paired, uninvited()
	}
	paired.Device = &Device{device.Name, device.May}
	return paired, nil
}

func (s *Server) problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	s.config.Log.Error("a device's request failed", "err", err)
	return problem(codeBroken, "nod could not do this: its log says why.")
}

// request is a signed request of a paired device.
type request struct {
	*http.Request
	device remote.Peer
	body   []byte
}

// reply is a handler's result: JSON, nothing, or a problem.
type reply struct {
	text    []byte
	problem *Problem
}

// signed makes h answer each signed request of a paired device once.
func (s *Server) signed(h func(request) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, c, p := read(r)
		var device remote.Peer
		if p == nil {
			device, p = s.known(c)
		}
		if p != nil {
			writeProblem(w, p)
			return
		}
		markKnown(r.Context())
		result := h(request{r, device, body})
		w.Header().Set("Nod-Nonce", s.nonces.make())
		switch {
		case result.problem != nil:
			writeProblem(w, result.problem)
		case result.text == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			writeText(w, http.StatusOK, result.text)
		}
	}
}

// known returns the paired device that signed a request, if the nonce is valid.
func (s *Server) known(c credentials) (remote.Peer, *Problem) {
	device, ok := s.config.Desk.Find(c.key)
	if !ok {
		return remote.Peer{}, unpaired()
	}
	if !s.nonces.spend(c.nonce) {
		return remote.Peer{}, stale()
	}
	return device, nil
}

// prompts replies as soon as the pending prompts differ from those that the device knows.
func (s *Server) prompts(r request) reply {
	changes, stop := s.config.Desk.Changes()
	defer stop()
	if !s.enter(r.device.Key.Sign) {
		return reply{problem: busy()}
	}
	defer s.leave(r.device.Key.Sign)
	after, timeout := r.URL.Query().Get("after"), time.After(newsTimeout)
	for {
		device, isPaired := s.config.Desk.Find(r.device.Key.Sign)
		if !isPaired {
			return reply{problem: unpaired()}
		}
		all := s.all(device)
		if all.Cursor != after {
			return s.replyWith(all)
		}
		select {
		case <-r.Context().Done():
			return s.replyWith(all)
		case <-timeout:
			return s.replyWith(all)
		case <-changes:
		}
	}
}

func (s *Server) enter(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[key] >= maxWaiting {
		return false
	}
	s.waiting[key]++
	return true
}

func (s *Server) leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[key]--; s.waiting[key] == 0 {
		delete(s.waiting, key)
	}
}

// all returns the pending prompts of a device. Its cursor ignores how long each waits.
func (s *Server) all(d remote.Peer) Prompts {
	all := Prompts{
		Desk: s.config.Desk.About(), Device: Device{d.Name, d.May}, Push: s.config.Desk.PushKey(),
		Prompts: s.config.Desk.Prompts(d),
	}
	timeless := all
	timeless.Prompts = make([]Headline, len(all.Prompts))
	for i, h := range all.Prompts {
		h.AgeMS, h.LeftMS = 0, 0
		timeless.Prompts[i] = h
	}
	text, _ := json.Marshal(timeless) // numbers and strings
	all.Cursor = interact.Digest(text)[:16]
	return all
}

func (s *Server) replyWith(v any) reply {
	text, err := json.Marshal(v)
	if err != nil {
		return reply{problem: s.problemOf(err)}
	}
	return reply{text: text}
}

// viewOf returns the current view of a prompt, and its bytes.
func (s *Server) viewOf(r request, id interact.ID) (View, []byte, *Problem) {
	view, err := s.config.Desk.View(r.Context(), r.device, id)
	if err != nil {
		return View{}, nil, s.problemOf(err)
	}
	view.ArmMS = s.config.ArmAfter().Milliseconds()
	text, err := json.Marshal(view)
	if err != nil {
		return View{}, nil, s.problemOf(err)
	}
	return view, text, nil
}

func (s *Server) view(r request) reply {
	id := interact.ID(r.PathValue("id"))
	_, text, p := s.viewOf(r, id)
	if p != nil {
		return reply{problem: p}
	}
	s.sent.add(r.device.Key.Sign, id, interact.Digest(text), s.config.Desk.Prompts(r.device))
	return reply{text: text}
}

// answer accepts an answer if the device has shown the current view for long enough.
func (s *Server) answer(r request) reply {
	var a Answer
	if p := decode(r.body, &a); p != nil {
		return reply{problem: p}
	}
	view, text, p := s.viewOf(r, a.ID)
	if p != nil {
		return reply{problem: p}
	}
	at, isSent := s.sent.at(r.device.Key.Sign, a.ID, a.Digest)
	if !isSent || a.Digest != interact.Digest(text) || a.Revision != view.Revision {
		return reply{problem: Changed()}
	}
	if p := a.check(view, time.Since(at)); p != nil {
		return reply{problem: p}
	}
	switch now, isPaired := s.config.Desk.Find(r.device.Key.Sign); { // the view may have taken a while
	case !isPaired:
		return reply{problem: unpaired()}
	case now.May != r.device.May:
		return reply{problem: Changed()}
	}
	if err := s.config.Desk.Answer(r.Context(), r.device, a.ID, a.answer(r.device, view, at)); err != nil {
		return reply{problem: s.problemOf(err)}
	}
	return reply{}
}

func (s *Server) subscribe(r request) reply {
	var to Subscription
	if p := decode(r.body, &to); p != nil {
		return reply{problem: p}
	}
	if err := s.config.Desk.Subscribe(r.device, to); err != nil {
		return reply{problem: s.problemOf(err)}
	}
	return reply{}
}
