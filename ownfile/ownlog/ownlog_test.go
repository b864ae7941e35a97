package ownlog

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestLevel(t *testing.T) {
	for _, test := range []struct {
		flag, env string
		want      slog.Level
		wrong     string
	}{
		{want: slog.LevelInfo}, {env: "debug", want: slog.LevelDebug}, {env: "WARN", want: slog.LevelWarn},
		{flag: "error", env: "debug", want: slog.LevelError}, {flag: "error", env: "loud", want: slog.LevelError},
		{flag: "loud", env: "debug", wrong: `--log-level: "loud"`}, {env: "loud", wrong: `NOD_LOG: "loud"`},
	} {
		t.Setenv(variable, test.env)
		got, err := Level(test.flag)
		if test.wrong == "" && (err != nil || got != test.want) {
			t.Errorf("%+v: %v, %v", test, got, err)
		}
		if test.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), test.wrong)) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func TestLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	long := strings.Repeat("x", 100<<10) // more than is read at once
	for text, want := range map[string][]string{
		"":                            nil,
		"one\n":                       {"one"},
		"one\ntwo\n":                  {"one", "two"},
		"one\ntwo\nthree\n":           {"two", "three"},
		"\n\n\n":                      {"", ""},
		"one\ntwo\nhalf":              {"one", "two"}, // its end is not written yet
		long + "\n" + long + "y\nz\n": {long + "y", "z"},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Last(path, 2)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%.20q: %.60q, %v, want %.60q", text, got, err, want)
		}
	}
	if _, err := Last(path+".gone", 2); err == nil || !strings.HasSuffix(err.Error(), "there is no log yet") {
		t.Errorf("no log: %v", err)
	}
}

// Of what many write at once no line is lost or torn.
func TestManyWriteAtOnce(t *testing.T) {
	const writers, each = 8, 100
	path := filepath.Join(t.TempDir(), "log")
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			log, err := OpenShared(path)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				if _, err := fmt.Fprintf(log, "%d %d %s.\n", n, i, strings.Repeat("x", 100)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	next := map[string]int{}
	lines, err := Last(path, writers*each)
	for _, line := range lines {
		var who, i int
		if _, err := fmt.Sscanf(line, "%d %d", &who, &i); err != nil || !strings.HasSuffix(line, "x.") {
			t.Errorf("%q, %v", line, err)
		}
		if key := fmt.Sprint(who); next[key] != i {
			t.Errorf("line %d of %d comes as the %dth", i, who, next[key])
		} else {
			next[key]++
		}
	}
	if err != nil || len(lines) != writers*each {
		t.Errorf("%d lines, %v, want %d", len(lines), err, writers*each)
	}
}
