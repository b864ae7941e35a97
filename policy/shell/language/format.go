package language

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// directive is a conversion of find -printf, stat -c, numfmt --format and their like: flags, a width, a
	// precision and a letter.
	directive = Compiled(`^%[-+ #0'_^I:]*([0-9]*)(\.[0-9]*)?`)
	// timeDirective is a conversion of strftime, with the flags and widths of GNU and BSD.
	timeDirective = Compiled(`^%[-_0^#+]*([0-9]*)[EO:]*`)
	// shellDirective is a conversion of the shell's printf; (...)T prints a time in bash.
	shellDirective = Compiled(`^%[-+ #0']*([0-9]*)(\.[0-9]*)?(\([^()]*\))?`)
	// printedNumber is what every printf takes for a number without computing.
	printedNumber = Compiled(`^([-+]?[0-9]{1,18}(\.[0-9]{1,18})?|0[xX][0-9a-fA-F]{1,15}|)$`)
)

const (
	errWide     = refusal("The format pads to more than 1,000 characters.")
	errUnending = refusal("The format ends inside a directive.")
)

// Directives limits the widths in a format of find -printf, stat -c and --printf, numfmt --format or seq -f to 1,000.
// Nothing else in such a format does harm.
func Directives(format string) error {
	return eachDirective(format, directive, func(_ []string, letter byte) error {
		if letter == '*' {
			return refusal("The format takes a width from a value.")
		}
		return nil
	})
}

// timeFormat limits the widths in a strftime format to 1,000: date +FORMAT, ls --time-style=+FORMAT.
func timeFormat(format string) error {
	return eachDirective(format, timeDirective, func([]string, byte) error { return nil })
}

// Date judges the operand of date. Anything but +FORMAT sets the clock.
func Date(operand string) error {
	if !strings.HasPrefix(operand, "+") {
		return refusal("An operand of date that does not start with + sets the clock.")
	}
	return timeFormat(operand[1:])
}

// eachDirective finds the directives of a format and limits their widths and precisions. check judges the rest: it gets
// the parts that head matches, and the letter after them.
func eachDirective(format string, head func() *regexp.Regexp, check func(parts []string, letter byte) error) error {
	if err := unreadable(format); err != nil {
		return err
	}
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return nil
		}
		parts := head().FindStringSubmatch(format[at:])
		format = format[at+len(parts[0]):]
		if format == "" {
			return errUnending
		}
		for _, number := range parts[1:min(len(parts), 3)] {
			if tooWide(strings.TrimPrefix(number, ".")) {
				return errWide
			}
		}
		if err := check(parts, format[0]); err != nil {
			return err
		}
		format = format[1:]
	}
}

func unknownDirective(letter byte) error {
	return refusal("nod doesn't know that the directive " + Quote("%"+string(rune(letter))) + " only prints.")
}

func tooWide(number string) bool {
	n, err := strconv.Atoi(cmp.Or(number, "0"))
	return err != nil || n > maxWidth
}

// Printf judges the shell's printf. Operands of numeric directives must be plain numbers, because zsh evaluates them,
// which can run commands. For an unknown operand, pass any text that is not a number. With shifts, an operand may
// become several, so any operand may be used as a number.
func Printf(format string, operands []string, shifts bool) error {
	var numeric []bool // which operands of one round are numbers
	err := eachDirective(format, shellDirective, func(parts []string, letter byte) error {
		switch {
		case parts[3] != "" && letter == 'T':
			numeric = append(numeric, true)
			return timeFormat(parts[3][1 : len(parts[3])-1])
		case parts[3] != "":
		case letter == '%':
			return nil
		case strings.IndexByte("sbqc", letter) >= 0, strings.IndexByte("diouxXeEfFgGaA", letter) >= 0:
			numeric = append(numeric, strings.IndexByte("sbqc", letter) < 0)
			return nil
		}
		return unknownDirective(letter)
	})
	if err != nil || len(numeric) == 0 {
		return err
	}
	for i, operand := range operands {
		isNumber := numeric[i%len(numeric)] || shifts && slices.Contains(numeric, true)
		if isNumber && !printedNumber().MatchString(operand) {
			return refusal("zsh evaluates the number " + Quote(operand) + ", and evaluation can run commands.")
		}
	}
	return nil
}
