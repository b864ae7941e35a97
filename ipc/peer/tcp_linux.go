package peer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tcpProcess searches for the process that made the connection: of those that hold its socket the one that started
// first, because the others can only have got the socket from it.
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

// findTCP returns the owner of the socket that is bound to local and connected to remote. A program may use an IPv4
// address on an IPv6 socket, so both of the kernel's tables count. It does not look for a socket that listens on all
// addresses, because nod never does.
func findTCP(local, remote netip.AddrPort, state string) (credentials, error) {
	if local.Addr().Is4() {
		if who, err := scanTCP("/proc/net/tcp", local, remote, state); err == nil {
			return who, nil
		}
	}
	return scanTCP("/proc/net/tcp6", mapped(local), mapped(remote), state)
}

// mapped returns an address as an IPv6 socket has it.
func mapped(a netip.AddrPort) netip.AddrPort {
	if a.Addr() == netip.IPv4Unspecified() {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), a.Port())
	}
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
}

func scanTCP(table string, local, remote netip.AddrPort, state string) (credentials, error) {
	f, err := os.Open(table)
	if err != nil {
		return credentials{}, err
	}
	defer f.Close()
	lines, want := bufio.NewScanner(f), kernelAddr(local)+" "+kernelAddr(remote)+" "+state
	for lines.Scan() {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …
		if !strings.Contains(lines.Text(), want) {
			continue
		}
		if who, ok := parseTCP(strings.Fields(lines.Text())); ok {
			return who, nil
		}
	}
	return credentials{}, errors.Join(lines.Err(), fmt.Errorf("%s has no socket %s", table, local))
}

// parseTCP reads the owner of one line's socket. A socket that its process has closed has no inode, and then no owner,
// whatever the line says.
func parseTCP(field []string) (credentials, bool) {
	if len(field) < 10 {
		return credentials{}, false
	}
	uid, err := strconv.Atoi(field[7])
	if err != nil {
		return credentials{}, false
	}
	inode, err := strconv.ParseUint(field[9], 10, 64)
	return credentials{uid: uid, inode: inode}, err == nil && inode != 0
}

// kernelAddr formats a as in the kernel's table: each four bytes of the address as a number in the machine's byte
// order.
func kernelAddr(a netip.AddrPort) string {
	ip := a.Addr().AsSlice()
	var b strings.Builder
	for i := 0; i+4 <= len(ip); i += 4 {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(ip[i:]))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}
