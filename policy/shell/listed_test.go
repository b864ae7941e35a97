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
			isAny := harmlessFlags(program)
			if a := Analyze(command); a.ReadOnly && !isAny && !Analyze(direct).ReadOnly {
				t.Errorf("%q passes, and %q does not", command, direct)
			}
		}
	}
}

// harmlessFlags reports whether the data say of a program that no flag of it does harm.
func harmlessFlags(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	return programs().find(name).takesNames()
}
