package secrets

import (
	"slices"
	"strings"
)

// keywords are the words of which a text must have one for a rule to be worth a try.
type keywords struct {
	starts [1 << 10]uint64 // a bit for each two bytes that a word begins with
	words  map[uint16][]keyword
}

// keyword is a word in small letters of two bytes at least, and the numbers of the rules that ask for it.
type keyword struct {
	word  string
	rules []int
}

// add has a rule ask for a word.
func (k *keywords) add(word string, rule int) {
	if k.words == nil {
		k.words = map[uint16][]keyword{}
	}
	start := uint16(word[0])<<8 | uint16(word[1])
	k.starts[start>>6] |= 1 << (start & 63)
	i := slices.IndexFunc(k.words[start], func(old keyword) bool { return old.word == word })
	if i < 0 {
		i = len(k.words[start])
		k.words[start] = append(k.words[start], keyword{word: word})
	}
	k.words[start][i].rules = append(k.words[start][i].rules, rule)
}

// hit is a rule of which keywords are in a text.
type hit struct {
	rule int
	at   []int // where they are
}

// in returns the rules of which a keyword is in text, in any case.
func (k *keywords) in(text string) (hits []hit) {
	for i := range len(text) - 1 {
		start := uint16(small(text[i]))<<8 | uint16(small(text[i+1]))
		if k.starts[start>>6]&(1<<(start&63)) == 0 {
			continue
		}
		for _, word := range k.words[start] {
			if len(text)-i < len(word.word) || !strings.EqualFold(text[i:i+len(word.word)], word.word) {
				continue
			}
			for _, rule := range word.rules {
				n := slices.IndexFunc(hits, func(h hit) bool { return h.rule == rule })
				if n < 0 {
					n = len(hits)
					hits = append(hits, hit{rule: rule})
				}
				hits[n].at = append(hits[n].at, i)
			}
		}
	}
	return hits
}

// small is c as a small letter.
func small(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
