package report

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// some is a report with what a report can have.
func some() Report {
	call := Figure{Name: "a call | over HTTP", Headline: "a call", Unit: Seconds, Value: 240e-6, P99: 1.5e-3, Samples: 320}
	idle := Figure{Name: "processor time", Unit: Percent, Value: 0.04, Samples: 1}
	return Report{
		Began: time.Date(2030, 5, 6, 7, 8, 0, 0, time.UTC), Seconds: 61.4,
		Machine: []Fact{{"Processor", "fast, 2 cores"}},
		Groups: []Group{
			{Name: "Calls", How: "One after the other.", Figures: []Figure{
				call.Beside("a bare handler", 60e-6, 200e-6).Beside("nothing", 0, 0),
			}},
			{Name: "At rest", How: "Nothing happens.", Figures: []Figure{idle}},
		},
	}
}

func TestMarkdown(t *testing.T) {
	want := `# What nod costs

Measured on 2030-05-06 07:08 UTC, in 1m1s.

- Processor: fast, 2 cores

` + legend + `

## Calls

One after the other.

| figure | nod | p99 | beside it |
| --- | ---: | ---: | --- |
| a call \| over HTTP | 240 µs | 1.5 ms | a bare handler 60 µs (4×), nothing 0 ns |

## At rest

Nothing happens.

| figure | nod |
| --- | ---: |
| processor time | 0.04 % |
`
	if got := some().Markdown(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestAQuickRunSaysSo(t *testing.T) {
	r := some()
	r.Quick = true
	if text := r.Markdown(); !strings.Contains(text, "A quick run") {
		t.Error("nothing says that the run was quick:", text)
	}
}

func TestReadIsTheReverseOfWriteJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.json")
	if err := some().WriteJSON(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got, some()) {
		t.Errorf("%+v, %v, want %+v", got, err, some())
	}
}

func TestReadRefuses(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "bench.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, broken + ".none"} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want an error that names %s", err, path)
		}
	}
}

func TestFill(t *testing.T) {
	const call = "\n\n| figure | nod | p99 | beside it |\n| --- | ---: | ---: | --- |\n" +
		"| a call \\| over HTTP | 240 µs | 1.5 ms | a bare handler 60 µs (4×), nothing 0 ns |\n\n"
	const headlines = "\n\n| | nod | beside it, in the same run |\n|---|---:|---|\n" +
		"| a call | 240 µs | a bare handler 60 µs (4×), nothing 0 ns |\n\n"
	tests := map[string]struct{ document, want, problem string }{
		"the README's": {
			document: "before <!-- figures: begin -->old<!-- figures: end --> after",
			want:     "before <!-- figures: begin -->" + headlines + "<!-- figures: end --> after",
		},
		"a group, twice": {
			document: "<!-- figures: begin calls --><!-- figures: end -->\n<!-- figures: begin calls -->x<!-- figures: end -->",
			want: "<!-- figures: begin calls -->" + call + "<!-- figures: end -->\n<!-- figures: begin calls -->" + call +
				"<!-- figures: end -->",
		},
		"the machine": {
			document: "<!-- figures: begin machine --><!-- figures: end -->",
			want: "<!-- figures: begin machine -->\n\nMeasured on 2030-05-06 07:08 UTC, in 1m1s.\n\n" +
				"- Processor: fast, 2 cores\n\n<!-- figures: end -->",
		},
		"no marks":         {document: "nothing", problem: "no <!-- figures: begin --> in it"},
		"an unknown group": {document: "<!-- figures: begin none --><!-- figures: end -->", problem: `no group "none"`},
		"no end":           {document: "<!-- figures: begin -->", problem: "has no <!-- figures: end -->"},
		"no end before the next": {
			document: "<!-- figures: begin --><!-- figures: begin calls --><!-- figures: end -->",
			problem:  "has no <!-- figures: end -->",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := some().Fill(tt.document)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("%q, %v, want the error %q", got, err, tt.problem)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("%v, got:\n%s\nwant:\n%s", err, got, tt.want)
			}
			again, err := some().Fill(got)
			if err != nil || again != got {
				t.Errorf("filled again: %v\n%s", err, again)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	tests := map[string]struct {
		unit  Unit
		value float64
	}{
		"1.5 s": {Seconds, 1.5}, "12.3 ms": {Seconds, 0.01234}, "1 µs": {Seconds, 1e-6}, "120 ns": {Seconds, 120e-9},
		"0.5 ns": {Seconds, 5e-10}, "0 ns": {Seconds, 0}, "1.45 GB": {Bytes, 1.45e9}, "23.2 MB": {Bytes, 23.2e6},
		"4.1 kB": {Bytes, 4096 + 4}, "12 B": {Bytes, 12}, "0.04 %": {Percent, 0.03567}, "260/min": {PerMinute, 260},
		"0/min": {PerMinute, 0}, "1235": {Count, 1234.6}, "10": {Count, 9.999}, "100": {Count, 99.96},
	}
	for want, tt := range tests {
		if got := tt.unit.Format(tt.value); got != want {
			t.Errorf("%v %s: %q, want %q", tt.value, tt.unit, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for want, ratio := range map[string]float64{
		"8×": 7.96, "7.7×": 7.69, "11×": 11.1, "9.9×": 9.94, "10×": 9.96, "123×": 123.4, "1×": 0.999, "0.52×": 0.522,
		"1/12": 0.083, "1/330": 0.00301, "1/94000": 1.0638e-5,
	} {
		if got := times(ratio); got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}
