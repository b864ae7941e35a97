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

func (b *reasonBook) translate(english string) string {
	if translated, ok := b.sentence(english); ok {
		return translated
	}
	for _, p := range b.patterns {
		if values := p.english.FindStringSubmatch(english); values != nil {
			return b.fill(p.translated, values[1:])
		}
	}
	if !strings.Contains(english, " ") {
		return english
	}
	if whole := english + "."; !strings.HasSuffix(english, ".") {
		if translated := b.translate(whole); translated != whole {
			return strings.TrimSuffix(translated, "。")
		}
	} else if whole = strings.ToUpper(english[:1]) + english[1:]; whole != english { // a part of another sentence
		if translated := b.translate(whole); translated != whole {
			return translated
		}
	}
	return english
}

// sentence translates a sentence without values, which may lack its capital and its full stop: a part of another.
func (b *reasonBook) sentence(english string) (translated string, ok bool) {
	if translated, ok = b.whole[english]; ok {
		return translated, true
	}
	if translated, ok = b.whole[english+"."]; !ok && strings.Contains(english, " ") {
		capital := strings.ToUpper(english[:1]) + english[1:]
		if translated, ok = b.whole[capital]; ok {
			return translated, true
		}
		translated, ok = b.whole[capital+"."]
	}
	return strings.TrimSuffix(translated, "。"), ok
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
