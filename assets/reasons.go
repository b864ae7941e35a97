package assets

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Reasons are English sentences for agents, scripts and logs that users also read: why the policy decides as it does,
// and what nod cannot do with an agent. The pattern of a sentence has {{.A}}, {{.B}} and so on in place of values.

// pattern is an English sentence with places for values, and its translation.
type pattern struct {
	english    *regexp.Regexp
	translated string
	weight     int // number of its letters: the more, the better the match
}

// reasons translates to the current language; nil for English.
var reasons atomic.Pointer[func() *reasonBook]

// chineseReasons are read when first needed, since the tray shows none. A test checks that the embedded file is valid.
var chineseReasons = sync.OnceValue(func() *reasonBook {
	sentences, _ := readReasons(chinese)
	return newReasonBook(sentences)
})

type reasonBook struct {
	whole    map[string]string
	patterns []pattern
}

func readReasons(language string) (map[string]string, error) {
	return readSentences(language, language+".reasons.json")
}

// setReasons sets the language of [Reason].
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

// Reason translates a sentence that nod made in English. It returns an unknown sentence unchanged.
func Reason(english string) string {
	book := reasons.Load()
	if book == nil {
		return english
	}
	return (*book)().translate(english)
}

// translate also knows a sentence without its capital and its full stop: a part of another.
func (b *reasonBook) translate(english string) string {
	forms := spellings(english)
	for _, form := range forms {
		if translated, ok := b.whole[form]; ok {
			return likeIn(translated, form, english)
		}
	}
	if !strings.Contains(english, " ") {
		forms = forms[:1]
	}
	for _, form := range forms {
		for _, p := range b.patterns {
			if values := p.english.FindStringSubmatch(form); values != nil {
				return likeIn(b.fill(p.translated, values[1:]), form, english)
			}
		}
	}
	return english
}

// spellings returns a text, and the sentences that it may be a part of.
func spellings(english string) []string {
	forms := []string{english}
	if !strings.HasSuffix(english, ".") {
		forms = append(forms, english+".")
	}
	if strings.Contains(english, " ") && 'a' <= english[0] && english[0] <= 'z' {
		for _, form := range forms {
			forms = append(forms, strings.ToUpper(form[:1])+form[1:])
		}
	}
	return forms
}

// likeIn removes the full stop of a translated sentence if the text lacks that of the sentence.
func likeIn(translated, sentence, english string) string {
	if len(sentence) > len(english) {
		return strings.TrimSuffix(translated, "。")
	}
	return translated
}

// fill inserts values into a sentence, translating those that are sentences.
func (b *reasonBook) fill(translated string, values []string) string {
	return filled.ReplaceAllStringFunc(translated, func(place string) string {
		if i := int(place[3] - 'A'); i < len(values) {
			return b.translate(values[i])
		}
		return place
	})
}
