package language

import (
	"strings"
	"testing"
)

func TestSed(t *testing.T) {
	for _, script := range sedAccepted {
		if use, err := Sed(script, false); err != nil || len(use.Reads)+len(use.Writes) > 0 {
			t.Errorf("Sed(%q) = %+v, %v", script, use, err)
		}
	}
	for _, script := range sedRefused {
		if _, err := Sed(script, false); err == nil {
			t.Errorf("Sed(%q) is accepted", script)
		}
	}
}

var sedAccepted = []string{
	"", "p", "5p", "$p", "$=", "1,5p;9p", "2,$p", "/a/,/b/p", "/func main/,/^}/p", "1~2p", "0,/x/p", "/x/,+3p", "5q",
	"10q;p", "1!p", "1 ! p", "/x/!d",
	`\,/usr/,p`, "/x/Ip", "/^$/d", "/^#/d;/^$/d", "$!d", "1d;$d", "{p;p}", "1,3{/x/p;=}", "/a/{n;p}", "l", "l 40",
	"=", "n;d", "N;N;s/\\n/,/g", "G",
	"s/x/y/", "s/x/y/gp", "s/x/y/2", "s/a/b/I", "s|/usr|/opt|g", "s,a,b,;s#c#d#", `s/\//:/g`, `s/[^,]*,//`,
	`s/[[:space:]]*$//`, `s/\(.*\)=\(.*\)/\2=\1/`, `s/.*/"&",/`, "s/[\\/]/x/",
	`s/&/\&amp;/g;s/</\&lt;/g;s/>/\&gt;/g`, "s/^/    /", `s/\t/    /g`, "s/a/b\\\nc/", "s//x/",
	"1a hello; w out", "1i\\\ntext", "$a end", "#n", "# comment\np", "1,5p # comment",
}

var sedRefused = []string{
	":a;N;$!ba;s/\\n/ /g", ":a\nN\n$!ba\ns/\\n/ /g", ":a;$!{N;ba};s/\\n/ /g", "/x/b;d", "s/x/y/;t;d", "$!N;P;D",
	"G;H", "g;H", "x;h;G;h", "G;s/x/&&/;h", "1!G;h;$!d", "H;$!d;x;s/\\n/, /g", "x;p;x", "$!{h;d}", "/a/{H;d}",
	"w out", "1w out", "1p;w out", "1{p;w out", "1p\nw out", "1pw out", "1p w out", "/x/w out", "W out",
	"s/x/y/w out", "s/x/y/gw out", "s/x/y/w /dev/stdout", "w /dev/stdout",
	"e", "1e touch x", "/a/e", "s/x/touch y/e", "s/x/touch y/ge", "s/x/y/ w out", "1!w out", "\\,x,w out",
	"{w out\n}", "p;}", "{p", "}", "1}",
	"s/[/]/x/;w out", "s/[/x/;a ]/b/w out", `s/[\]/x/;a ]/b/w out`, "s/x/y", "s/x", "s", "y/a/b",
	"y/abc/xyz/", "y/[/]/;p",
	"sxaxbx", "s a b ", "v", "k", "p p", "1,p", "1,5", "/a", "a", "a\\", "a\\\nx\\\nw out", "r", "z 5",
	":a;ba", ":a;s/x/y/;ta", "b a;:a;ba", ":a;p;ba", ":a;N;s/./&&/g;ba", ":a;/x/N;ba", ":a;$!N;ba", ":a;bb;N;:b;ba",
	":a;N\np\nba;N", ": a;G;N;ba", ":", "1:a;N;ba", "G;D", "s/x/\\n/;D", "D;x", "N;s/.*/&&/;D",
	"G;h;G;h", "H;x;s/./&&/g;x", "s/./&&&&&&&&/g;s/./&&&&&&&&/g;s/./&&&&&&&&/g;s/./&&&&&&&&/g;s/./&&&&&&&&/g",
	"G;G;G;H;H;x;G;h", `s/\(\(a\{1,1000\}\)\{1,1000\}\)\{1,1000\}//`, `/\(\(a\{1,1000\}\)\{1,1000\}\)\{1,1000\}/p`,
	strings.Repeat("{", 200), strings.Repeat("p;", 6000),
}

func TestSedFiles(t *testing.T) {
	use, err := Sed("/x/r notes.txt\n$R b;p", false)
	if err != nil || strings.Join(use.Reads, "|") != "notes.txt|b;p" {
		t.Errorf("reads %q, %v", use.Reads, err)
	}
	use, err = Sed("s/a/b/w  out.txt", false)
	if err == nil || strings.Join(use.Writes, "|") != "out.txt" {
		t.Errorf("writes %q, %v", use.Writes, err)
	}
	if _, err := Sed("/(a{1,50}){1,50}/p", false); err != nil {
		t.Error("braces mean themselves in basic expressions:", err)
	}
	if _, err := Sed("/(a{1,50}){1,50}/p", true); err == nil {
		t.Error("extended expressions are not read as such")
	}
}
