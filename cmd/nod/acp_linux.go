package main

import "syscall"

// tied makes a program end with nod, however nod ends, because an editor may kill what it started.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
