package ownlog

import (
	"context"
	"errors"
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
		var got []string
		err := Last(path, 2, func(line []byte) error { got = append(got, string(line)); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%.20q: %.60q, %v, want %.60q", text, got, err, want)
		}
	}
	if err := Last(path+".gone", 2, nil); !errors.Is(err, errNone) {
		t.Errorf("no log: %v", err)
	}
	failure := errors.New("no paper")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Last(path, 2, func([]byte) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("err = %v", err)
	}
}

// Every line is shown, once and in order, whatever happens to the file meanwhile.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	ctx, cancel := context.WithCancel(t.Context())
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		ended <- Follow(ctx, path, 5, func(line []byte) error { lines <- string(line); return nil })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	n := 0
	next := func(log *File) {
		t.Helper()
		n++
		line := fmt.Sprint("line ", n, strings.Repeat(" long", 20<<10))
		if _, err := log.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		if got := <-lines; got != line {
			t.Fatalf("%.20q, want %.20q", got, line)
		}
	}
	log, err := OpenShared(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for range 120 { // which rotates it twice
		next(log)
	}
	if old, err := filepath.Glob(filepath.Join(filepath.Dir(path), "log-*")); err != nil || len(old) == 0 {
		t.Errorf("rotated: %q, %v", old, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	next(log)
	if err := errors.Join(log.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	next(log)
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
	var lines int
	next := map[string]int{}
	err := Last(path, writers*each, func(line []byte) error {
		lines++
		var who, i int
		if _, err := fmt.Sscanf(string(line), "%d %d", &who, &i); err != nil || !strings.HasSuffix(string(line), "x.") {
			t.Errorf("%q, %v", line, err)
		}
		if key := fmt.Sprint(who); next[key] != i {
			t.Errorf("line %d of %d comes as the %dth", i, who, next[key])
		} else {
			next[key]++
		}
		return nil
	})
	if err != nil || lines != writers*each {
		t.Errorf("%d lines, %v, want %d", lines, err, writers*each)
	}
}
