package shell

import (
	"os"
	"strings"
	"testing"
)

// TestPrograms parses every entry of the data files, and holds the files to be readable.
func TestPrograms(t *testing.T) {
	all, err := readPrograms()
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range all.entries {
		p, err := e.parse()
		if err != nil {
			t.Error(err)
			continue
		}
		if p.kind == understood && (shells[name] || screenPrograms[name]) {
			t.Errorf("%s is said to do only what its words say", name)
		}
		if p.kind != understood && p.why == "" {
			t.Errorf("%s: want a line that starts with why", name)
		}
		for flag := range p.never {
			if _, ok := p.long[flag]; ok || len(flag) == 2 && hasLetter(p, flag[1]) {
				t.Errorf("%s: flag %s is both harmless and not", name, flag)
			}
		}
	}
	t.Logf("%d names", len(all.entries))
	files, err := os.ReadDir("programs")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile("programs/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if len(line) > 120 {
				t.Errorf("%s:%d: longer than 120 characters", f.Name(), i+1)
			}
		}
	}
}

func hasLetter(p *program, c byte) bool { _, ok := p.letters[c]; return ok }

func TestMistakesInPrograms(t *testing.T) {
	const start = "manual x\nprogram x\n"
	for _, text := range []string{
		"program x", "flag -a", "manual x\nprogram x, x", "manual x\nprogram ,", start + "flag a", start + "flag -a OTHER", start + "flag -a\nflag -a",
		start + "kind harmless", start + "traits odd", start + "never -a", start + "never -a: no sentence", start + "synopsis file",
		start + "synopsis FILE... FILE... FILE", start + "letters", start + "odd x", start + "flag -n NUMBER<=x", start + "letters aa",
	} {
		c := catalogue{entries: map[string]*entry{}, heads: map[string]head{}}
		err := c.read("x.txt", text)
		for _, e := range c.entries {
			if err == nil {
				_, err = e.parse()
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), "x.txt:") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
