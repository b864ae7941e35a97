package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unrender returns the text that [Render] rendered as lines. It reads only the drawn characters, which proves that they
// are complete.
func unrender(lines []Row) (string, error) {
	var source []string
	for _, l := range lines {
		text := l.String()
		if n, ok := countIn(text, "‹", " empty lines›"); ok {
			source = append(source, make([]string, n)...)
			continue
		}
		line, err := unrenderLine(text)
		if err != nil {
			return "", err
		}
		source = append(source, line)
	}
	return strings.Join(source, "\n"), nil
}

func unrenderLine(text string) (string, error) {
	var b strings.Builder
	column := 0
	for text != "" {
		c, size := utf8.DecodeRuneInString(text)
		switch c {
		case open:
			mark, rest, closed := strings.Cut(text, string(closing))
			if !closed {
				return "", fmt.Errorf("mark %q is not closed", text)
			}
			original, err := unmark(strings.TrimPrefix(mark, string(open)))
			if err != nil {
				return "", err
			}
			b.WriteString(original)
			column += utf8.RuneCountInString(mark) + 1
			text = rest
		case tab:
			padding := strings.Repeat(" ", tabPadding(column))
			rest, ok := strings.CutPrefix(text[size:], padding)
			if !ok {
				return "", fmt.Errorf("the tab in column %d does not reach its stop", column)
			}
			b.WriteByte('\t')
			column += 1 + len(padding)
			text = rest
		default:
			b.WriteString(text[:size])
			column++
			text = text[size:]
		}
	}
	return b.String(), nil
}

// unmark returns the text that the mark ‹name› represents.
func unmark(name string) (string, error) {
	if name == "CR" {
		return "\r", nil
	}
	if n, ok := countIn(name, "", " tabs"); ok {
		return strings.Repeat("\t", n), nil
	}
	if n, ok := countIn(name, "", plural(leadingNumber(name), " space", " spaces")); ok {
		return strings.Repeat(" ", n), nil
	}
	name, times, many := strings.Cut(name, "×")
	n := 1
	if many {
		var err error
		if n, err = strconv.Atoi(times); err != nil || n <= maxRepeats {
			return "", fmt.Errorf("mark %q has a bad count", name)
		}
	}
	unit, err := unmarkCharacter(name)
	return strings.Repeat(unit, n), err
}

func unmarkCharacter(name string) (string, error) {
	if hex, ok := strings.CutPrefix(name, "U+"); ok {
		c, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || !utf8.ValidRune(rune(c)) {
			return "", fmt.Errorf("mark %q names no character", name)
		}
		return string(rune(c)), nil
	}
	if hex, ok := strings.CutPrefix(name, "0x"); ok {
		c, err := strconv.ParseUint(hex, 16, 8)
		if err != nil {
			return "", fmt.Errorf("mark %q names no byte", name)
		}
		return string([]byte{byte(c)}), nil
	}
	return "", fmt.Errorf("mark %q is not one of nod's", name)
}

// countIn returns the number between prefix and suffix, if s consists only of these.
func countIn(s, prefix, suffix string) (int, bool) {
	if !strings.HasPrefix(s, prefix) || !strings.HasSuffix(s, suffix) || len(s) < len(prefix)+len(suffix) {
		return 0, false
	}
	n, err := strconv.Atoi(s[len(prefix) : len(s)-len(suffix)])
	return n, err == nil && n > 0
}

func leadingNumber(s string) int {
	digits, _, _ := strings.Cut(s, " ")
	n, _ := strconv.Atoi(digits)
	return n
}
