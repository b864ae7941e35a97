//go:build unix

package git

import (
	"reflect"
	"strings"
	"testing"
)

func TestRevision(t *testing.T) {
	tests := []struct {
		word, rev string
		paths     []string
	}{
		{"HEAD", "HEAD", nil},
		{"main..feat", "main..feat", nil},
		{"HEAD:.env", "HEAD", []string{".env"}},
		{"^HEAD:.env", "HEAD", []string{".env"}},
		{"HEAD:", "HEAD", []string{""}},
		{"HEAD:./x", "HEAD", []string{"./x"}},
		{"HEAD:../x", "HEAD", []string{"../x"}},
		{"HEAD~2^{tree}:a:b", "HEAD~2^{tree}", []string{"a:b"}},
		{"HEAD^{/fix: one}", "HEAD^{/fix: one}", nil},
		{"HEAD^{/fix: one}:.env", "HEAD^{/fix: one}", []string{".env"}},
		{"main@{2026-01-01 10:00:00}:.env", "main@{2026-01-01 10:00:00}", []string{".env"}},
		{"main@{10:00", "main@{10", []string{"00"}},
		{":.env", ":", []string{".env", ".env"}},
		{":0:.env", ":0", []string{".env", "0:.env"}},
		{":3:./.env", ":3", []string{"./.env", "3:./.env"}},
		{":4:.env", ":", []string{"4:.env", "4:.env"}},
		{":/fix", ":/fix", []string{"fix"}},
		{":!x", ":", []string{"!x", "x"}},
		{":^x", ":", []string{"^x", "x"}},
		{":/!x", ":/!x", []string{"x"}},
		{"::x", ":", []string{":x", "x"}},
		{":(top,exclude)x", ":", []string{"(top,exclude)x", "x"}},
		{":(attr:a\\)b)x", ":", []string{"(attr:a\\)b)x", "x"}},
		{":(glob)**/.env", ":", []string{"(glob)**/.env", "**/.env"}},
		{"HEAD:a..main:b", "HEAD", []string{"a..main:b", "a", "b"}},
		{"HEAD...main:b", "HEAD...main", []string{"b"}},
		{"HEAD:.env^!", "HEAD", []string{".env^!", ".env"}},
		{"HEAD:docs/a..b", "HEAD", []string{"docs/a..b", "docs/a"}},
	}
	for _, test := range tests {
		if rev, paths := Revision(test.word); rev != test.rev || !reflect.DeepEqual(paths, test.paths) {
			t.Errorf("%s: %q %+v, want %q %+v", test.word, rev, paths, test.rev, test.paths)
		}
	}
}

func FuzzRevision(f *testing.F) {
	for _, word := range []string{
		"HEAD:.env", ":0:x", "a@{1:2}:b", "A:b..C:d", ":(top)x", ":/!x", "^:/x", "{:", "..:", "a..:b", "a:b^!",
	} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		rev, paths := Revision(word)
		if !strings.Contains(word, rev) {
			t.Errorf("%q: the revision is %q", word, rev)
		}
		for _, p := range paths {
			if !strings.Contains(word, p) {
				t.Errorf("%q: the path is %q", word, p)
			}
		}
	})
}

// TestGitReadsNoOtherPath asks git which of many words lead to a secret file, and finds its name in each.
func TestGitReadsNoOtherPath(t *testing.T) {
	s := newSandbox(t)
	s.write("project/dir/secret", "hush\n")
	s.write("project/secret", "hush\n")
	s.git("project", "add", ".")
	s.git("project", "commit", "-qm", "fix: three")
	secret := strings.TrimSpace(s.git("project", "rev-parse", "HEAD:secret"))
	revisions := []string{
		"HEAD", "", ":0", ":1", "main", "HEAD^{/fix: three}", "HEAD^{}", "main@{0}", ":/fix", "@", "HEAD^{tree}",
		"^HEAD", "{", "}", "main..HEAD", "HEAD..HEAD",
	}
	paths := []string{"secret", "dir/secret", "./secret", "dir/../secret", "/secret", "dir", "..", "0:secret"}
	found := 0
	for _, rev := range revisions {
		for _, path := range paths {
			for _, tail := range []string{"", "..HEAD", "...main:secret", "^{}", "^0", "^!"} {
				word := rev + ":" + path + tail
				out := s.try("project", "rev-parse", word)
				if !strings.Contains(out, secret) {
					continue
				}
				found++
				if _, got := Revision(word); !reachesSecret(got) {
					t.Errorf("%s reads the secret, but the paths are %+v", word, got)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("git found the secret only %d times", found)
	}
}

func reachesSecret(paths []string) bool {
	for _, p := range paths {
		if p == "secret" || strings.HasSuffix(p, "/secret") {
			return true
		}
	}
	return false
}
