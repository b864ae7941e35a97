//go:build !linux

package snapshot

// limitMemory does nothing: commands run in no sandbox here.
func limitMemory(int) {}
