package sample

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestInTurns(t *testing.T) {
	var order []string
	subject := func(name string, takes time.Duration) Subject {
		return Once(name, func() error {
			order = append(order, name)
			time.Sleep(takes)
			return nil
		})
	}
	synctest.Test(t, func(t *testing.T) {
		all, err := InTurns(3, subject("a", time.Second), subject("b", 2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Fields("a b b a a b b a"); !slices.Equal(order, want) {
			t.Errorf("measured in the order %v, want %v", order, want)
		}
		for i, want := range []time.Duration{time.Second, 2 * time.Second} {
			if !slices.Equal(all[i], slices.Repeat(Times{want}, 3)) {
				t.Errorf("subject %d: %v, want three times %v", i, all[i], want)
			}
		}
	})
}

func TestInTurnsNamesWhatFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := InTurns(1, Once("fine", func() error { return nil }), Once("the other", func() error { return broken }))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "the other") {
		t.Errorf("%v, want the error of the other", err)
	}
}

func TestMeanIsOfAsManyCallsAsTakeAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := Mean("quick", func() error {
			calls++
			time.Sleep(100 * time.Microsecond)
			return nil
		})
		for range 2 {
			took, err := s.Measure()
			if err != nil || !slices.Equal(took, Times{100 * time.Microsecond}) {
				t.Errorf("%v, %v, want one sample of 100µs", took, err)
			}
		}
		if want := 1 + 2 + 4 + 8 + 16 + 32 + 32; calls != want {
			t.Errorf("%d calls, want %d", calls, want)
		}
	})
}

func TestTimes(t *testing.T) {
	var hundred Times
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Second)
	}
	for name, tt := range map[string]struct {
		times       Times
		median, p99 float64
	}{
		"none": {}, "one": {times: Times{time.Second}, median: 1}, "100 in no order": {times: hundred, median: 51, p99: 100},
		"too few to say": {times: hundred[:99], median: 51},
	} {
		if tt.times.Median() != tt.median || tt.times.P99() != tt.p99 {
			t.Errorf("%s: median %v, p99 %v, want %v, %v", name, tt.times.Median(), tt.times.P99(), tt.median, tt.p99)
		}
	}
}
