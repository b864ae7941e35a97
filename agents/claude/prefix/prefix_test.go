package prefix

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the two releases hand over, as measured; their own text in the middle is cut.
const (
	oldest = `source /home/ann/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && ` +
		`{ shopt -u extglob || setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && `
	newest = `source /home/ann/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && ` +
		`{ \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true && ` +
		`{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && `
	tail = ` < /dev/null && pwd -P >| /tmp/claude-91ae-cwd`
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		newest + `eval pwd` + tail: `pwd`,
		oldest + `eval 'mkdir -p sub && echo "it'"'"'s ✓ $HOME" && echo '"'"'a\b'"'"''` + tail: `mkdir -p sub && echo ` +
			`"it's ✓ $HOME" && echo 'a\b'`,
		newest + "eval 'cat <<'\"'\"'EOF'\"'\"'\nhello\nEOF' && pwd -P >| /tmp/claude-91ae-cwd": "cat <<'EOF'\nhello\nEOF",
		newest + `eval 'true && eval '"'"'rm x'"'"' < /dev/null && pwd -P >| /tmp/claude-1-cwd'` + tail: `true && eval ` +
			`'rm x' < /dev/null && pwd -P >| /tmp/claude-1-cwd`,
		`{ true; } && eval ls` + tail: `ls`,

		`nod hook claude-code`:                                  "",
		newest + `eval ls; rm x` + tail:                         "",
		newest + `eval $x` + tail:                               "",
		newest + `eval "$(x)"` + tail:                           "",
		newest + `eval 'ls` + tail:                              "",
		newest + `eval ls` + tail + `; rm x`:                    "",
		newest + `eval ls` + ` && pwd -P >| /etc/passwd`:        "",
		newest + `eval ls` + ` && pwd -P >| claude-1-cwd`:       "",
		newest + `eval ls` + ` && pwd -P >| /tmp/claude-$x-cwd`: "",
		newest + `eval ` + tail:                                 "",
		"":                                                      "",
	} {
		c, ok := Read(text)
		if c.Text != want || ok != (want != "") {
			t.Errorf("%s\nread as %q, %v, want %q", text, c.Text, ok, want)
		}
		if ok && c.Folder != "/tmp/claude-91ae-cwd" {
			t.Errorf("folder %q", c.Folder)
		}
	}
}

// A word is what a shell makes of it, or is not read to its end.
func FuzzUnquote(f *testing.F) {
	for _, text := range []string{`a`, `'a b'`, `'it'"'"'s'`, `a\ b`, `'a`, `"a"`, "a\\\nb", `$x`, "'✓'", `~`, `a#b`} {
		f.Add(text)
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		f.Skip("no /bin/sh")
	}
	f.Fuzz(func(t *testing.T, text string) {
		word, rest := unquote(text)
		if rest != "" || text == "" || strings.ContainsRune(text, 0) {
			return
		}
		cmd := exec.Command("/bin/sh", "-c", "printf %s "+text)
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil || string(out) != word && !strings.HasPrefix(text, "-") {
			t.Errorf("%q is %q to nod and %q to a shell: %v", text, word, out, err)
		}
	})
}

func TestSnapshot(t *testing.T) {
	c, _ := Read(newest + "eval ls" + tail)
	if want := filepath.FromSlash("/home/ann/.claude/shell-snapshots/snapshot-bash-1-a.sh"); c.Snapshot != want {
		t.Errorf("snapshot %q, want %q", c.Snapshot, want)
	}
}
