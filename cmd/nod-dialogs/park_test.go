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

// Memory is given back twice after something was on screen, and what wakes the loop meanwhile changes nothing.
func TestParkGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isBusy, given := false, []int{}
		turn := 0
		p := newPark(t.Context(), func() bool { return isBusy }, func() { given = append(given, turn) })
		for range 2 {
			given = nil
			for turn = 1; turn <= 2*longStill; turn++ {
				p.Wake()
				p.sleep() // at once
				p.sleep()
			}
			if want := []int{soonStill, longStill}; !slices.Equal(given, want) {
				t.Errorf("given back in the turns %v, want %v", given, want)
			}
			isBusy = true
			p.sleep()
			isBusy = false
		}
	})
}
