package journal

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"nod/interact"
	"nod/interact/history"
)

// Limits of the words of an entry.
const (
	maxText  = 64 << 10 // bytes
	maxWords = 1000     // different ones
	maxWord  = 16       // letters: longer words that begin with the same ones are the same
)

// words splits text into runs of letters and digits, without case and accents. Each CJK character is a word.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var word []byte
		letters := 0
		flush := func() bool {
			done := letters > 0 && !yield(string(word))
			word, letters = word[:0], 0
			return !done
		}
		for _, r := range fold(text) {
			isLone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
			isLetter := unicode.In(r, unicode.L, unicode.N)
			if (isLone || !isLetter) && !flush() {
				return
			}
			if !isLetter || letters == maxWord {
				continue
			}
			word = utf8.AppendRune(word, r)
			letters++
			if isLone && !flush() {
				return
			}
		}
		flush()
	}
}

func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(strings.ToLower(text)))
}

type vocabulary map[string]struct{}

func wordsOf(e history.Entry) vocabulary {
	v, room := vocabulary{}, maxText
	for text := range texts(e) {
		if len(text) > room {
			text = strings.ToValidUTF8(text[:room], "")
		}
		room -= len(text)
		for word := range words(text) {
			if len(v) == maxWords {
				return v
			}
			v[word] = struct{}{}
		}
	}
	return v
}

func (v vocabulary) has(wanted []string) bool {
	all := slices.Collect(maps.Keys(v))
	isMissing := func(prefix string) bool {
		return !slices.ContainsFunc(all, func(word string) bool { return strings.HasPrefix(word, prefix) })
	}
	return !slices.ContainsFunc(wanted, isMissing)
}

func texts(e history.Entry) iter.Seq[string] {
	return func(yield func(string) bool) {
		a, body := e.Record.Answer, e.Record.Request.Body
		known := slices.Concat([]string{
			e.Agent, e.Tool, e.Project, e.Gist, e.Machine, e.Device, e.Rule, a.Reason, a.Text,
		}, a.Shown.Facts)
		for _, text := range known {
			if !yield(text) {
				return
			}
		}
		var rest []any
		if approve, ok := body.(interact.Approve); ok {
			rest = []any{approve.Description, approve.Input}
		} else {
			rest = []any{body, a.Values}
		}
		for _, v := range rest {
			// A value that cannot be encoded was never part of a valid request, so it is not indexed.
			if text, err := json.Marshal(v); err == nil && !values(text, yield) {
				return
			}
		}
	}
}

// values yields the texts and numbers in JSON up to the first error. It returns false if yield did.
func values(text []byte, yield func(string) bool) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return true
		}
		parent, n := d.StackIndex(d.StackDepth())
		isName := parent == '{' && n%2 == 1
		if kind := token.Kind(); kind != '"' && kind != '0' || isName {
			continue
		}
		if !yield(token.String()) {
			return false
		}
	}
}
