package prompt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxWordDiff      = 16 << 10  // bytes of adjacent changed lines whose words are compared
	maxWordDiffs     = 256 << 10 // the same for all of a diff
	maxChangedOfLine = 0.7       // above this share, a line counts as another line and has no marks
)

func (d diff) changedWords() map[int][]Stretch {
	changed := map[int][]Stretch{}
	room := maxWordDiffs
	i, j := 0, 0 // lines of each text done so far
	for at := 0; at < len(d.signs); {
		goes := repeatsOf(d.signs[at:], "-")
		comes := repeatsOf(d.signs[at+goes:], "+")
		before, after := d.old[i:i+goes], d.new[j:j+comes]
		if size := sizeOf(before) + sizeOf(after); goes > 0 && comes > 0 && size <= min(maxWordDiff, room) {
			room -= size
			gone, come := compareWords(before, after)
			for n, marks := range slices.Concat(gone, come) {
				changed[at+n] = marks
			}
		}
		at, i, j = at+goes+comes, i+goes, j+comes
		same := repeatsOf(d.signs[at:], " ")
		at, i, j = at+same, i+same, j+same
	}
	return changed
}

func repeatsOf(s, c string) int { return len(s) - len(strings.TrimLeft(s, c)) }

func sizeOf(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

func compareWords(before, after []string) (gone, come [][]Stretch) {
	old, fresh := wordsOf(before), wordsOf(after)
	signs := NewDiff(onePerLine(old), onePerLine(fresh)).signs
	return markWords(old, strings.ReplaceAll(signs, "+", "")), markWords(fresh, strings.ReplaceAll(signs, "-", ""))
}

// lineEnd is the word at the end of a line. No other word is empty.
const lineEnd = ""

// wordsOf splits lines into names and numbers, blanks, and single other characters.
func wordsOf(lines []string) []string {
	var words []string
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		for line != "" {
			n := wordLength(line)
			words, line = append(words, line[:n]), line[n:]
		}
		words = append(words, lineEnd)
	}
	return words
}

func wordLength(s string) int {
	first, size := utf8.DecodeRuneInString(s)
	for _, same := range []func(rune) bool{isNameRune, isBlank} {
		if same(first) {
			if n := strings.IndexFunc(s, func(r rune) bool { return !same(r) }); n > 0 {
				return n
			}
			return len(s)
		}
	}
	return size
}

func isNameRune(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) }

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func onePerLine(words []string) string { return strings.Join(words, "\n") + "\n" }

// markWords returns, line by line, the ranges of the words with a sign.
func markWords(words []string, signs string) [][]Stretch {
	var lines [][]Stretch
	var marks []Stretch
	at, changed, all := 0, 0, 0 // in bytes; changed and all do not count blanks
	for i, word := range words {
		if word == lineEnd {
			if float32(changed) > maxChangedOfLine*float32(all) {
				marks = nil
			}
			lines = append(lines, marks)
			marks, at, changed, all = nil, 0, 0, 0
			continue
		}
		size := len(word)
		if !isBlank(rune(word[0])) {
			all += size
			if signs[i] != ' ' {
				changed += size
			}
		}
		if signs[i] != ' ' {
			marks = Join(marks, Stretch{From: at, To: at + size})
		} else if n := len(marks); n > 0 && marks[n-1].To == at && isBlank(rune(word[0])) && i+1 < len(words) &&
			words[i+1] != lineEnd && signs[i+1] != ' ' {
			marks[n-1].To += size // one mark for adjacent words
		}
		at += size
	}
	return lines
}
