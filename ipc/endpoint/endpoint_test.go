package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func valid() Endpoint {
	return Endpoint{
		URL: "http://127.0.0.1:7463", Socket: "/run/user/1000/nod/nod.sock", Token: NewToken(), PID: 42, Version: "1.2.3",
	}
}

func private700(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "nod")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWriteThenRead(t *testing.T) {
	dir := private700(t)
	for range 2 { // the second replaces the first
		want := valid()
		if err := Write(dir, want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(dir)
		if err != nil || got != want {
			t.Fatalf("Read = %#v, %v; want %#v", got, err, want)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left in the folder, want endpoint.json only", len(files))
	}
}

// A file of ours that its mode keeps us from reading is replaced, too; root reads it all the same.
func TestRestoreOfAFileThatNobodyCanRead(t *testing.T) {
	dir, want := private700(t), valid()
	if err := Write(dir, want); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(Path(dir), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(dir, want); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(dir); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadNothingPublished(t *testing.T) {
	if _, err := Read(private700(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v, want fs.ErrNotExist", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "nod")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v, want fs.ErrNotExist", err)
	}
}

func TestRemove(t *testing.T) {
	dir := private700(t)
	e := valid()
	if err := Remove(dir, e.PID); err != nil {
		t.Errorf("nothing to remove: %v", err)
	}
	if err := Write(dir, e); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir, e.PID+1); err != nil {
		t.Error(err)
	}
	if _, err := Read(dir); err != nil {
		t.Errorf("the endpoint of another process is gone: %v", err)
	}
	if err := Remove(dir, e.PID); err != nil {
		t.Error(err)
	}
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Remove: %v, want fs.ErrNotExist", err)
	}
}

func TestReadRefusesContent(t *testing.T) {
	object := func(change func(map[string]any)) string {
		text, _ := json.Marshal(valid())
		m := map[string]any{}
		json.Unmarshal(text, &m)
		change(m)
		text, _ = json.Marshal(m)
		return string(text)
	}
	set := func(key string, value any) string { return object(func(m map[string]any) { m[key] = value }) }
	good := object(func(map[string]any) {})
	cases := []struct{ name, text, want string }{
		{"nothing", "", "understands"},
		{"no JSON", "hello", "understands"},
		{"array", "[]", "understands"},
		{"null", "null", "url"},
		{"unknown key", set("shell", "/bin/sh"), "understands"},
		{"wrong type", set("pid", "42"), "understands"},
		{"trailing data", good + "{}", "understands"},
		{"no token", object(func(m map[string]any) { delete(m, "token") }), "token"},
		{"short token", set("token", "abc"), "token"},
		{"long token", set("token", NewToken()+"AAAA"), "token"},
		{"url of another host", set("url", "http://192.0.2.1:7463"), "loopback"},
		{"url with a name", set("url", "http://localhost:7463"), "loopback"},
		{"url with a user", set("url", "http://a@127.0.0.1:7463"), "nothing more"},
		{"url with a path", set("url", "http://127.0.0.1:7463/"), "nothing more"},
		{"https", set("url", "https://127.0.0.1:7463"), "nothing more"},
		{"no port", set("url", "http://127.0.0.1"), "nothing more"},
		{"port 0", set("url", "http://127.0.0.1:0"), "port"},
		{"relative socket", set("socket", "nod.sock"), "absolute"},
		{"no process", set("pid", 0), "pid"},
		{"no version", set("version", ""), "version"},
		{"too big", good + strings.Repeat(" ", maxSize), "larger than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := private700(t)
			if err := os.WriteFile(Path(dir), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Read(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Read = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestWriteRefusesNonsense(t *testing.T) {
	e := valid()
	e.URL = "http://0.0.0.0:7463"
	dir := private700(t)
	if err := Write(dir, e); err == nil {
		t.Error("an address beyond loopback was published")
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Error("a refused endpoint left a file")
	}
}

func TestNoTokenInPrintsAndLogs(t *testing.T) {
	e := valid()
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		fmt.Fprintf(&out, verb+"\n", e)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("listening", "endpoint", e)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("listening", "endpoint", e)
	if strings.Contains(out.String(), e.Token) {
		t.Errorf("the token shows in:\n%s", out.String())
	}
	if strings.Count(out.String(), e.URL) != 6 {
		t.Errorf("the address does not show in:\n%s", out.String())
	}
}

func TestNewTokenNeverRepeats(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		seen[NewToken()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("1000 tokens, %d different ones", len(seen))
	}
}

func FuzzParse(f *testing.F) {
	text, _ := json.Marshal(valid())
	f.Add(text)
	f.Add([]byte(`{"url":"http://[::1]:1","token":"","pid":-1}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parse(text)
		if err != nil {
			return
		}
		if err := e.check(); err != nil {
			t.Errorf("parse accepted what check refuses: %v", err)
		}
		again, _ := json.Marshal(e)
		if got, err := parse(again); err != nil || got != e {
			t.Errorf("parse(marshal(e)) = %#v, %v; want %#v", got, err, e)
		}
	})
}

// A folder is located without being made.
func TestLocate(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", parent)
	want := filepath.Join(parent, "nod")
	if got, err := Locate(); err != nil || got != want {
		t.Errorf("Locate() = %q, %v, want %q", got, err, want)
	}
	if _, err := os.Lstat(want); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was made: %v", want, err)
	}
}
