//go:build ci || !linux

package controls

// wakeLoop does nothing: the loop polls.
func wakeLoop() {}
