package shell

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nod/policy/shell/language"
)

// TestRestraints holds for every program and every flag that restrains it: a command that is remembered with the flag
// does not cover the same one without it, nor with a word that switches it off.
func TestRestraints(t *testing.T) {
	all, err := readPrograms()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(all.entries)) {
		e := all.entries[name]
		p := all.find(name)
		if p.kind == told {
			continue
		}
		operands := sampleOperands(p)
		for _, flag := range slices.Sorted(maps.Keys(p.flags)) {
			if f := p.flags[flag]; f.never != "" || !p.restrains(flag) {
				continue
			}
			with := flag + sampleValue(p, e, flag)
			seen := Analyze(name + " " + with + operands).Parts[0] // what it runs comes behind it
			pattern, err := seen.Pattern()
			if err != nil || seen.Reads || pattern.Text != "" || seen.entry.flags[flag] != p.flags[flag] {
				continue
			}
			tried++
			if !pattern.Covers(seen, inside) {
				t.Errorf("%q does not cover itself", seen.Text)
			}
			base := strings.TrimLeft(flag, "-")
			for _, without := range []string{
				"", flag + "=false", flag + " false", flag + "=0", "--no-" + base, with + " --no-" + base,
				with + " --" + strings.TrimPrefix(base, "no-"),
			} {
				if strings.Contains(without, " --"+base) || without == with {
					continue
				}
				for _, other := range own(Analyze(name + " " + without + operands).Parts) {
					if !other.Reads && pattern.Covers(other, inside) {
						t.Errorf("%q covers %q", seen.Text, other.Text)
					}
				}
			}
		}
	}
	if tried < 900 {
		t.Errorf("only %d commands could be tried", tried)
	}
	t.Logf("%d commands", tried)
}

var zzz = word{text: "zzz", known: true}

// sampleOperands are words that a program takes.
func sampleOperands(p *program) string {
	text := ""
	for _, o := range p.operands {
		switch {
		case o.typ.runs:
			text += " ls"
		case o.typ.check(&reading{program: p, lead: []string{"x"}, operands: []word{{}}}, zzz) == "":
			text += " " + zzz.text
		default:
			text += " 1"
		}
	}
	return text
}

var choices = regexp.MustCompile(`one\(([^)]+)\)`)

// sampleValue is a value that a flag takes, with what stands before it.
func sampleValue(p *program, e *entry, flag string) string {
	f := p.flags[flag]
	if f.typ == nil {
		return ""
	}
	candidates := []string{"zzz", "1"}
	for _, m := range choices.FindAllStringSubmatch(strings.Join(e.text, "\n"), -1) {
		candidates = append(candidates, strings.Split(m[1], "|")...)
	}
	mark := " "
	if f.optional {
		mark = "="
	}
	for _, text := range candidates {
		r := &reading{program: p, lead: []string{"x"}}
		if f.typ.check(r, word{text: text, known: true}) == "" {
			return mark + text
		}
	}
	return mark + "zzz"
}

// unlike are letters that do not mean the long flag that starts with them: -v is verbose, -d debug. One -q is not two.
const unlike language.Words = "" +
	"-d--diff-colored -d--draft -d--dry -d--dry-run -l--latest -l--list-tests -l--local -l--locked-mode -m--markers " +
	"-n--dry-run -p--package-lock-only -p--prune-tags -q--quiet -q--quit -s--setup-only -s--setup-plan -s--short " +
	"-s--show-files -s--show-only -s--skip -s--skip-build -s--skip-update -s--staged -s--status -s--strategy-option " +
	"-s--summary -t--tasks -t--theirs -u--update -u--user -v--verify-no-changes -v--version"

// TestLetters holds the letters of an entry to its long flags: where both are without a value, -y means --yes.
func TestLetters(t *testing.T) {
	all, err := readPrograms()
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]string{"-U": "--upgrade", "-L": "--latest", "-R": "--recursive", "-y": "--assume-yes"}
	for name := range all.entries {
		p := all.find(name)
		for long, f := range p.flags {
			if p.kind != task || f.typ != nil || f.never != "" || len(long) < 4 || strings.HasPrefix(long, "--no-") {
				continue
			}
			for letter, l := range p.flags {
				isOne := len(letter) == 2 && strings.HasPrefix(long[1:], letter) || others[letter] == long
				if !isOne || l.typ != nil || l.never != "" || unlike.Has(letter+long) {
					continue
				}
				if p.restrains(long) && !p.restrains(letter) || p.extends(long) && !p.extends(letter) {
					t.Errorf("%s: %s does what %s does, and counts as less", name, letter, long)
				}
			}
		}
	}
}

// restraining matches names of flags that often restrain.
var restraining = regexp.MustCompile(`(?i)dry|check|simulat|pretend|plan|preview|diff|list|only|just|dump|verif|help|` +
	`version|offline|frozen|locked|immutable|cached|staged|abort|quit$|^--no-?(act|exec|emit|run|write|install|build|` +
	`commit|script|plugin|save|deps|fix|sync|checkout|restore)`)

// doNot are such names of flags that say nothing of what is done.
const doNot language.Words = "" +
	"--abort-on-container-exit --allowOnly --benchmark-only --build_tests_only --check-cache --check-cfg " +
	"--check-chars --check-files --check-leaks --check-sourced --check-untyped-defs --checkJs --checkout --checks " +
	"--checks-with-tag --checks-without-tag --disable-pip-version-check --display-only-correctable " +
	"--display-only-fail-level-offenses --display-only-safe-correctable --emitDeclarationOnly " +
	"--enable-disabled-checks --enable-only --errors-only --expandSnapshotDiff --fast-only --files-with-diff " +
	"--forbid-only --force-check --format-version --ignore-checks --ignore-rust-version " +
	"--ignore-workspace-root-check --inline-diffs --lax-checksums --list-boots --list-optional " +
	"--list-unused-filters --listEmittedFiles --listFiles --name-only --names-only --no-all-versions " +
	"--no-archives-check --no-build-cache --no-check --no-check-all --no-check-publish --no-deps-check --no-diff " +
	"--no-elixir-version-check --no-frozen-lockfile --no-preview --no-verify-signatures --no-versions " +
	"--noUncheckedIndexedAccess --only --only-changed --only-failures --only-projects --only-recognized-file-types " +
	"--only-vendor --onlyChanged --onlyFailures --prefer-frozen-lockfile --prefer-offline --preview " +
	"--python-version --pythonversion --show-diff-on-failure --skip-checks --skip-version-check --skipLibCheck " +
	"--strict-checksums --strict-version-order --strictNullChecks --target-version --test-only --typecheck " +
	"--versions -Wconversion -Wsign-conversion -checks -language-version -list -versions"

// TestNamesOfFlagsThatRestrain holds those who add a flag to decide whether it restrains, where its name says so.
func TestNamesOfFlagsThatRestrain(t *testing.T) {
	all, err := readPrograms()
	if err != nil {
		t.Fatal(err)
	}
	for name := range all.entries {
		p := all.find(name)
		for flag, f := range p.flags {
			isWrite := func(o operand) bool { return o.typ == wordTypes["WRITE"] }
			writes := p.kind == task || slices.ContainsFunc(p.operands, isWrite)
			if writes && f.never == "" && restraining.MatchString(flag) && !p.restrains(flag) && !doNot.Has(flag) {
				t.Errorf("%s %s: does it restrain?", name, flag)
			}
		}
	}
}
