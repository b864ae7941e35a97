package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/ipc/endpoint"
)

func valid() endpoint.Endpoint {
	return endpoint.Endpoint{
		URL: "http://127.0.0.1:7463", Socket: "/run/user/1000/nod/nod.sock", Token: endpoint.NewToken(), PID: 42,
		Version: "1.2.3",
	}
}

// Whatever the folder goes through, and whenever the next endpoint is published, it is seen.
func TestAwait(t *testing.T) {
	for name, meanwhile := range map[string]func(t *testing.T, dir string){
		"nothing else": func(*testing.T, string) {},
		"the file is removed": func(t *testing.T, dir string) {
			if err := os.Remove(endpoint.Path(dir)); err != nil {
				t.Error(err)
			}
		},
		"the folder is removed": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		},
		"the folder is moved": func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Error(err)
			}
		},
		"something else is published": func(t *testing.T, dir string) {
			if err := os.WriteFile(endpoint.Path(dir), []byte("{}"), 0o600); err != nil {
				t.Error(err)
			}
		},
		"the folder is opened to others": func(t *testing.T, dir string) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Error(err)
			}
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				dir, first, second := filepath.Join(t.TempDir(), "nod"), valid(), valid()
				if err := endpoint.Write(dir, first); err != nil {
					t.Fatal(err)
				}
				var other sync.WaitGroup
				other.Go(func() {
					meanwhile(t, dir)
					if err := endpoint.Write(dir, second); err != nil {
						t.Error(err)
					}
				})
				c := Client{Dir: dir}
				err := c.await(t.Context(), first)
				other.Wait()
				if err != nil || c.Current() != second {
					t.Fatalf("got %v, %v, want %v", c.Current(), err, second)
				}
			}
		})
	}
}

func TestAwaitEndsWithTheContext(t *testing.T) {
	dir, first := filepath.Join(t.TempDir(), "nod"), valid()
	if err := endpoint.Write(dir, first); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(enough)
	c := Client{Dir: dir}
	if err := c.await(ctx, first); c.Current() != (endpoint.Endpoint{}) || !errors.Is(err, enough) {
		t.Errorf("got %v, %v", c.Current(), err)
	}
}

// The endpoint is seen soon after it is published, also in a folder that was not there.
func TestAwaitIsQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, next := filepath.Join(t.TempDir(), "missing", "nod"), valid()
		began := time.Now()
		time.AfterFunc(10*lookEvery-1, func() {
			if err := errors.Join(os.Mkdir(filepath.Dir(dir), 0o700), endpoint.Write(dir, next)); err != nil {
				t.Error(err)
			}
		})
		c := Client{Dir: dir}
		err := c.await(t.Context(), valid())
		if took := time.Since(began); err != nil || c.Current() != next || took != 10*lookEvery {
			t.Errorf("got %v, %v after %v", c.Current(), err, took)
		}
	})
}
