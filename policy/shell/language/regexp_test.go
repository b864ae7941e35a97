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
		{`\(a\)\1`, Basic, true},
		{"*a", Basic, true},
		{`[[:space:]]*x[]a]`, Basic, true},
		{`a{1000}{1000}`, Basic, true}, // braces are characters
		{`\(\(a\{1,1000\}\)\{1,1000\}\)\{1,1000\}`, Basic, false},
		{`\(\(a*\)*\)*b`, Basic, true},
		{`\(a*\)*\1`, Basic, false},
		{`\(.*\)\(.*\)\(.*\)\1\2\3`, Basic, false},
		{`\(a`, Basic, false},
		{`a\`, Basic, false},
		{"x{2,5}", Extended, true},
		{"(a|b)+c?", Extended, true},
		{"(a+)+$", Extended, true},
		{`[\]a{9}`, Extended, true},
		{"a{1,2000}", Extended, true},
		{"a{,5}", Extended, true},
		{"{", Extended, true},
		{"a{1,10000}", Extended, false},
		{"a{10000,}", Extended, false},
		{"((a{1,1000}){1,1000}){1,1000}", Extended, false},
		{"(a{1,50}){1,50}", Extended, false},
		{"a{99999999999999999999}", Extended, false},
		{"a{100}{100}", Extended, false},
		{"[a", Extended, false},
		{"x\n(a{1,1000}){1,1000}", Extended, false},
		{"^(.*)(.*)\\1\\2$", Extended, true},
		{`^[^\]/]+\]$`, AwkExtended, true},
		{"^[ \t]+|[ \t]+$", AwkExtended, true},
		{"^(a+)+$", AwkExtended, false},
		{"a*a*a*a*a*a*c", AwkExtended, false},
		{"^(a*)*c", AwkExtended, false},
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
		{`(a+)+$`, Perl, false},
		{`(a|a)*$`, Perl, false},
		{`(a|ab)+$`, Perl, false},
		{`(a?a?)*$`, Perl, false},
		{`(aa?)*$`, Perl, false},
		{`(a{1,50})*$`, Perl, false},
		{`(\w+\s?)*$`, Perl, false},
		{`(?i)(a+A)+$`, Perl, false},
		{`((a+)?b?)+`, Perl, false},
		{`.*.*.*x`, Perl, false},
		{`.*a.*b.*c.*d.*e`, Perl, false},
		{`[a-z]*[b-z]*[c-z]*x`, Perl, false},
		{`a*(b)?a*(b)?a*$`, Perl, false},
		{`(?R)`, Perl, false},
		{`(?1)`, Perl, false},
		{`(a)\g<1>`, Perl, false},
		{`(?(1)a|b)`, Perl, false},
		{`(?x)a`, Perl, false},
		{`(*COMMIT)a`, Perl, false},
		{`\Qa+\E`, Perl, false},
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
