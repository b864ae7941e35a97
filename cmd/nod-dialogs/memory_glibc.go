//go:build !ci && linux

package main

/*
#include <malloc.h>

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

// tameMalloc makes libraries allocate memory where it can be returned to the system.
func tameMalloc() { C.tame() }

func trimMalloc() { C.trim() }
