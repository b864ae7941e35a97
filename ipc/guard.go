package ipc

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"nod/api"
)

// hostsOf lists the values of Host that name a server at the given URL. The list is exact, because a web page could get
// in with a name that merely resolves to this machine (DNS rebinding).
func hostsOf(serverURL string) map[string]bool {
	u, err := url.Parse(serverURL)
	if err != nil {
		return nil
	}
	hosts := map[string]bool{u.Host: true}
	for _, name := range []string{"127.0.0.1", "::1", "localhost"} {
		hosts[net.JoinHostPort(name, u.Port())] = true
	}
	return hosts
}

// socketHost is the Host of a caller on the socket that does not know the port.
const socketHost = "nod"

// guard returns why a request is refused, or nil. It does not read the body. onSocket says whether it came through the
// Unix socket; user returns who sent it.
func (s *Server) guard(r *http.Request, onSocket bool, user func() (uid int, known bool)) *problem {
	if why := s.browser(r, onSocket); why != "" {
		return newProblem(api.CodeForbidden, why)
	}
	if !s.authorized(r) {
		return unauthorized()
	}
	// Last, because it costs the most to find out on the port.
	if !mayAsk(user, s.uid) {
		return newProblem(api.CodeForbidden, "the connection comes from another user")
	}
	return checkContentType(r)
}

// browser returns what suggests that a web page sent the request, or "".
func (s *Server) browser(r *http.Request, onSocket bool) string {
	if !s.hosts[r.Host] && !(onSocket && r.Host == socketHost) {
		return "the Host header does not name this server"
	}
	for _, header := range [...]string{"Origin", "Referer", "Sec-Fetch-Site"} {
		if r.Header[header] != nil && !(header == "Origin" && s.isOwnOrigin(r)) {
			return "the " + header + " header says that a web page is asking"
		}
	}
	if r.Method == http.MethodOptions {
		return "OPTIONS is what a web page asks with"
	}
	return ""
}

// isOwnOrigin reports whether an MCP request has the listener's own address as its origin, which that protocol permits.
// It is safe because the server serves no scripts.
func (s *Server) isOwnOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	host, isHTTP := "", false
	if len(origins) == 1 {
		host, isHTTP = strings.CutPrefix(origins[0], "http://")
	}
	return r.URL.Path == mcpPath && isHTTP && s.hosts[host]
}

// authorized reports whether the request carries the token, in constant time.
func (s *Server) authorized(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

// checkContentType refuses bodies that a web page can send without a CORS preflight.
func checkContentType(r *http.Request) *problem {
	values := r.Header.Values("Content-Type")
	if len(values) == 0 && r.Method != http.MethodPost {
		return nil
	}
	if len(values) != 1 || !isJSON(values[0]) {
		return newProblem(api.CodeUnsupportedMedia, "want Content-Type: application/json")
	}
	if r.Header.Values("Content-Encoding") != nil {
		return newProblem(api.CodeUnsupportedMedia, "want the body as it is, without a Content-Encoding")
	}
	return nil
}

func isJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	isUTF8 := len(params) == 0 || len(params) == 1 && strings.EqualFold(params["charset"], "utf-8")
	return err == nil && media == "application/json" && isUTF8
}
