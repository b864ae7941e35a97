package assets

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Reasons are the sentences that are made in English for agents, scripts and logs, and that a person reads, too: why
// the policy decides as it does, and what nod cannot do with an agent. What is filled into them is told by the pattern
// of the sentence, in which {{.A}}, {{.B}} and so on stand for it.

// pattern is a sentence in English into which something is filled, and in the person's language.
type pattern struct {
	english    *regexp.Regexp
	translated string
	weight     int // letters of its own: the more, the surer the sentence is this one
}

// reasons has the sentences of the language that nod speaks; nil for English.
var reasons atomic.Pointer[func() *reasonBook]

// chineseReasons are read when a person first reads one: the tray shows none. The file is part of the program, and
// tested to hold no mistake.
var chineseReasons = sync.OnceValue(func() *reasonBook {
	sentences, _ := readReasons(chinese)
	return newReasonBook(sentences)
})

type reasonBook struct {
	whole    map[string]string
	patterns []pattern
}

// readReasons returns the reasons in a language by their English text.
func readReasons(language string) (map[string]string, error) {
	return readSentences(language, language+".reasons.json")
}

// setReasons makes [Reason] speak the language.
func setReasons(language string) {
	if language == chinese {
		reasons.Store(&chineseReasons)
	} else {
		reasons.Store(nil)
	}
}

var filled = regexp.MustCompile(`\{\{\.[A-Z]\}\}`)

func newReasonBook(sentences map[string]string) *reasonBook {
	book := &reasonBook{whole: sentences}
	for english, translated := range sentences {
		own := filled.Split(english, -1)
		if len(own) == 1 {
			continue
		}
		weight := 0
		for i := range own {
			weight += len(own[i])
			own[i] = regexp.QuoteMeta(own[i])
		}
		book.patterns = append(book.patterns, pattern{
			english: regexp.MustCompile(`(?s)^` + strings.Join(own, `(.+?)`) + `$`), translated: translated, weight: weight,
		})
	}
	slices.SortFunc(book.patterns, func(a, b pattern) int {
		return cmp.Or(b.weight-a.weight, cmp.Compare(a.translated, b.translated))
	})
	return book
}

// Reason puts a sentence of nod's that was made in English into the person's language. One that it does not know stays
// as it is.
func Reason(english string) string {
	book := reasons.Load()
	if book == nil {
		return english
	}
	return (*book)().translate(english)
}

func (b *reasonBook) translate(english string) string {
	if translated, ok := b.whole[english]; ok {
		return translated
	}
	if translated, ok := b.whole[english+"."]; ok { // inside another sentence
		return strings.TrimSuffix(translated, "。")
	}
	for _, p := range b.patterns {
		if values := p.english.FindStringSubmatch(english); values != nil {
			return b.fill(p.translated, values[1:])
		}
	}
	if !strings.HasSuffix(english, ".") && strings.Contains(english, " ") {
		if translated := b.translate(english + "."); translated != english+"." {
			return strings.TrimSuffix(translated, "。")
		}
	}
	return english
}

// fill puts values into the places of a sentence, themselves translated where they are sentences.
func (b *reasonBook) fill(translated string, values []string) string {
	return filled.ReplaceAllStringFunc(translated, func(place string) string {
		if i := int(place[3] - 'A'); i < len(values) {
			return b.translate(values[i])
		}
		return place
	})
}
