package language

import (
	"reflect"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		words string
		want  Use
	}{
		{"", Use{Trees: []string{"."}}},
		{"-name x", Use{Trees: []string{"."}, Names: []string{"x"}}},
		{"src docs -type f -name *.go -print", Use{Trees: []string{"src", "docs"}, Names: []string{"*.go"}}},
		{"src ( -name a -o -name b ) -print", Use{Trees: []string{"src"}, Names: []string{"a", "b"}}},
		{". ! -path */.git* -maxdepth 2 -type d", Use{Trees: []string{"."}}},
		{"-E . -regex .*(a|b)", Use{Trees: []string{"."}, Names: []string{"{{*,*/**/*}{a,b}}"}}},
		{". -not -name a -path ./b -prune -o -iname c", Use{Trees: []string{"."}, Names: []string{"c"}}},
		{`-regex .*/\.env$`, Use{Trees: []string{"."}, Names: []string{"{*,*/**/*}/.env"}}},
		{". -newer main.go -newerma x -newermt 2026-01-01", Use{Trees: []string{"."}, Looks: []string{"main.go", "x"}}},
		{". -samefile .env", Use{Trees: []string{"."}, Looks: []string{".env"}}},
		{". -mtime -7 -size +1k -perm -u+x -perm /111", Use{Trees: []string{"."}}},
		{`. -printf %10p\n`, Use{Trees: []string{"."}}},
		{". -exec grep -n x {} + -print", Use{Trees: []string{"."}, Runs: []run{{[]string{"grep", "-n", "x", "{}"}, true}}}},
		{". -exec head -1 {} ; -exec wc {} ;",
			Use{Trees: []string{"."}, Runs: []run{{[]string{"head", "-1", "{}"}, false}, {[]string{"wc", "{}"}, false}}}},
		{". -exec echo a + b ;", Use{Trees: []string{"."}, Runs: []run{{[]string{"echo", "a", "+", "b"}, false}}}},
	} {
		use, err := Find(strings.Fields(c.words))
		if err != nil || !reflect.DeepEqual(use, c.want) {
			t.Errorf("find %s: %+v, %v", c.words, use, err)
		}
	}
	for _, words := range []string{
		". -delete", ". ( -name a -delete )", ". -fprint out", ". -fprint0 out", ". -fprintf out %p", ". -fls out",
		". -fprint", ". -fprint/dev/stdout",
		". -exec rm", ". -exec ;", ". -exec + ;x", ". -exec {} ;", ". -exec ./{} ;", ". -exec rm {} +x",
		". -execdir rm {} +", ". -ok rm {} ;", ". -okdir rm {} ;",
		". -files0-from x", "-files0-from x", "-D exec .", "-f . -delete", ". -name", ". -name -delete",
		". -printf -delete", ". -printf %2147483647p", ". -printf %", ". -unknown",
		". -newerxx a", ". -regex ((a{1,1000}){1,1000}){1,1000}", `. -regex \(\(a\{1,1000\}\)\{1,1000\}\)`,
		". -newermt -delete", ". -perm -delete", "-L . -name x", "-H a", "a -follow", "-L . -exec cat {} +",
		". -follow -exec cat {} ;", ". -flags x", ". -X",
	} {
		if use, err := Find(strings.Fields(words)); err == nil {
			t.Errorf("find %s is accepted: %+v", words, use)
		}
	}
	if use, _ := Find([]string{"a", "-delete"}); !use.Deletes {
		t.Error("-delete is not told")
	}
	if use, _ := Find([]string{"a", "-fls", "out"}); strings.Join(use.Writes, "|") != "out" {
		t.Error("what -fls writes is not told")
	}
}

func TestTest(t *testing.T) {
	for _, words := range []string{
		"",
		"x",
		"-f",
		"-f x",
		"! -d node_modules",
		"-e a -a -r b",
		"( -f a -o -f b )",
		"a -nt b",
		"-n x",
		"x = y",
		"x == y",
		"x != -5",
		"3 -gt 2",
		"-1 -lt 2",
		"-t 1",
		"-t",
		"-s x.log -a ( -h y -o ! -L z )",
	} {
		if err := Test(strings.Fields(words), nil); err != nil {
			t.Errorf("[ %s ]: %v", words, err)
		}
	}
	for _, words := range []string{
		"-v a[$(touch\u00a0x)]", "-R x", "-v x", "x = -v", "a[$(touch\u00a0x)] -eq 1", "1 -eq a[0]", "x -gt 1",
		"1 -lt 1+1", "-t x", "-Z x", "--help", "--version x", "-foo = x", "( x -eq 1 )",
	} {
		if err := Test(strings.Fields(words), nil); err == nil {
			t.Errorf("[ %s ] is accepted", words)
		}
	}
}
