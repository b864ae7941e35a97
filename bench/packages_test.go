//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nod/bench/report"
)

func TestReadBenchmarks(t *testing.T) {
	got, err := readBenchmarks(strings.NewReader(`goos: linux
goarch: amd64
pkg: nod/policy
cpu: some
BenchmarkNames/glob/odd-2         	   12345	      9567 ns/op	     100 B/op	       3 allocs/op
    journal: 3 entries
BenchmarkNames/some-thing_else-2  	       1	   1000000 ns/op
BenchmarkSpace                    	      10	        12.0 lines
PASS
ok  	nod/policy	0.531s
pkg: nod/interact/journal
BenchmarkOpen-2   	      20	  51719359 ns/op
PASS
`))
	want := []report.Figure{
		{Name: "policy: Names/glob/odd", Unit: report.Seconds, Value: 9567e-9, Samples: 12345},
		{Name: "policy: Names/some-thing else", Unit: report.Seconds, Value: 1e-3, Samples: 1},
		{Name: "interact/journal: Open", Unit: report.Seconds, Value: 51719359e-9, Samples: 20},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	for i := range want {
		if got[i].Value = round(got[i].Value); !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// round takes away what is left over from counting in nanoseconds.
func round(seconds float64) float64 { return float64(int64(seconds*1e9+0.5)) / 1e9 }

func TestReadBenchmarksRefusesWhatItCannotRead(t *testing.T) {
	if got, err := readBenchmarks(strings.NewReader("BenchmarkX-2 many 5 ns/op\n")); err == nil {
		t.Errorf("%+v, want an error", got)
	}
}

func TestModuleOf(t *testing.T) {
	modules := []string{"nod", "example.com/a", "example.com/a/v2"}
	for function, want := range map[string]string{
		"main.main":                 "nod",
		"nod/policy.Decide":         "nod",
		"nodding.X":                 "Go's standard library",
		"example.com/a/b.(*T).Do":   "example.com/a",
		"example.com/a/v2.F":        "example.com/a/v2",
		"net/http.(*Server).Serve":  "Go's standard library",
		"example.com/abc.F":         "Go's standard library",
		"type:.eq.example.com/a.T":  "Go's standard library",
		"runtime.mallocgc":          "Go's standard library",
		"example.com/a.F[go.shape]": "example.com/a",
	} {
		if got := moduleOf(function, modules); got != want {
			t.Errorf("%s: %s, want %s", function, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != len(measurements) {
		t.Errorf("%d groups without a choice, %v, want all %d", len(all), err, len(measurements))
	}
	some, err := choose("sizes,Calls")
	if err != nil || len(some) != 2 || some[0].name != "Sizes" || some[1].name != "Calls" {
		t.Errorf("%+v, %v, want sizes and calls", some, err)
	}
	if _, err := choose("calls,none"); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("%v, want an error about none", err)
	}
}

func TestWithBenchmarks(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"go.mod": "", "x_test.go": "package x\n\nfunc BenchmarkX(b *testing.B) {}\n",
		"a/b/y_test.go": "package b\n\nfunc BenchmarkY(b *testing.B) {}\n", "a/b/z_test.go": "package b\n\nfunc BenchmarkZ()",
		"a/a.go": "package a\n\nfunc BenchmarkA() {}\n", "tests/t_test.go": "package tests\n\nfunc TestT(t *testing.T) {}\n",
		"other/go.mod": "", "other/o_test.go": "package o\n\nfunc BenchmarkO(b *testing.B) {}\n",
		".cache/c_test.go": "package c\n\nfunc BenchmarkC(b *testing.B) {}\n",
	} {
		path = filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := withBenchmarks(root)
	if want := []string{"./a/b", "./."}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
