package client

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// serverUID returns the user that the server at the other end runs as.
func serverUID(conn net.Conn) (int, error) {
	switch conn := conn.(type) {
	case *net.UnixConn:
		return socketUID(conn)
	case *net.TCPConn:
		return listenerUID(conn.RemoteAddr().(*net.TCPAddr))
	}
	return 0, errNoOwner
}

// socketUID asks the kernel who called listen on the other end.
func socketUID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// listenerUID looks the listener on addr up in the kernel's table. The listener, not the accepted
// connection: that one has no owner until the server accepts it.
func listenerUID(addr *net.TCPAddr) (int, error) {
	table := "/proc/net/tcp"
	if addr.IP.To4() == nil {
		table = "/proc/net/tcp6"
	}
	f, err := os.Open(table)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	want := kernelAddr(addr)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid …; 0A is LISTEN
		field := strings.Fields(lines.Text())
		if len(field) > 7 && field[1] == want && field[3] == "0A" {
			return strconv.Atoi(field[7])
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("nothing in %s listens on %s", table, addr)
}

// kernelAddr spells addr as /proc/net/tcp does: each four bytes of the address as a number in the
// machine's byte order.
func kernelAddr(addr *net.TCPAddr) string {
	ip := addr.IP.To4()
	if ip == nil {
		ip = addr.IP.To16()
	}
	var b strings.Builder
	for word := range slices.Chunk(ip, 4) {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	fmt.Fprintf(&b, ":%04X", addr.Port)
	return b.String()
}
