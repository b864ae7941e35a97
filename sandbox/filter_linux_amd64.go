package sandbox

import "golang.org/x/sys/unix"

// old are system calls that newer architectures only have in another form.
var old = []uintptr{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	unix.SYS_INOTIFY_INIT, unix.SYS_USELIB,
}
