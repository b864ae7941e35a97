//go:build unix

package ownlog

import "syscall"

// noFollow opens a file without following a link or blocking on a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
