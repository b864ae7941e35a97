package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell/language"
)

// What follows a $, a variable without braces, or $#, where shells disagree with each other or with what is written.
// testdata/dollar.txt lists how each shell reads it.
var (
	behindDollar   = language.Compiled(`^([A-Za-z0-9_?#!@*${(\[=^~+-]|[^\x00-\x7f])`)
	behindVariable = language.Compiled(`^(\[|:[aAcefFghlpPqQrstuwWx&]|[^\x00-\x7f])`)
	behindNumber   = language.Compiled(`^([A-Za-z0-9_?@*$[-]|:[aAcefFghlpPqQrstuwWx&]|[^\x00-\x7f])`)
)

// dollars notes each $ in the leading literals that is an ordinary character in some shells only.
func (w *word) dollars(parts []syntax.WordPart) {
	first := literal(parts[:1])
	for i := 0; i < len(first); i++ {
		switch first[i] {
		case '\\':
			i++
		case '$':
			if spelled := literal(parts)[i:]; behindDollar().MatchString(spelled[1:]) {
				w.vary(spelled)
			}
		}
	}
}

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

// endsAlike reports whether every shell ends a variable's name in the same place.
func (w *walk) endsAlike(p *syntax.ParamExp) bool {
	end := int(p.End().Offset())
	if !p.Short || p.Param == nil || end > len(w.source) {
		return true
	}
	varies := behindVariable
	if p.Param.Value == "#" {
		varies = behindNumber
	}
	return !varies().MatchString(strings.ReplaceAll(w.source[end:min(end+64, len(w.source))], "\\\n", ""))
}

func (w *word) vary(spelled string) {
	w.varies = true
	w.unknown("Shells read " + quote(spelled) + " differently: zsh computes what follows a $, or a variable.")
}
