//go:build unix

package ownlog

import "syscall"

// noFollow keeps the opening of a file from following a link, and from waiting for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
