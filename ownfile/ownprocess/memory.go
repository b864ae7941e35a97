package ownprocess

import "runtime/debug"

// GiveBack returns memory that this process does not need now to the system. It takes some milliseconds,
// in which no library may be unloaded.
func GiveBack() {
	debug.FreeOSMemory()
	forgetFiles()
}
