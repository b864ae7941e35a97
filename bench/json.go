//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"nod/bench/report"
	"nod/bench/sample"
	"nod/policy"
)

const jsonHow = "Reading the input of a tool call, in this process. nod's reader refuses what two readers could " +
	"read differently (a field named twice, invalid UTF-8), hashes the input, and looks for hidden characters; " +
	"encoding/json does none of that."

// json measures what strict reading costs.
func (b *bench) json() (figures []report.Figure, err error) {
	inputs := []struct{ name, text string }{
		{"a command", `{"command":"go test ./... 2>&1 | tail -20","description":"Run the tests"}`},
		{"an edit of 10 kB", fmt.Sprintf(`{"file_path":"/src/main.go","old_string":%q,"new_string":%q}`,
			strings.Repeat("x := f(1)\n", 450), strings.Repeat("y := f(2)\n", 450))},
	}
	for _, in := range inputs {
		raw := json.RawMessage(in.text)
		f, err := compare("read "+in.name, b.times(60),
			sample.Mean("nod", func() error {
				if read := policy.ReadInput(raw); !read.IsObject() {
					return fmt.Errorf("nod does not read %s", in.name)
				}
				return nil
			}),
			sample.Mean("encoding/json", func() error {
				var fields map[string]any
				return json.Unmarshal(raw, &fields)
			}))
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}
