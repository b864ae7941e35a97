package jsonl

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	const a, b = `{"a":1}`, `{"b":2}`
	long, tooLong := "{"+strings.Repeat("x", 3*bufferSize)+"}", "{"+strings.Repeat("x", maxLine)+"}"
	tests := map[string]struct {
		text    string
		want    []string
		skipped int
	}{
		"empty":                 {"", nil, 0},
		"lines":                 {a + "\n" + b + "\n", []string{a, b}, 0},
		"no last end":           {a + "\n" + b, []string{a, b}, 0},
		"blank":                 {"\n \n\r\n" + a + "\r\n\n", []string{a}, 0},
		"no objects":            {"x\n[]\n" + a + "\n" + b[:4], []string{a}, 3},
		"long":                  {a + "\n" + long + "\n" + b + "\n", []string{a, long, b}, 0},
		"too long":              {a + "\n" + tooLong + "\n" + b + "\n", []string{a, b}, 1},
		"too long, no last end": {tooLong, nil, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := NewReader(strings.NewReader(test.text))
			var got []string
			for line := r.Next(); line != nil; line = r.Next() {
				got = append(got, string(line))
			}
			if !slices.Equal(got, test.want) || r.Skipped() != test.skipped || r.Err() != nil {
				t.Errorf("%d lines, %d skipped, %v; want %d lines, %d skipped",
					len(got), r.Skipped(), r.Err(), len(test.want), test.skipped)
			}
		})
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("broken disk")
	r := NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	for r.Next() != nil {
	}
	if !errors.Is(r.Err(), broken) {
		t.Errorf("got %v, want %v", r.Err(), broken)
	}
}

// A reader lets go of the memory that one long line took.
func TestReaderForgetsLongLines(t *testing.T) {
	long := strings.Repeat("x", 2*keepBuffer) + "\n" + strings.Repeat("y", 2*bufferSize)
	r := NewReader(strings.NewReader(long + "\nz\n"))
	for r.Next() != nil {
	}
	if cap(r.long) > keepBuffer {
		t.Errorf("%d bytes are kept", cap(r.long))
	}
}
