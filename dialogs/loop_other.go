//go:build ci || !linux

package dialogs

// These do nothing: the loop polls.

func beginDo() {}

func endDo(bool) {}

func wakeLoop() {}
