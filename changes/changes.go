// Package changes tells goroutines that something has changed. They find out what.
package changes

import "sync"

// Signal wakes the goroutine that receives from it. Signals that were not received yet are one.
type Signal chan struct{}

// NewSignal returns a signal that was not sent.
func NewSignal() Signal { return make(Signal, 1) }

// Send sends the signal. It never blocks.
func (s Signal) Send() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Source sends signals to its subscribers. The zero value has none, and a Source is safe for concurrent use.
type Source struct {
	mu          sync.Mutex
	subscribers map[Signal]struct{}
}

// Subscribe returns a signal that is sent after each change until stop is called.
func (s *Source) Subscribe() (changed <-chan struct{}, stop func()) {
	signal := NewSignal()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subscribers == nil {
		s.subscribers = map[Signal]struct{}{}
	}
	s.subscribers[signal] = struct{}{}
	return signal, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subscribers, signal)
	}
}

// Send tells all subscribers. It never blocks.
func (s *Source) Send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for signal := range s.subscribers {
		signal.Send()
	}
}
