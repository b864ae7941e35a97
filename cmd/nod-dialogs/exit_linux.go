//go:build !ci

package main

/*
#include <stdlib.h>
#include <unistd.h>

static int status;

static void leave(void) { _exit(status); }

static void onExit(int s) {
	if (status == 0) {
		atexit(leave);
	}
	status = s;
}
*/
import "C"

// exitOfLibraries sets the exit status for when a C library ends this process, as Xlib does with a status of its own
// when the display server ends. It does not affect exits by Go.
func exitOfLibraries(status int) { C.onExit(C.int(status)) }
