package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// The replies of a filter, and the offsets of its input.
const (
	allow  = unix.SECCOMP_RET_ALLOW
	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	lacks  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	family = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)

	atNumber, atArch, atArgs = 0, 4, 16 // in struct seccomp_data; the lower half of an argument comes first
)

// missing are system calls that programs can do without. A filter cannot read the flags of clone3.
var missing = []uintptr{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
}

// refused are system calls that builds and tests do not need: most require rights that a sandbox does not have, and all
// expose errors of the kernel. ptrace is not among them: it reaches only what runs in the sandbox, and tests with
// sanitizers use it.
var refused = []uintptr{
	unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_MOUNT_SETATTR, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_SYSLOG, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP,
}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// With Landlock a command shares all namespaces with others. Landlock does not check these system calls: they
// change the metadata of files, and reach other processes, their memory, messages and locks.
var (
	shared = []uintptr{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL,
		unix.SYS_SEMTIMEDOP, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN,
		unix.SYS_MQ_UNLINK, unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH,
	}
	described = []uintptr{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR,
		unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
		unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_IOPRIO_SET, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	}
	others = []uint32{ // about a process; 0 is the caller
		unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM,
		unix.SYS_SCHED_SETATTR,
	}
)

// enclose refuses what Landlock does not.
func (p *program) enclose() {
	for _, call := range shared {
		p.when(unix.BPF_JEQ, uint32(call), lacks)
	}
	for _, call := range slices.Concat(described, old) {
		p.when(unix.BPF_JEQ, uint32(call), refuse)
	}
	for _, call := range others {
		p.about(call, 0, func(rules *program) { rules.unless(0, refuse) })
	}
	for argument := range uint32(2) { // PRIO_PROCESS, and the process
		p.about(unix.SYS_SETPRIORITY, argument, func(rules *program) { rules.unless(0, refuse) })
	}
	// Some requests change the flags of a file opened for reading. All requests of terminals begin with T.
	p.about(unix.SYS_IOCTL, 1, func(rules *program) {
		for _, request := range []uint32{unix.TIOCCONS, unix.TIOCSETD} {
			rules.when(unix.BPF_JEQ, request, refuse)
		}
		rules.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xff00, 0, 0)
		rules.unless('T'<<8, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOTTY))
	})
	// Only socket pairs: others would reach sockets in folders. No datagram pairs: they can be reconnected.
	p.when(unix.BPF_JEQ, unix.SYS_SOCKET, family)
	p.about(unix.SYS_SOCKETPAIR, 1, func(rules *program) {
		rules.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf, 0, 0) // without SOCK_CLOEXEC and the like
		rules.among([]uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}, family)
	})
}

// families are the permitted kinds of sockets: vsock would reach the host of a virtual machine.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// arches are the architectures whose system call numbers the lists have, as the kernel calls them.
var arches = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// filter returns the program by which the kernel checks each system call.
func filter(kind Kind) ([]byte, error) {
	arch, ok := arches[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("no sandbox on %s: its system calls are not known", runtime.GOARCH)
	}
	var f program
	f.load(atArch)
	f.unless(arch, lacks) // other programs, such as 32-bit ones, use other numbers
	f.load(atNumber)
	if runtime.GOARCH == "amd64" {
		f.when(unix.BPF_JGE, 0x4000_0000, lacks) // x32: the same calls by other numbers
	}
	for _, call := range missing {
		f.when(unix.BPF_JEQ, uint32(call), lacks)
	}
	for _, call := range refused {
		f.when(unix.BPF_JEQ, uint32(call), refuse)
	}
	for _, call := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		f.about(call, 0, func(rules *program) { rules.when(unix.BPF_JSET, namespaces, refuse) })
	}
	// Both put text into a terminal as if the user had typed it.
	f.about(unix.SYS_IOCTL, 1, func(rules *program) {
		rules.when(unix.BPF_JEQ, unix.TIOCSTI, refuse)
		rules.when(unix.BPF_JEQ, unix.TIOCLINUX, refuse)
	})
	if kind == landlock {
		f.enclose()
	}
	f.about(unix.SYS_SOCKET, 0, func(rules *program) { rules.among(families, family) })
	f.about(unix.SYS_SOCKETPAIR, 0, func(rules *program) { rules.among(families[:1], family) })
	f.about(unix.SYS_SOCKET, 0, func(rules *program) { // of netlink, only what lists network interfaces
		rules.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_NETLINK, 0, 3)
		rules.load(atArgs + 8*2)
		rules.unless(unix.NETLINK_ROUTE, family)
	})
	f.add(unix.BPF_RET|unix.BPF_K, allow, 0, 0)
	return f.bytes(), nil
}

type program []unix.SockFilter

func (p *program) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (p *program) load(at uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }

// when ends with a reply if the loaded value compares to k.
func (p *program) when(compare uint16, k, reply uint32) {
	p.add(unix.BPF_JMP|compare|unix.BPF_K, k, 0, 1)
	p.add(unix.BPF_RET|unix.BPF_K, reply, 0, 0)
}

// unless ends with a reply if the loaded value is not k.
func (p *program) unless(k, reply uint32) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 1, 0)
	p.add(unix.BPF_RET|unix.BPF_K, reply, 0, 0)
}

// among ends with a reply if the loaded value is not one of known.
func (p *program) among(known []uint32, reply uint32) {
	for i, k := range known {
		p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, uint8(len(known)-i), 0)
	}
	p.add(unix.BPF_RET|unix.BPF_K, reply, 0, 0)
}

// about adds rules for an argument of one system call. The number is loaded before and after.
func (p *program) about(call uint32, argument uint32, add func(*program)) {
	var rules program
	rules.load(atArgs + 8*argument)
	add(&rules)
	rules.load(atNumber)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(len(rules)))
	*p = append(*p, rules...)
}

func (p program) bytes() []byte {
	var out bytes.Buffer
	_ = binary.Write(&out, binary.NativeEndian, p) // a buffer never fails
	return out.Bytes()
}
