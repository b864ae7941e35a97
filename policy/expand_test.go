//go:build unix

package policy

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Where it has an answer, expand finds what filepath.Glob finds.
func TestExpand(t *testing.T) {
	home := tree(t)
	if err := syscall.Mkfifo(filepath.Join(home, "pipe"), 0o600); err != nil { // listing it must not wait
		t.Fatal(err)
	}
	for _, pattern := range []string{
		"", "/*", "/src/*", "/src/*/a.go", "/*/*/*", "/s?c*/[a-s]*", "/.c*/*", "/none/*", "/src/shop/a.go/*", "/alias/*/f*",
		"/pipe/*", "/src/\\*",
	} {
		want, err := filepath.Glob(home + pattern)
		if err != nil {
			t.Fatal(err)
		}
		e := expansion{left: maxLooked}
		got, ok := e.expand(home + pattern)
		slices.Sort(got)
		slices.Sort(want)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", pattern, got, ok, want)
		}
	}
	for _, bad := range []string{"/[", "/src/[a"} {
		if got, ok := (&expansion{left: maxLooked}).expand(home + bad); ok {
			t.Errorf("%s: %v, want no answer", bad, got)
		}
	}
}

func TestExpandStops(t *testing.T) {
	e := expansion{left: maxLooked}
	for _, ok := e.expand("/*/*/*/*/*/*/*/*"); ok; _, ok = e.expand("/*/*/*/*/*/*/*/*") {
	}
	if e.left > 0 {
		t.Errorf("stopped with %d names left", e.left)
	}
	// What cannot be looked through is not let pass by its class, whether or not it is in fact harmless.
	home := tree(t)
	p, err := Compile(Default(), Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"cat " + strings.Repeat("/usr/*/*/* ", 200),
		"cat l*/../x", // a link that the pattern matches leads somewhere before ".." does
	} {
		call := bash(command).with(func(c *Call) { c.CWD = filepath.Join(home, "src") })
		if d := Decide(call, p, testNow); d.Effect != Ask {
			t.Errorf("%.40s: %+v, want ask", command, d)
		}
	}
}
