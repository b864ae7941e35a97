package language

import (
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		judge             func(string) error
		accepted, refused []string
	}{
		"Directives": {Directives,
			[]string{"", "%p\\n", "%10s %n\n", "%-20.10f", "%TY-%Tm-%Td %p", "%T@ %p\\n", "%%", "%n %s", "%'.3f", "%#m"},
			[]string{"%2147483647p", "%1001p", "%.99999s", "%", "a%", "%*d", "%-*s",
				"%0000000000002000p", strings.Repeat("x", 10_001)}},
		"timeFormat": {timeFormat,
			[]string{"", "%Y-%m-%d", "%-d %_H %^a", "%s%N", "%3N", "%:z", "%::z", "%Ey", "x"},
			[]string{"%10000000Y", "%_2147483647d", "%-99999d", "%"}},
		"GitFormat": {GitFormat,
			[]string{"", "%h %an %s", "oneline", "format:%h%x09%ad", "format:", "tformat:%H",
				"%<(20,trunc)%s", "%>|(40)%h", "%w(80,4,4)%b",
				"%(refname:short) %(objectname)",
				"%(if)%(HEAD)%(then)*%(else) %(end)%(align:20,left)%(refname)%(end)", "%(trailers:key=Signed-off-by)",
				"%C(auto)%h%d", "%(committerdate:relative)", "%(describe)", "%(creatordate:format:%Y-%m)", "%gd %gs",
				"%(*objectname)"},
			[]string{"%G?", "%GK", "%+GS", "%-G?", "% GK", "%-+GK", "%(signature)", "%(signature:key)",
				"%(*signature:grade)", "%<(99999999)%s", "%+<(99999999)%s", "%w(99999999)%b",
				"%(align:99999999)%(refname)%(end)",
				"%(align:width=99999999,left)", "%(*align:99999)", "mine", "%(unknown)", "%(if:equals=a)%(signature)",
				"%(creatordate:format:%99999999Y)"}},
		"GitSort": {GitSort,
			[]string{"refname", "-committerdate", "version:refname", "-v:refname", "*objectname", "-*taggerdate",
				"ahead-behind:HEAD"},
			[]string{"signature", "-signature:key", "*signature:grade", "-*signature", "mine", "",
				"creatordate:format:%99999999Y"}},
	} {
		for _, s := range c.accepted {
			if err := c.judge(s); err != nil {
				t.Errorf("%s(%q) = %v", name, s, err)
			}
		}
		for _, s := range c.refused {
			if c.judge(s) == nil {
				t.Errorf("%s(%q) is accepted", name, s)
			}
		}
	}
}

func TestPrintf(t *testing.T) {
	for _, c := range []struct {
		words string
		ok    bool
	}{
		{`hi\n`, true}, {`%s\n done`, true}, {"%5.2f 3.14", true}, {"%d%% 50", true}, {"%x 0xff", true},
		{"%b%q%c a b c", true}, {"%(%F)T -1", true}, {"%s=%d a 1 b 2", true},
		{"%s $x", true}, {"%1000s x", true}, {"%d", true},
		{"%d a[$(x)]", false}, {"%s=%d a 1 b c", false}, {"%d 1+1", false}, {"%n x", false}, {"%*d 5 1", false},
		{"%.*s 5 x", false}, {"%2147483647s x", false}, {"%.2147483647f 1", false},
		{"%(%99999999Y)T -1", false}, {"%1$s x", false}, {"%ld 1", false}, {"%", false}, {"%(a)s x", false},
	} {
		words := strings.Fields(c.words)
		if err := Printf(words[0], words[1:], false); (err == nil) != c.ok {
			t.Errorf("printf %s: %v", c.words, err)
		}
	}
}

func TestDate(t *testing.T) {
	for operand, ok := range map[string]bool{
		"+%F": true, "+%Y%m%d": true, "+": true,
		"+%10000000Y": false, "010100002026": false, "": false, "%F": false, "+%": false,
	} {
		if err := Date(operand); (err == nil) != ok {
			t.Errorf("date %s: %v", operand, err)
		}
	}
}
