package prompt

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestChangedWords(t *testing.T) {
	for _, tt := range []struct{ name, before, after, want string }{
		{"one word", "return n * 199\n", "return n * 249\n", "-199 +249"},
		{"at the end", "a = b\n", "a = b + c\n", "+ + c"},
		{"two words apart", "f(a, b, c)\n", "f(x, b, y)\n", "-a -c +x +y"},
		{"two words side by side", "say good day now please\n", "say fair night now please\n", "-good day +fair night"},
		{"indented", "x := some(thing)\n", "\tx := some(thing)\n", "+\t"},
		{"another line", "alpha\n", "omega\n", ""},
		{"only added", "", "new line\n", ""},
		{"letters of others", "größe = 日本語 + 1\n", "größe = 日本 + 1\n", "-日本語 +日本"},
		{"no line break", "last line 1", "last line 2", "-1 +2"},
	} {
		d := NewDiff(tt.before, tt.after)
		var got []string
		i, j := 0, 0
		changed := d.changedWords()
		for at, sign := range d.signs {
			line := ""
			if sign != '+' {
				line, i = d.old[i], i+1
			}
			if sign != '-' {
				line, j = d.new[j], j+1
			}
			for _, s := range changed[at] {
				got = append(got, string(sign)+line[s.From:s.To])
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: marked %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Marks are within their lines and cut no character, whatever the texts are.
func TestChangedWordsFit(t *testing.T) {
	pieces := []string{"a", "b", "word", " ", "\t", "\n", "\n", "ß", "日本", "\xff", "(", "\r\n"}
	random := rand.New(rand.NewPCG(5, 6))
	some := func() string {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 5000 {
		before, after := some(), some()
		d := NewDiff(before, after)
		for _, l := range d.write("a.go", 0) {
			if !fits(l.Changed, l.Text()) {
				t.Fatalf("%q to %q: %q has %v", before, after, l.Text(), l.Changed)
			}
		}
	}
}
