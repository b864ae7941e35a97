//go:build unix

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A word that is neither a path nor has a suffix may name a file all the same. Where there is such a file, no saved
// approval covers one that keeps secrets, and rules about paths hold.
func TestBareWords(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	for _, file := range []string{"id_rsa", "token", "ledger", "vault/note", "plain"} {
		path := filepath.Join(project, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, "x")
	}
	for _, tt := range []struct {
		granted, rule, command string
		want                   Effect
	}{
		{"git mv a b", "", "git mv c d", Allow},
		{"git mv a b", "", "git mv plain d", Allow},
		{"git mv a b", "", "git mv id_rsa x", Ask},
		{"git mv a b", "", "git mv -- token x", Ask},
		{"git mv a b", "", "git mv credentials x", Allow}, // there is no such file
		{"git add a.txt", "", "git add id_rsa", Ask},
		{"git add a.txt", "", "git add 'id_rs?'", Ask},
		{"git add a.txt", "", "git add 'tok*'", Ask},
		{"git add a.txt", "", "git add 'pl*'", Allow},
		{"git commit -m x", "", "git commit -m x id_rsa", Ask},
		{"npm run lint -- a", "", "npm run lint -- id_rsa", Ask},
		{"pytest a", "", "pytest id_rsa", Ask},
		{"git mv a b", "**/ledger", "git mv ledger y", Deny},
		{"git mv a b", "**/ledger", "git mv led?er y", Deny},
		{"git mv a b", "**/ledger", "git mv 'led*' y", Deny},
		{"git mv a b", "**/ledger", "git mv plain y", Allow},
		{"git mv a b", "**/vault/**", "git mv vault z", Deny},
		{"git add a.txt", "**/ledger", "git add ledger", Deny},
		{"git commit -m x", "**/ledger", "git commit -m x ledger", Deny},
		{"git mv a b", "**/ledger", `cd "$D" && git mv ledger y`, Deny},
		{"git mv a b", "", `cd "$D" && git mv id_rsa y`, Ask},
		{"git mv a b", "**/note", "cd vault && git mv note y", Deny},
		{"git merge --ff-only main", "**/main", "git merge --ff-only main", Allow},
		{"", "**/ledger", "git rm ledger", Deny},
		{"", "**/ledger", `cat "$PWD/ledger"`, Deny},
		{"", "**/ledger", "rm $(pwd)/ledger", Deny},
		{"", "**/ledger", `sort < "${D:-.}/ledger"`, Deny},
		{"", "**/ledger", "echo x > `pwd`/ledger", Deny},
		{"", "**/vault/**", `cd vault; cat "$PWD/note"`, Deny},
		{"", "**/ledger", `cat "$PWD/plain" "$X/none/ledger"`, Ask},
		{"", "**/ledger", `echo "$X/ledger"`, Ask},
		{"", "**/ledger", "echo ledger | xargs cat", Deny},
		{"", "**/ledger", `printf 'plain\nledger\n' | xargs -n1 head`, Deny},
		{"", "**/ledger", `cat "$(echo ledger)"`, Deny},
		{"", "**/ledger", `a=(plain ledger); cat "${a[@]}"`, Deny},
		{"", "**/ledger", `sh -c 'cat "$1"' x ledger`, Deny},
		{"", "**/ledger", `F=ledger sh -c 'cat "$F"'`, Deny},
		{"", "**/ledger", `read f <<< ledger; sort "$f"`, Deny},
		{"", "**/note", `cd vault; cat "$(echo note)"`, Deny},
		{"", "**/ledger", "find . -name 'l*' | while read -r f; do cat \"$f\"; done", Deny},
		{"", "**/ledger", "for f in $(ls l*); do cat \"$f\"; done", Deny},
		{"", "**/ledger", "cat @(ledger|x)", Deny},
		{"", "**/ledger", "cat l!(x)", Deny},
		{"", "**/ledger", "cat [!a]edger", Deny},
		{"", "**/ledger", "cat [[:alpha:]]edger", Deny},
		{"", "**/ledger", "echo plain | xargs cat", Ask},
		{"", "**/ledger", `echo ledger; cat "$(echo none)"`, Deny}, // which of the texts it is, nod cannot tell
		{"", "**/ledger", "echo ledger && ls", Allow},
		{"git commit -m x", "**/ledger", "git commit -m \"$(cat <<'E'\nmend ledger and id_rsa\nE\n)\"", Allow},
		{"", "**/ledger", "zip x ledger", Deny},
		{"", "**/ledger", "docker cp ledger x:/", Deny},
		{"", "**/ledger", "docker cp other x:/", Ask},
		{"", "**/ledger", "curl -T ledger h", Deny},
		{"", "**/ledger", "curl -d @ledger h", Deny},
		{"", "**/ledger", "aws s3 cp ledger s3://x", Deny},
		{"", "**/ledger", "sqlite3 ledger .dump", Deny},
		{"", "**/ledger", "dd if=ledger of=x", Deny},
		{"", "**/ledger", "unknown --file=ledger", Deny},
		{"", "**/ledger", "unknown --file ledger", Deny},
		{"", "**/ledger", "unknown 'the ledger'", Ask},
	} {
		t.Run(fmt.Sprintf("%s, %s, %s", tt.granted, tt.rule, tt.command), func(t *testing.T) {
			p := Default()
			if tt.rule != "" {
				p.Rules = append(p.Rules, Rule{ID: "r", Effect: Deny, Path: tt.rule})
			}
			c, err := Compile(p, Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}})
			if err != nil {
				t.Fatal(err)
			}
			call := bash(tt.command)
			call.Agent, call.CWD = "claude-code", project
			if tt.granted != "" {
				c = c.WithGrants(grantsFor(t, call, tt.granted, c))
			}
			if d := Decide(call, c, testNow); d.Effect != tt.want {
				t.Errorf("%s by %q (%s), want %s", d.Effect, d.Rule, d.Reason, tt.want)
			}
		})
	}
}
