package language

import "testing"

func TestRegexp(t *testing.T) {
	for _, c := range []struct {
		pattern string
		kind    Syntax
		ok      bool
	}{
		{"", Basic, true},
		{"foo", Basic, true},
		{`a\{2\}`, Basic, true},
		{`^func (.*) error {$`, Basic, true},
		{`foo\|bar`, Basic, true},
		{`\(a\)\1`, Basic, false},
		{"*a", Basic, true},
		{`[[:space:]]*x[]a]`, Basic, true},
		{`a{1000}{1000}`, Basic, true}, // braces are characters
		{`\(\(a\{1,1000\}\)\{1,1000\}\)\{1,1000\}`, Basic, false},
		{`\(\(a*\)*\)*b`, Basic, true},
		{`\(a*\)*\1`, Basic, false},
		{`\(a*\)\12`, Basic, false},
		{`\(.*\)\(.*\)\(.*\)\1\2\3`, Basic, false},
		{`a\`, Basic, false},
		{"x{2,5}", Extended, true},
		{"(a|b)+c?", Extended, true},
		{"(a+)+$", Extended, true},
		{`[\]a{9}`, Extended, true},
		{"a{1,1000}", Extended, true},
		{"a{,5}", Extended, true},
		{"{", Extended, true},
		{"a{1,10000}", Extended, false},
		{"a{10000,}", Extended, false},
		{"((a{1,1000}){1,1000}){1,1000}", Extended, false},
		{"(a{1,50}){1,50}", Extended, false},
		{"a{99999999999999999999}", Extended, false},
		{"a{100}{100}", Extended, false},
		{"x\n(a{1,1000}){1,1000}", Extended, false},
		{"^(.*)(.*)\\1\\2$", Extended, false},
		{`^[^\]/]+\]$`, awkExtended, true},
		{"^[ \t]+|[ \t]+$", awkExtended, true},
		{"^(a+)+$", awkExtended, true},
		{"a*a*a*a*a*a*c", awkExtended, true},
		{"^(a*)*c", awkExtended, true},
		{`"name":\s*"\K[^"]+`, Perl, true},
		{`(?<=href=")[^"]*`, Perl, true},
		{`(?i)todo|fixme`, Perl, true},
		{`^\s*export\s+const\s+(?<name>\w+)\s*=\s*`, Perl, true},
		{`^v?[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+)?(\+[a-z]+)?$`, Perl, true},
		{`(\.[0-9]+)+`, Perl, true},
		{`([a-z]+-)*[a-z]+`, Perl, true},
		{`\p{L}+\x{41}`, Perl, true},
		{`\d{4}-\d{2}-\d{2}`, Perl, true},
		{`(foo|bar)*x`, Perl, true},
		{"^(.*)-(.*)-(.*)$", Perl, true},
		{`(a+)+$`, Perl, true},
		{`(?R)`, Perl, false},
		{`(?1)`, Perl, false},
		{`(a)\g<1>`, Perl, false},
		{`(?(1)a|b)`, Perl, false},
		{`(?x)a`, Perl, false},
		{`(*COMMIT)a`, Perl, false},
		{`\Qa+\E`, Perl, false},
		{`(?:[a-f0-9]{8}-){3}[a-f0-9]{12}`, Perl, true},
		{`^.{1,255}$`, Perl, true},
		{`(a{1,100}){100}`, Perl, false},
		{`a*{5000}`, Perl, false},
		{`a+\{5000}`, Perl, true},
		{`(?:(a {50} ) {50})`, Perl, true}, // blanks count
		{`a\`, Perl, false},
		{`a\\`, Perl, true},
		{`\\1`, Perl, true},
		{`\(?x`, Perl, true},
		{`[0-9a-f]\{8\}-[0-9a-f]\{4\}`, Basic, true},
		{`\(x\{50\}\)\{50\}`, Basic, false},
		{`a\173 1,1000\175`, awkExtended, false},
		{`\033\[[0-9;]*m`, awkExtended, true},
		{`fn\s+\w+`, Rust, true},
		{`(a+)+$`, Rust, true},
		{`x{2,5}`, Rust, true},
		{`(?P<n>a)`, Rust, true},
		{`((a{1,1000}){1,1000}){1,1000}`, Rust, false},
	} {
		if err := Regexp(c.pattern, c.kind); (err == nil) != c.ok {
			t.Errorf("Regexp(%q, %d) = %v", c.pattern, c.kind, err)
		}
	}
}
