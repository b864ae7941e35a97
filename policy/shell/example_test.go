package shell

import "testing"

// TestCoversExamples remembers the first command and asks whether that covers the second, which has another text or
// another number.
func TestCoversExamples(t *testing.T) {
	for _, tt := range []struct {
		seen, other string
		want        bool
	}{
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="It's (re)done: see https://example.com/a"`, true},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason "Another"`, true},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason=Done`, true},
		{`bd close 7 --reason="Done it"`, `bd close 8`, true},
		{`bd close 7 --reason "Done it"`, `bd close 8 --reason "✓ a → b 🎉"`, true},
		{`bd close 7`, `bd close 8 --reason="Done it"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --notes="Done it"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="Done it" --force`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason=a.txt`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason=false`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="-f a"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="@a b"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="/a b"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason='$(a) b'`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason='a $(b)'`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="a/b c"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="a=b c"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="a ../b"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="$X b"`, false},
		{`bd close 7 --reason="Done it"`, `bd close delete --reason="a b"`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="[WIP] Done (see #4)"`, true},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason='[$(a)] b'`, false},
		{`bd close 7 --reason="Done it"`, `bd close 8 --reason="[/a b"`, false},
		{`bd create "A b" --priority=1`, `bd create "C d" --priority=2`, true},
		{`bd create "A b" --priority 2`, `bd create "C d" --priority 0`, true},
		{`bd create "A b" --priority=1`, `bd create "C d" --priority=high`, false},
		{`bd create "A b" --priority=1`, `bd create "C d" --priority=1 --force`, false},
		{`shopctl do --dry-limit=1`, `shopctl do --dry-limit=0`, true},
		{`shopctl do --delete=1`, `shopctl do --delete=2`, false},
		{`shopctl save -m "A b"`, `shopctl save -m "✓ C (d)"`, true},
		{`shopctl save -m "A b"`, `shopctl save -m ../x`, false},
		{`shopctl save -m "A b"`, `shopctl save -m "C d" -x`, false},
		{`shopctl save -m module`, `shopctl save -m other`, false},
		{`lua5.4 -m "a b"`, `lua5.4 -m "c d"`, false},
		{`bd create "Add it" --description="x y"`, `bd create "Don't (do) it" --description="z: a"`, true},
		{`bd create "Add it"`, `bd create ./add "it"`, true},
		{`bd comments add 7 "Add it"`, `bd comments add 8 "It's (so)"`, true},
		{`bd close "Add it"`, `bd close "Mend it"`, false},
		{`shopctl run "ls a"`, `shopctl run "rm a"`, false},
		{`shopctl do --exec "ls a"`, `shopctl do --exec "rm a"`, false},
		{`shopctl do --eval "ls a"`, `shopctl do --eval "rm a"`, false},
		{`shopctl do --message-file "a b"`, `shopctl do --message-file "c d"`, false},
		{`shopctl do --config-note="a b"`, `shopctl do --config-note="c d"`, false},
		{`shopctl do --label="a b"`, `shopctl do --label="c d"`, false},
		{`shopctl do -e "a b"`, `shopctl do -e "c d"`, false},
		{`lua5.4 create --message="a b"`, `lua5.4 create --message="c d"`, false},
		{`docker run --message="a b"`, `docker run --message="c d"`, false},
		{`shopctl do --limit 5`, `shopctl do --limit=6`, true},
		{`shopctl do --limit=5`, `shopctl do --limit 1`, true},
		{`shopctl do -n 5`, `shopctl do -n 12`, true},
		{`shopctl do --wet 1`, `shopctl do --wet 0`, false},
		{`shopctl do --wet 1`, `shopctl do --wet 2`, false},
		{`shopctl do --limit 5`, `shopctl do --limit ../6`, false},
		{`shopctl do --user 5`, `shopctl do --user 6`, false},
		{`shopctl do --prune=5`, `shopctl do --prune=6`, false},
		{`shopctl dep add a b`, `shopctl dep remove a b`, false},
		{`gh pr create --title "A b" --body "C d"`, `gh pr create --title "E: f" --body "G (h)"`, true},
		{`gh pr create --title "A b" --body "C d"`, `gh pr create --title "E: f" --body-file x`, false},
		{`gh pr comment 12`, `gh pr comment 13`, true},
		{`gh pr comment 12 --body "A b"`, `gh pr comment 13 -b "C d"`, true},
		{`gh pr comment 12 --body "A b"`, `gh pr comment 12 --body-file x`, false},
		{`gh pr comment 12 --body "A b"`, `gh pr comment 12 --edit-last --body "C d"`, false},
		{`gh pr comment 12 --body "A b"`, `gh pr comment https://github.com/o/r/pull/1 --body "C d"`, false},
		{`gh pr comment 12 --body "A b"`, `gh pr comment 12 -R o/r --body "C d"`, false},
		{`gh pr comment 12 --body "A b"`, `gh issue comment 12 --body "C d"`, false},
		{`gh issue close 12`, `gh issue close 13`, false},
		{`gh pr edit 12 --title "A b"`, `gh pr edit 13 --title "A b"`, false},
		{`gh pr edit 12 --title "A b"`, `gh pr edit 12 --title "C d"`, true},
		{`glab mr note 12 -m "A b"`, `glab mr note 13 -m "C d"`, true},
		{`glab mr note 12 -m "A b"`, `glab mr note 13 -m "C d" -R o/r`, false},
		{`glab mr create --title "A b" --description "C d"`, `glab mr create -t "E: f" -d "G (h)"`, true},
		{`glab mr create --title "A b" --description "C d"`, `glab mr create -t "E: f" -d "G (h)" --yes`, false},
		{`glab mr create --title "A b"`, `glab mr create --title "A b" --fill`, false},
		{`glab mr create --title "A b" --draft`, `glab mr create --title "A b"`, false},
		{`glab mr create --title "A b"`, `glab mr merge 12`, false},
		{`gh issue create --title "A b" --body "C d"`, `gh issue create --title "E: f" --body "G (h)"`, true},
		{`git commit -m "A b"`, `git commit -m "🎉 C (d)" -m "- e"`, true},
		{`gofmt -w a.go`, `gofmt -w b.go`, true},
		{`gofmt -w a.go`, `gofmt -w ../b.go`, false},
		{`gofmt -l a.go`, `gofmt -w a.go`, false},
		{`git switch chore/deps`, `git switch fix/vendor`, true},
		{`git switch a`, `git switch -f a`, false},
		{`git switch a`, `git switch --discard-changes a`, false},
		{`git checkout -b chore/deps`, `git checkout -b fix/vendor`, true},
		{`git checkout -b a`, `git checkout -b a main`, false},
		{`git checkout -b a`, `git checkout a.go`, false},
		{`git checkout -b a`, `git checkout -B a`, false},
		{`go build ./...`, `go build -o /dev/null ./...`, true},
		{`git commit -m "A b"`, `git commit --amend -m "C (d)"`, false},
	} {
		seen, other := onlyPart(t, tt.seen), onlyPart(t, tt.other)
		pattern, err := seen.Pattern()
		if err != nil {
			t.Errorf("%q: %v", tt.seen, err)
			continue
		}
		if got := pattern.Covers(other, inside); got != tt.want {
			t.Errorf("%q, remembered as %+v, covers %q: %v, want %v (%+v)",
				tt.seen, pattern, tt.other, got, tt.want, other.words)
		}
	}
}

// A rule that a user wrote with a text means that text, unless it says any.
func TestRuleWithText(t *testing.T) {
	for _, tt := range []struct {
		rule, command string
		want          bool
	}{
		{`bd close --reason="Done it"`, `bd close 7 --reason="Done it"`, true},
		{`bd close --reason="Done it"`, `bd close 7 --reason="Done more"`, false},
		{`bd close --reason='any text'`, `bd close 7 --reason="Done more"`, true},
		{`bd create "Done it"`, `bd create "Done it"`, true},
		{`bd create "Done it"`, `bd create "Done more"`, false},
		{`bd create 'any text'`, `bd create "Done (more)"`, true},
		{`shopctl do --limit 5`, `shopctl do --limit 6`, false},
		{`shopctl do --limit 'any number'`, `shopctl do --limit 6`, true},
	} {
		pattern, err := ParsePattern(tt.rule)
		if err != nil {
			t.Errorf("%q: %v", tt.rule, err)
			continue
		}
		part := onlyPart(t, tt.command)
		if got := pattern.Covers(part, inside); got != tt.want {
			t.Errorf("%q covers %q: %v, want %v", tt.rule, tt.command, got, tt.want)
		}
		if tt.want && !pattern.Meets(part) {
			t.Errorf("%q, in a rule that denies, is not about %q", tt.rule, tt.command)
		}
	}
}
