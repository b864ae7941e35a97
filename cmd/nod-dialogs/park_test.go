package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The parked loop itself needs a real driver; here is what decides whether it sleeps.
func TestParkTurn(t *testing.T) {
	tests := []struct {
		name  string
		do    func(p *park, end context.CancelFunc)
		sleep time.Duration
	}{
		{"nothing happens", func(*park, context.CancelFunc) {}, parkTurn},
		{"woken", func(p *park, _ context.CancelFunc) { p.Wake(); p.Wake() }, 0},
		{"ended", func(_ *park, end context.CancelFunc) { end() }, 0},
		{"something is on screen", func(p *park, _ context.CancelFunc) { p.busy = func() bool { return true } }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				defer end()
				p := newPark(ctx, func() bool { return false }, func() {})
				tt.do(p, end)
				start := time.Now()
				p.sleep()
				if slept := time.Since(start); slept != tt.sleep {
					t.Errorf("slept %v, want %v", slept, tt.sleep)
				}
			})
		})
	}
}

// Memory is given back twice after the screen has changed, once while something is on it.
func TestParkGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var given []time.Duration
		isBusy := false
		p := newPark(t.Context(), func() bool { return isBusy }, func() { given = append(given, time.Since(start)) })
		p.on = true // the loop is parked already
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
