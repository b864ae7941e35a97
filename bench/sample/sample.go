// Package sample takes the same measurement of several subjects in turns, so that what else the machine does meanwhile
// hits them alike.
package sample

import (
	"fmt"
	"slices"
	"time"
)

// Subject is something that can be measured again and again. Measure takes one sample or some.
type Subject struct {
	Name    string
	Measure func() (Times, error)
}

// Times is what was measured of a subject.
type Times []time.Duration

// Median is the time that half of the samples stay under, in seconds.
func (t Times) Median() float64 { return t.part(50) }

// P99 is the time that 99 of 100 samples stay under, in seconds; zero when they are too few to say.
func (t Times) P99() float64 {
	const fewest = 100
	if len(t) < fewest {
		return 0
	}
	return t.part(99)
}

// part is the time that so many of 100 samples stay under, in seconds.
func (t Times) part(of int) float64 {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[len(sorted)*of/100].Seconds()
}

// InTurns measures every subject in turns times, after once that does not count. Each turn begins with another subject,
// so that none always follows the same.
func InTurns(turns int, subjects ...Subject) ([]Times, error) {
	all := make([]Times, len(subjects))
	for turn := range turns + 1 {
		for k := range subjects {
			i := (turn + k) % len(subjects)
			took, err := subjects[i].Measure()
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", subjects[i].Name, err)
			}
			if turn > 0 {
				all[i] = append(all[i], took...)
			}
		}
	}
	return all, nil
}

// Once is a subject of which a sample is the time of one call.
func Once(name string, do func() error) Subject {
	return Subject{name, func() (Times, error) {
		begin := time.Now()
		err := do()
		return Times{time.Since(begin)}, err
	}}
}

// shortest is how long the clock must run for its own time not to count.
const shortest = 2 * time.Millisecond

// Mean is a subject that is too quick for the clock: a sample is the mean of as many calls in a row as take a while.
func Mean(name string, do func() error) Subject {
	calls := 1
	return Subject{name, func() (Times, error) {
		for {
			begin := time.Now()
			for range calls {
				if err := do(); err != nil {
					return nil, err
				}
			}
			if took := time.Since(begin); took >= shortest {
				return Times{took / time.Duration(calls)}, nil
			}
			calls *= 2
		}
	}}
}
