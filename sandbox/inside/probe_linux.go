package inside

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// probeWord has the program try to get out. The engine wants it to fail.
const probeWord = "probe"

// Probe is a command that tries to write two files, of which the first may seem to succeed, to read a third, and to
// connect to the port of 127.0.0.1 and to the abstract socket. It prints [Contained] if it fails in
// all of it, else what it could do.
func Probe(outside, kept, hidden string, port int, socket string) []string {
	return []string{First, probeWord, outside, kept, hidden, fmt.Sprint(port), socket}
}

// Contained is what a probe prints that got nowhere.
const Contained = "contained"

func probe(args []string) {
	if len(args) != 5 {
		os.Exit(2)
	}
	var port int
	_, _ = fmt.Sscan(args[3], &port)
	said := Contained
	_ = os.WriteFile(args[0], nil, 0o600)
	if os.WriteFile(args[1], nil, 0o600) == nil || os.Chmod(args[1], 0o644) == nil {
		said = "can change what is kept"
	} else if text, err := os.ReadFile(args[2]); err == nil && len(text) > 0 {
		said = "can read what is hidden"
	} else if reaches(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) {
		said = "reaches the network"
	} else if reaches(unix.AF_UNIX, &unix.SockaddrUnix{Name: args[4]}) {
		said = "reaches other programs' sockets"
	} else if unix.Unshare(unix.CLONE_NEWNS) == nil {
		said = "can make namespaces"
	}
	fmt.Println(said)
	os.Exit(0)
}

func reaches(family int, address unix.Sockaddr) bool {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	return err == nil && unix.Connect(fd, address) == nil
}
