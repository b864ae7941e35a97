package report

import (
	"fmt"
	"regexp"
	"strings"
)

// Documents quote a report between these marks. The first may name a group of the report, whose table it then holds.
// Without a name the README's figures are meant, and with "machine" what the report was measured on.
const (
	endMark     = "<!-- figures: end -->"
	machineName = "machine"
)

var beginMark = regexp.MustCompile(`<!-- figures: begin(?: ([a-z]+))? -->`)

// Fill replaces what a document has between marks by what the report says.
func (r Report) Fill(document string) (string, error) {
	var b strings.Builder
	rest := document
	for {
		at := beginMark.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		begin, name := rest[at[0]:at[1]], ""
		if at[2] >= 0 {
			name = rest[at[2]:at[3]]
		}
		text, err := r.quote(name)
		if err != nil {
			return "", err
		}
		old, after, ended := strings.Cut(rest[at[1]:], endMark)
		if !ended || beginMark.MatchString(old) {
			return "", fmt.Errorf("%s has no %s", begin, endMark)
		}
		fmt.Fprintf(&b, "%s%s\n\n%s\n%s", rest[:at[0]], begin, text, endMark)
		rest = after
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("no <!-- figures: begin --> in it")
	}
	b.WriteString(rest)
	return b.String(), nil
}

// quote is what stands between marks with that name.
func (r Report) quote(name string) (string, error) {
	switch name {
	case "":
		return r.Headlines(), nil
	case machineName:
		var b strings.Builder
		fmt.Fprintln(&b, r.head())
		for _, f := range r.Machine {
			fmt.Fprintf(&b, "- %s: %s\n", f.Name, f.Value)
		}
		return b.String(), nil
	}
	g, found := r.Group(name)
	if !found {
		return "", fmt.Errorf("the report has no group %q: see the names of make bench -only", name)
	}
	return g.Table(), nil
}
