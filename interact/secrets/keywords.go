package secrets

import (
	"slices"
	"strings"
)

// keywords maps words to the rules that need one of them in a text.
type keywords struct {
	starts [1 << 10]uint64 // a bit for each two bytes that a word begins with
	words  map[uint16][]keyword
}

// keyword is a lower-case word of at least two bytes, with the numbers of its rules.
type keyword struct {
	word  string
	rules []int
}

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

type hit struct {
	rule int
	at   []int // where they are
}

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

func small(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
