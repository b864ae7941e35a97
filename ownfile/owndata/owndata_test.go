package owndata

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Of a folder that is the user's, too, only nod's files go.
func TestIn(t *testing.T) {
	for name, tt := range map[string]struct{ there, want []string }{
		"nothing":           {[]string{"nod/"}, []string{"nod"}},
		"nod's alone":       {[]string{"nod/config.yaml", "nod/nod.db", "nod/nod.db-wal"}, []string{"nod"}},
		"with its programs": {[]string{"nod/grants.json", "nod/bin/nod", "nod/bin/nod-desktop"}, []string{"nod"}},
		"not to its end":    {[]string{"nod/.config.yaml123", "nod/bin/.nod123"}, []string{"nod"}},
		"a user's file":     {[]string{"nod/config.yaml", "nod/notes"}, []string{"nod/config.yaml"}},
		"a user's program":  {[]string{"nod/bin/nod", "nod/bin/make"}, []string{"nod/bin/nod"}},
		"a user's folder":   {[]string{"nod/nod.db.d/x", "nod/config.yaml"}, []string{"nod/config.yaml"}},
		"a checkout":        {[]string{"nod/.git/HEAD", "nod/go.mod", "nod/bin/nod-dialogs"}, nil},
		"snapshots": {
			[]string{"nod/nod.log", "nod/snapshots/0123456789abcdef0123456789abcdef/HEAD", "nod/notes"},
			[]string{"nod/nod.log", "nod/snapshots"},
		},
		"a user's snapshots": {[]string{"nod/nod.log", "nod/snapshots/mine/HEAD"}, []string{"nod/nod.log"}},
		"a file":             {[]string{"nod"}, nil},
		"not there":          {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for _, path := range tt.there {
				path := home + "/" + path
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(path, "/") {
					continue
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var want []string
			for _, path := range tt.want {
				want = append(want, filepath.Join(home, path))
			}
			if got := In(filepath.Join(home, "nod")); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if got := In("nod"); got != nil {
		t.Errorf("a path from nowhere: %q", got)
	}
}

// What a link leads to is not nod's to delete.
func TestInBehindALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("few people may make links")
	}
	link := filepath.Join(t.TempDir(), "nod")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if got := In(link); !slices.Equal(got, []string{link}) {
		t.Errorf("got %q, want the link", got)
	}
}
