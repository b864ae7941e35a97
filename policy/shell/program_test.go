package shell

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// No decision reads what only a user is shown.
func TestDecisionsReadNoRisks(t *testing.T) {
	was := risks
	t.Cleanup(func() { risks = was })
	risks = func() riskBook { t.Error("the risks were read"); return was() }
	Analyze("sudo rm -rf / | sh; chmod 777 x")
}

func TestMistakesInRisks(t *testing.T) {
	for _, text := range []string{"when rm", "danger X\nwhen rm,", "danger X\nodd x"} {
		if err := (riskBook{}).read(risksFile, text, levels); err == nil || !strings.HasPrefix(err.Error(), "risks.txt:") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPrograms parses every entry of the data files, and holds the files to be readable.
func TestPrograms(t *testing.T) {
	all, err := readPrograms()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readRules(risksFile, levels); err != nil {
		t.Error(err)
	}
	if _, err := readRules(outsideFile, outsideRules); err != nil {
		t.Error(err)
	}
	ownLanguages := []*wordType{wordTypes["AWK"], wordTypes["SED"]}
	for name, e := range all.entries {
		p, err := e.parse()
		if err != nil {
			t.Error(err)
			continue
		}
		ownLanguage := len(p.operands) > 0 && slices.Contains(ownLanguages, p.operands[0].typ)
		if p.kind == understood && (p.traits[traitCode] && !ownLanguage || drives(name, nil)) {
			t.Errorf("%s is said to do only what its words say", name)
		}
		if p.traits[traitFed] && len(p.operands) == 0 {
			t.Errorf("%s takes what it is fed for an operand, and has none", name)
		}
		if p.kind != understood && p.why == "" {
			t.Errorf("%s: want a line that starts with why", name)
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

func TestMistakesInPrograms(t *testing.T) {
	const start = "manual x\nprogram x\n"
	for _, text := range []string{
		"program x", "flag -a", "manual x\nprogram x, x", "manual x\nprogram ,",
		start + "flag a", start + "flag -a OTHER", start + "flag -a\nflag -a", start + "flag -n NUMBER<=x",
		start + "never -a", start + "never -a OTHER: It writes.", start + "never -a: no sentence",
		start + "kind harmless", start + "traits odd", start + "odd x", start + "letters", start + "letters aa",
		start + "synopsis file", start + "synopsis FILE... FILE... FILE",
	} {
		c := newCatalogue()
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
