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

// exitOfLibraries has this process exit with a status when a library in C ends it, as that of X does with a status of
// its own when it loses the display server. What Go ends does not come by here.
func exitOfLibraries(status int) { C.onExit(C.int(status)) }
