//go:build unix

package ownlog

import "syscall"

// noFollow makes opening a file not follow a link or block on a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
