//go:build ci || !linux

package dialogs

func beginDo() {}

func endDo(bool) {}

func wakeLoop() {}
