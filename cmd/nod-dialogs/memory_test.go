package main

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Memory is given back twice after the screen has changed, once while something is on it.
func TestSpareGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var given []time.Duration
		isBusy := false
		p := newSpare(func() bool { return isBusy }, func() { given = append(given, time.Since(start)) })
		for _, isBusy = range []bool{false, true, false} {
			time.Sleep(soonStill - 1)
			p.settle()
			start = time.Now()
			time.Sleep(2 * longStill)
			want := []time.Duration{soonStill, longStill}
			if isBusy {
				want = want[:1]
			}
			if !slices.Equal(given, want) {
				t.Errorf("given back after %v, want %v", given, want)
			}
			given = nil
		}
	})
}
