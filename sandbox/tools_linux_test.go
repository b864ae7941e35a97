package sandbox_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nod/sandbox"
)

// TestServe reaches a proxy outside by the listener inside, and nothing else.
func TestServe(t *testing.T) {
	w := newWorld(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	c := w.command("sh", "-c", "curl -sS http://example.org/x; curl -s --noproxy '*' http://127.0.0.1:1/ || echo none")
	ended := make(chan struct{})
	c.Serve = func(file *os.File) {
		l, err := net.FileListener(file)
		if err != nil {
			t.Error(err)
			return
		}
		go func() { <-ended; _ = l.Close() }()
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "asked for "+r.URL.String()+"\n")
		}))
	}
	out, status, err := w.run(c)
	if !strings.HasPrefix(out, "asked for http://example.org/x\n") || !strings.HasSuffix(out, "none\n") || err != nil {
		t.Errorf("%q, status %d: %v", out, status, err)
	}
	close(ended)
}

// TestToolchains builds and tests small projects with the tools of this machine, cold and warm, without a network.
func TestToolchains(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		files map[string]string
		line  string
	}{
		"go": {map[string]string{
			"go.mod": "module m\n\ngo 1.21\n", "m.go": "package m\n\nfunc One() int { return 1 }\n",
			"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) { t.Log(One()) }\n",
		}, "go build ./... && go test ./..."},
		"make": {map[string]string{
			"m.c": "int main(void) { return 0; }\n", "Makefile": "m: m.c\n\tgcc -o m m.c\ntest: m\n\t./m\n",
		}, "make -B test"},
		"npm": {map[string]string{
			"package.json": `{"name":"m","version":"1.0.0","scripts":{"test":"node --test"}}`,
			"m.test.js":    "require('node:test')('one', () => require('node:assert').equal(1, 1));\n",
		}, "npm install --offline --no-audit && npm test"},
		"cargo": {map[string]string{
			"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs": "#[test]\nfn one() { assert_eq!(1, 1); }\n",
		}, "cargo test --offline"},
		"python3": {map[string]string{
			"test_m.py": "import unittest\nclass M(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n",
		}, "python3 -m venv --without-pip v && v/bin/python -m unittest"},
		"pytest": {map[string]string{
			"m.py": "def one(): return 1\n", "test_m.py": "from m import one\ndef test_one(): assert one() == 1\n",
		}, "pytest -q"},
		"pnpm": {map[string]string{
			"package.json":   `{"name":"m","version":"1.0.0","scripts":{"test":"node t.js"},"dependencies":{"n":"file:n"}}`,
			"n/package.json": `{"name":"n","version":"1.0.0"}`, "n/index.js": "module.exports = 1\n",
			"t.js": "process.exit(require('n') - 1)\n",
		}, "pnpm install --offline && pnpm test && rm -r node_modules"},
		"git": {map[string]string{"x": "x"}, "rm -rf r && git init -q r && cd r && touch a && git add -A && " +
			"git -c user.name=n -c user.email=e commit -qm one && git log --oneline"},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine(t, sandbox.Bubblewrap)
			if _, err := exec.LookPath(strings.Fields(name)[0]); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			project := filepath.Join(dir, "project")
			for name, text := range tt.files {
				path := filepath.Join(project, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			log, err := os.Create(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			in := func(names ...string) (paths []string) {
				for _, name := range names {
					paths = append(paths, filepath.Join(home, name))
				}
				return paths
			}
			for _, state := range []string{"cold", "warm"} {
				status, err := e.Run(t.Context(), sandbox.Command{
					Profile: sandbox.Profile{
						Project: project, Write: true, Private: filepath.Join(dir, "private"),
						Show: in(".pyenv", ".rustup", ".nvm"), Warm: in(".cache", ".npm", ".cargo", "go"),
					},
					Argv: []string{"sh", "-c", tt.line}, Env: os.Environ(), Stdout: log, Stderr: log,
				})
				if text, _ := os.ReadFile(log.Name()); status != 0 || err != nil {
					t.Fatalf("%s: status %d: %v: %s", state, status, err, text)
				}
			}
		})
	}
}

// A command that keeps the first process from counting ends, and one whose words would become others does not start.
func TestWhatNobodyCanCountOrSpell(t *testing.T) {
	w := newWorld(t)
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip(err)
	}
	out, _, err := w.run(w.command("sh", "-c", "prlimit --pid 1 --nofile=3:3; sleep 10; echo still"))
	if err == nil || !strings.Contains(err.Error(), "count its processes") || strings.Contains(out, "still") {
		t.Errorf("%q: %v", out, err)
	}
	if out, _, err := w.run(w.command("echo", "a\xff")); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("%q: %v", out, err)
	}
}
