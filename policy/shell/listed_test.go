package shell

import (
	"fmt"
	"strings"
	"testing"
)

// Each of these passes with one mark more or less.
func TestListedNames(t *testing.T) {
	for _, command := range []string{
		"rg --files | xargs -I{} rg -c TODO {}", "rg --files | xargs rg -e foo", "rg -l0 foo | xargs -0 rg -c TODO",
		"find . -name '*.go' -print0 | xargs -d '\\n' rg -c TODO", "ls | xargs -I{} grep -rn {} src",
		"find . -name '*.go' -print0 | grep . | xargs -0 rg -c TODO", "rg --files -0 | xargs -0 rg foo",
		"find . -name '*.go' -print0 | xargs -0 -d '\\n' rg -c TODO",
		"git ls-files | xargs wc -l", "git ls-files -z | xargs -0 grep foo", "rg --files | xargs wc -l", "ls | xargs du -s",
		"wc -l $(git ls-files)", "grep foo $(rg --files)", "find . -name '*.go' | xargs stat", "rg -l x | xargs md5sum",
		"find . -name '*.go' -print0 | sort | xargs -0 rg foo", "find . -name '*.go' | sort | xargs stat",
	} {
		if Analyze(command).ReadOnly {
			t.Errorf("%q passes", command)
		}
	}
}

// Of what a listing prints, a name may be any word at all: what passes for names that others chose passes for a flag
// that no entry knows, too.
func TestListedNamesAreAnyWord(t *testing.T) {
	programs := []string{
		"rg foo %s", "rg -c -e foo %s", "rg -e foo -- %s", "find %s -type f", "sort %s", "git log %s", "git diff %s",
		"xxd %s",
		"xxd a.go %s", "awk 1 %s", "awk 1 ./a %s", "sed -n 1p %s", "jq . %s", "tail -n 5 %s", "uniq %s", "diff a.go %s",
		"cat %s", "wc -l %s", "grep foo %s", "grep -c -e foo %s", "echo %s", "tree %s", "fd x %s", "file %s", "md5sum %s",
		"env rg foo %s", "timeout 5 find %s", "nice rg foo %s", "date %s", "cut -f1 %s", "test -f %s", "printf x %s",
	}
	ways := []string{
		"ls | xargs -I{} %s", "rg --files | xargs -I X %s", "git ls-files | xargs -0 -I{} %s", "ls | xargs -I{} -n1 %s",
		"find . -name '*.go' | xargs -I{} %s", "fd go | xargs -d '\\n' -I{} %s", "grep -rl foo | xargs -I{} %s",
		"ls | xargs -L 1 -I{} %s", "find 'a=b' -exec %s ';'", "find 'a=b' -exec %s {} +",
	}
	for _, program := range programs {
		for _, way := range ways {
			mark := "{}"
			if strings.Contains(way, "-I X") {
				mark = "X"
			}
			command := fmt.Sprintf(way, fmt.Sprintf(program, mark))
			direct := fmt.Sprintf(program, "--no-such-flag")
			isAny := harmlessFlags(program, way)
			if a := Analyze(command); a.ReadOnly && !isAny && !Analyze(direct).ReadOnly {
				t.Errorf("%q passes, and %q does not", command, direct)
			}
		}
	}
}

// harmlessFlags reports whether the data say of a program that no flag of it does harm, or none of those that others
// may spell where names start with a path.
func harmlessFlags(command, way string) bool {
	name, _, _ := strings.Cut(command, " ")
	t := programs().find(name).traits
	return t[traitGlobs] || t[traitEnded] && strings.HasPrefix(way, "find . ")
}

// Programs that take any name at all for a flag, or that read another file for one, are told apart in the data.
func TestNoFlagOfThoseThatTakeAnyNameDoesHarm(t *testing.T) {
	all, err := readPrograms()
	if err != nil {
		t.Fatal(err)
	}
	for name := range all.entries {
		p := all.find(name)
		for flag, f := range p.flags {
			isHarmless := f.never == "" && (f.typ == nil || f.typ != wordTypes["WRITE"] && f.typ != wordTypes["FILE"])
			isLink := (name == "ls" || name == "dir" || name == "vdir") && (flag == "-L" || flag == "--dereference")
			if p.traits[traitGlobs] && !isHarmless && !isLink {
				t.Errorf("%s takes any name, and %s", name, flag)
			}
		}
		named, ended := p.traits[traitNamed], p.traits[traitEnded]
		if p.traits[traitGlobs] && (named || ended) || ended && !named {
			t.Errorf("%s: two traits say different things of patterns", name)
		}
	}
}

// What a file's name may be that a pattern stands for is judged by how the pattern starts and ends.
func TestPatternsOfNames(t *testing.T) {
	spelled := []string{"./*", "src/*", "/tmp/*", "./*.go", "main*"}
	ended := []string{"*.go", "*/", "?.md", "[ab]*.txt", "*/*.go", "*/Makefile", "*_test.go"}
	any := []string{"*", "?", "[!a]*", "*x", "*o", "-*", "*.*", "*/*"}
	for _, program := range []string{"wc -l %s", "du -sh %s", "grep foo %s", "grep -c -e foo %s", "md5sum %s", "stat %s",
		"rg foo %s", "file %s", "lsd %s", "tail -n 1 %s"} {
		reads := programs().find(strings.Fields(program)[0]).traits[traitEnded]
		for _, row := range []struct {
			patterns []string
			passes   bool
		}{{spelled, true}, {ended, reads}, {any, false}} {
			for _, pattern := range row.patterns {
				for _, way := range []string{program, "for f in %s; do " + strings.Replace(program, "%s", `"$f"`, 1) + "; done"} {
					command := strings.Replace(way, "%s", pattern, 1)
					if a := Analyze(command); a.ReadOnly != row.passes {
						t.Errorf("%q: passes is %t (%q)", command, a.ReadOnly, a.Reasons)
					}
				}
			}
		}
	}
}

// A file called -ve.txt gives grep a pattern, and then its first operand is a file: that counts as read, too.
func TestAPatternThatMayBeAFileIsRead(t *testing.T) {
	for command, read := range map[string]bool{
		"grep /srv/key *.txt":                       true,
		"grep -F .env *.js":                         true,
		"for f in *.txt; do grep /srv/key $f; done": true,
		"grep foo *.txt":                            false,
		"grep /srv/key ./*.txt":                     false,
		"grep /srv/key -- *.txt":                    false,
		"grep /srv/key a.txt":                       false,
	} {
		got := false
		for _, p := range Analyze(command).Parts {
			for _, a := range p.Accesses {
				got = got || a.Path == "/srv/key" || a.Path == ".env"
			}
		}
		if got != read {
			t.Errorf("%q: read is %t, want %t", command, got, read)
		}
	}
}
