//go:build !ci

package main

/*
#include <malloc.h>
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

#ifdef __GLIBC__
// Without these, glibc takes ever larger blocks from heaps that it cannot shrink, one for each thread of OpenGL.
static void tame(void) {
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
	mallopt(M_ARENA_MAX, 2);
}

static void trim(void) { malloc_trim(0); }
#else
static void tame(void) {}
static void trim(void) {}
#endif
*/
import "C"

// exitOfLibraries sets the exit status for when a C library ends this process, as Xlib does when the display is lost.
func exitOfLibraries(status int) { C.onExit(C.int(status)) }

// tameMalloc makes libraries allocate memory where it can be returned to the system.
func tameMalloc() { C.tame() }

// trimMalloc returns memory that libraries have freed.
func trimMalloc() { C.trim() }
