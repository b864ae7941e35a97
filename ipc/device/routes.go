package device

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"time"

	strict "github.com/go-json-experiment/json"

	"nod/interact"
	"nod/ipc/remote"
)

// contentTypes are the types of the page's files, by extension. Other files are not served.
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

// misdirected is a message for programs, because no page can cause it.
const misdirected = "The Host header names another server."

// guard refuses requests from other pages, and addresses that ask too often. Browsers cannot be made to omit or forge
// the headers that it checks.
func (s *Server) guard(r *http.Request) error {
	if r.Host != s.host {
		return failed(codeMisdirected, misdirected)
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && origins[0] != "https://"+s.host {
		return errRefused
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default: // links may lead to the page, but other pages must not use its parts
		isLink := r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
			r.Header.Get("Sec-Fetch-Dest") == "document"
		if !isLink {
			return errRefused
		}
	}
	if !s.rates.allow(peerAddress(r.RemoteAddr)) {
		return errBusy
	}
	return nil
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /nonce", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"nonce": s.nonces.make()})
	})
	mux.HandleFunc("POST /pair", s.signed(s.pair))
	mux.HandleFunc("GET /prompts", s.known(s.prompts))
	mux.HandleFunc("GET /prompts/{id}", s.known(s.view))
	mux.HandleFunc("POST /answer", s.known(s.answer))
	mux.HandleFunc("POST /push", s.known(s.subscribe))
	mux.HandleFunc("GET /nod.crt", s.trust)
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
	tag := `"` + interact.Digest(text)[:32] + `"`
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(text) // the client may have hung up
}

// trust serves the authority's certificate for phones.
func (s *Server) trust(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Header().Set("Content-Disposition", `attachment; filename="nod.crt"`)
	_, _ = w.Write(authority(s.config.Certificate)) // the client may have hung up
}

// request is a request that a device has signed.
type request struct {
	*http.Request
	credentials
	device remote.Peer // paired with that key; none before that
	body   []byte
	reply  http.Header
}

// read reads a request with its body and verifies the signature. It checks neither the nonce nor whether the key is
// paired.
func read(r *http.Request) (request, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return request{}, failed(codeInvalid, "This is too long.")
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
		return request{}, errRefused
	}
	c, ok := readCredentials(r.Header)
	if !ok || !c.verify(signedText(r.Method, r.Host, r.RequestURI, body, c.nonce)) {
		return request{}, errUnpaired
	}
	return request{Request: r, credentials: c, body: body}, nil
}

// decode reads a body and refuses unknown fields.
func (r request) decode(into any) error {
	if err := strict.Unmarshal(r.body, into, strict.RejectUnknownMembers(true)); err != nil {
		return failed(codeInvalid, err.Error())
	}
	return nil
}

// signed makes h reply to signed requests: with JSON, or with nothing if it returns nil.
func (s *Server) signed(h func(request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var result any
		signed, err := read(r)
		if err == nil {
			signed.reply = w.Header()
			result, err = h(signed)
		}
		switch {
		case err != nil:
			s.writeProblem(w, err)
		case result == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			writeJSON(w, http.StatusOK, result)
		}
	}
}

// known makes h handle each request of a paired device once.
func (s *Server) known(h func(request) (any, error)) http.HandlerFunc {
	return s.signed(func(r request) (any, error) {
		var isPaired bool
		if r.device, isPaired = s.config.Desk.Find(r.key); !isPaired {
			return nil, errUnpaired
		}
		if !s.nonces.spend(r.nonce) {
			return nil, errStale
		}
		markKnown(r.Context())
		result, err := h(r)
		s.addNonce(r)
		return result, err
	})
}

func (s *Server) addNonce(r request) { r.reply.Set("Nod-Nonce", s.nonces.make()) }

// pair lets a device with the invitation's secret ask to be paired, and returns the user's decision.
func (s *Server) pair(r request) (any, error) {
	var asked pairing
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	if asked.Key != r.key {
		return nil, errUnpaired
	}
	now := paired{Words: remote.Key{Sign: r.key}.Fingerprint()}
	over, isNew, err := s.ask(asked.Secret, r.key, func() bool { return s.nonces.spend(r.nonce) })
	if err == errUninvited {
		return s.decided(r, now)
	} else if err != nil {
		return nil, err
	}
	if isNew {
		s.config.Log.Info("a device asks to be paired", "words", now.Words, "from", r.RemoteAddr)
		s.config.Desk.Asked()
	}
	if asked.Waits {
		if !s.enter(r.key) {
			return nil, errBusy
		}
		defer s.leave(r.key)
		select {
		case <-r.Context().Done():
		case <-time.After(newsTimeout):
		case <-over:
			return s.decided(r, now)
		}
	}
	s.addNonce(r)
	return now, nil
}

// decided returns the reply to a device whose invitation has ended, because the user may have admitted it.
func (s *Server) decided(r request, now paired) (any, error) {
	device, isPaired := s.config.Desk.Find(r.key)
	if !isPaired {
		return nil, errUninvited
	}
	now.Device = &self{device.Name, device.May}
	s.addNonce(r)
	return now, nil
}

// prompts replies as soon as the pending prompts differ from those that the device knows.
func (s *Server) prompts(r request) (any, error) {
	changes, stop := s.config.Desk.Changes()
	defer stop()
	if !s.enter(r.key) {
		return nil, errBusy
	}
	defer s.leave(r.key)
	after, timeout := r.URL.Query().Get("after"), time.After(newsTimeout)
	for isOver := false; ; {
		device, isPaired := s.config.Desk.Find(r.key)
		if !isPaired {
			return nil, errUnpaired
		}
		if all := s.all(device); isOver || all.Cursor != after {
			return all, nil
		}
		select {
		case <-r.Context().Done():
			isOver = true
		case <-timeout:
			isOver = true
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
func (s *Server) all(d remote.Peer) prompts {
	all := prompts{
		Desk: s.config.Desk.About(), Device: self{d.Name, d.May}, Push: s.config.Desk.PushKey(),
		Prompts: s.config.Desk.Prompts(d),
	}
	timeless := all
	timeless.Prompts = slices.Clone(all.Prompts)
	for i := range timeless.Prompts {
		timeless.Prompts[i].AgeMS, timeless.Prompts[i].LeftMS = 0, 0
	}
	text, _ := json.Marshal(timeless) // numbers and strings
	all.Cursor = interact.Digest(text)[:16]
	return all
}

func (s *Server) view(r request) (any, error) {
	id := interact.ID(r.PathValue("id"))
	view, err := s.config.Desk.View(r.Context(), r.device, id)
	if err != nil {
		return nil, err
	}
	s.sent.add(r.key, id, interact.Digest(view.Text), s.config.Desk.Prompts(r.device))
	return json.RawMessage(view.Text), nil
}

// answer accepts an answer if the device has shown the current view for long enough.
func (s *Server) answer(r request) (any, error) {
	var a answer
	if err := r.decode(&a); err != nil {
		return nil, err
	}
	view, err := s.config.Desk.View(r.Context(), r.device, a.ID) // anew: it shows files, which may have changed
	if err != nil {
		return nil, err
	}
	at, isSent := s.sent.at(r.key, a.ID, a.Digest)
	if !isSent || a.Digest != interact.Digest(view.Text) || a.Revision != view.Revision {
		return nil, ErrChanged
	}
	if err := a.check(view, time.Since(at)); err != nil {
		return nil, err
	}
	switch now, isPaired := s.config.Desk.Find(r.key); { // the view may have taken a while
	case !isPaired:
		return nil, errUnpaired
	case now.May != r.device.May:
		return nil, ErrChanged
	}
	return nil, s.config.Desk.Answer(r.Context(), r.device, a.ID, a.answer(r.device, view, at))
}

func (s *Server) subscribe(r request) (any, error) {
	var to Subscription
	if err := r.decode(&to); err != nil {
		return nil, err
	}
	return nil, s.config.Desk.Subscribe(r.device, to)
}
