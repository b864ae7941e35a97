package ipc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// socketOwner asks the kernel who connected to the Unix socket.
func socketOwner(c *net.UnixConn) (credentials, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credentials{}, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return credentials{}, err
	}
	return credentials{pid: cred.Pid, uid: int(cred.Uid), known: true}, nil
}

// tcpOwner says whose the socket is that is bound to remote and connected to local.
func tcpOwner(remote, local netip.AddrPort) credentials {
	s, ok := findTCP(remote, local)
	if !ok {
		return credentials{}
	}
	return credentials{uid: s.uid, known: true, inode: s.inode}
}

// tcpProcess searches for the process that made the connection: of those that hold its socket the one that
// started first, because the others can only have it from that one.
func tcpProcess(_, _ netip.AddrPort, who credentials) int32 {
	if who.inode == 0 {
		return 0
	}
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	link := fmt.Sprintf("socket:[%d]", who.inode)
	var found int32
	var oldest uint64
	for _, proc := range procs {
		pid, err := strconv.ParseInt(proc.Name(), 10, 32)
		if err != nil || !holds(int32(pid), link) {
			continue
		}
		st, err := readStat(int32(pid))
		if err == nil && (found == 0 || st.started < oldest) {
			found, oldest = int32(pid), st.started
		}
	}
	return found
}

// holds reports whether one of the process's open files is the socket.
func holds(pid int32, link string) bool {
	dir := procPath(pid, "fd")
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var buf [64]byte
	for _, name := range names {
		n, err := unix.Readlink(dir+"/"+name, buf[:])
		if err == nil && string(buf[:n]) == link {
			return true
		}
	}
	return false
}

// tcpSocket is one line of /proc/net/tcp.
type tcpSocket struct {
	uid   int
	inode uint64
}

// findTCP looks a connection up in the kernel's table. A client may reach an IPv4 address through an IPv6
// socket, so both tables count.
func findTCP(local, remote netip.AddrPort) (tcpSocket, bool) {
	if local.Addr().Is4() {
		if s, ok := scanTCP("/proc/net/tcp", kernelAddr(local), kernelAddr(remote)); ok {
			return s, true
		}
		local, remote = mapped(local), mapped(remote)
	}
	return scanTCP("/proc/net/tcp6", kernelAddr(local), kernelAddr(remote))
}

func mapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
}

func scanTCP(table, local, remote string) (tcpSocket, bool) {
	f, err := os.Open(table)
	if err != nil {
		return tcpSocket{}, false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …
		line := lines.Text()
		if !strings.Contains(line, local+" "+remote) {
			continue
		}
		if s, ok := parseTCP(strings.Fields(line)); ok {
			return s, true
		}
	}
	return tcpSocket{}, false
}

// parseTCP reads the owner of one line's socket. A socket that its process has closed has no inode, and
// then no owner either, whatever the line says.
func parseTCP(field []string) (tcpSocket, bool) {
	if len(field) < 10 {
		return tcpSocket{}, false
	}
	uid, err := strconv.Atoi(field[7])
	if err != nil {
		return tcpSocket{}, false
	}
	inode, err := strconv.ParseUint(field[9], 10, 64)
	return tcpSocket{uid: uid, inode: inode}, err == nil && inode != 0
}

// kernelAddr spells addr as the kernel's table does: each four bytes of the address as a number in the
// machine's byte order.
func kernelAddr(a netip.AddrPort) string {
	ip := a.Addr().AsSlice()
	var b strings.Builder
	for i := 0; i+4 <= len(ip); i += 4 {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(ip[i:]))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}
