package ownprocess

import "runtime/debug"

// GiveBack returns unused memory to the system. Meanwhile no library may be unloaded.
func GiveBack() {
	debug.FreeOSMemory()
	forgetFiles()
}
