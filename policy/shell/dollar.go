package shell

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// dollarTable says what each shell makes of a $, and how to read it.
//
//go:embed dollar.txt
var dollarTable string

type dollar struct {
	before string
	next   *regexp.Regexp
	makes  []string // of it, by each shell
}

var dollars = sync.OnceValue(func() (rows []dollar) {
	for line := range strings.Lines(dollarTable) {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "#" {
			rows = append(rows, dollar{f[0], regexp.MustCompile("^(?s:" + f[1] + ")"), f[2:]})
		}
	}
	return rows
})

// dollarRow is the row for a text that stands behind another one.
func dollarRow(before, next string) dollar {
	rows := dollars()
	return rows[slices.IndexFunc(rows, func(d dollar) bool { return d.before == before && d.next.MatchString(next) })]
}

// isPlain reports whether what follows stands for itself in every shell that takes the line.
func (d dollar) isPlain() bool {
	return !slices.ContainsFunc(d.makes, func(made string) bool { return made != "literal" && made != "error" })
}

// dollars notes those in the first of the parts that stand for themselves in some shells only.
func (w *word) dollars(parts []syntax.WordPart) {
	first := literal(parts[:1])
	for i := 0; i < len(first); i++ {
		switch first[i] {
		case '\\':
			i++
		case '$':
			if spelled := literal(parts)[i:]; !dollarRow("$", spelled[1:]).isPlain() {
				w.vary(spelled)
			}
		}
	}
}

// literal is the text that parts start with, as it is spelled.
func literal(parts []syntax.WordPart) (text string) {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			break
		}
		text += lit.Value
	}
	return text
}

// endsAlike reports whether a variable ends in the same place for every shell.
func (w *walk) endsAlike(p *syntax.ParamExp) bool {
	end := int(p.End().Offset())
	if !p.Short || p.Param == nil || end > len(w.source) {
		return true
	}
	before := "$x"
	if p.Param.Value == "#" {
		before = "$#"
	}
	return dollarRow(before, strings.ReplaceAll(w.source[end:min(end+64, len(w.source))], "\\\n", "")).isPlain()
}

// vary notes that shells make different words of one.
func (w *word) vary(spelled string) {
	w.varies = true
	w.unknown("Shells read " + quote(spelled) + " differently: zsh computes what follows a $, or a variable.")
}
