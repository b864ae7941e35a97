package boundary

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Programs as they are find the proxy by their environment, reach what is allowed, and show the reason of a refusal.
func TestPrograms(t *testing.T) {
	shop := t.TempDir()
	git(t, shop, "init", "-q", ".")
	git(t, shop, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	git(t, shop, "update-server-info")

	for _, test := range []struct {
		command []string
		shows   string // of the reason when refused
	}{
		{[]string{"curl", "-sS", "https://example.com/shop/.git/HEAD"}, "403"},
		{[]string{"curl", "-sSv", "https://example.com/shop/.git/HEAD"}, "you said no"},
		{[]string{"curl", "-sSf", "http://example.com/shop/.git/HEAD"}, "403"},
		{[]string{"curl", "-sS", "--http2", "https://example.com/shop/.git/HEAD"}, "403"},
		{[]string{"curl", "-sS", "--proxy", "socks5h://PROXY", "https://example.com/shop/.git/HEAD"}, "(2)"},
		{[]string{"curl", "-sS", "--proxy", "socks5h://PROXY", "http://example.com/shop/.git/HEAD"}, "(2)"},
		{[]string{"git", "ls-remote", "https://example.com/shop/.git"}, "403"},
		{[]string{"pip", "--disable-pip-version-check", "download", "--no-deps", "--no-binary=:all:", "--retries=1",
			"--index-url=https://example.com/simple", "--dest=DIR", "nothing"}, "you said no"},
		{[]string{"npm", "view", "--registry=https://example.com/npm", "--fetch-retries=0", "nothing", "name"}, "403"},
	} {
		name := strings.Join(test.command, " ")
		t.Run(name[:min(len(name), 60)], func(t *testing.T) {
			if _, err := exec.LookPath(test.command[0]); err != nil {
				t.Skipf("%s is not installed: nothing is known of it", test.command[0])
			}
			w := newWorld(t)
			run := w.runner(shop)
			out, err := run(test.command)
			isEmpty := strings.Contains(out, "No matching distribution") && !strings.Contains(out, "Retrying")
			if err != nil && !isEmpty {
				t.Errorf("allowed: %v\n%s", err, out)
			}
			w.wantQuestions("example.com")

			w = newWorld(t)
			w.answer = func(context.Context, Target) error { return errNo }
			if out, err = w.runner(shop)(test.command); err == nil && !strings.HasPrefix(name, "curl -sS http://") ||
				!strings.Contains(out, test.shows) {
				t.Errorf("refused: %v\n%s", err, out)
			}
			w.want("dialed", seen(w, &w.dialed))
		})
	}
}

// runner has example.com serve a git repository, a package of npm and an index of Python, and runs programs there.
func (w *world) runner(shop string) func(command []string) (string, error) {
	mux := http.NewServeMux()
	mux.Handle("/shop/", http.StripPrefix("/shop/", http.FileServer(http.Dir(shop))))
	mux.HandleFunc("/simple/nothing/", func(rw http.ResponseWriter, _ *http.Request) {
		io.WriteString(rw, "<!DOCTYPE html><title>nothing</title>")
	})
	mux.HandleFunc("/npm/nothing", func(rw http.ResponseWriter, _ *http.Request) {
		io.WriteString(rw, `{"name": "nothing", "dist-tags": {"latest": "1.0.0"},
			"versions": {"1.0.0": {"name": "nothing"}}}`)
	})
	secure, plain := httptest.NewUnstartedServer(mux), httptest.NewServer(mux)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	w.t.Cleanup(secure.Close)
	w.t.Cleanup(plain.Close)
	w.servers["93.184.215.14:443"] = secure.Listener.Addr().String()
	w.servers["93.184.215.14:80"] = plain.Listener.Addr().String()

	dir := w.t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return func(command []string) (string, error) {
		command = slices.Clone(command)
		for i := range command {
			command[i] = strings.NewReplacer("PROXY", w.address, "DIR", dir).Replace(command[i])
		}
		c := exec.CommandContext(w.t.Context(), command[0], command[1:]...)
		c.Dir = dir
		c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PIP_") }),
			w.environment()...)
		for _, name := range []string{
			"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE",
		} {
			c.Env = append(c.Env, name+"="+ca)
		}
		out, err := c.CombinedOutput()
		return string(out), err
	}
}

// environment is how programs find the proxy, in the variables that the sandbox sets.
func (w *world) environment() (list []string) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		list = append(list, name+"=http://"+w.address, strings.ToLower(name)+"=http://"+w.address)
	}
	return append(list, "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1")
}

func git(t *testing.T, folder string, args ...string) {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("git does not run here: %v\n%s", err, out)
	}
}
