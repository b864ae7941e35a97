package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// probeWord makes nod try to get out of the sandbox. The attempt must fail.
const probeWord = "probe"

// probeCommand returns a command that tries to write the files outside and kept, to read hidden, to connect to the port
// on 127.0.0.1 and to the abstract socket, and to create a namespace. It prints [contained] if all of it fails, or
// else what succeeded. Writing outside may seem to succeed: check the file.
func probeCommand(outside, kept, hidden string, port int, socket string) []string {
	return []string{firstPath, probeWord, outside, kept, hidden, fmt.Sprint(port), socket}
}

const contained = "contained"

func probe(args []string) {
	if len(args) != 5 {
		os.Exit(2)
	}
	var port int
	_, _ = fmt.Sscan(args[3], &port)
	result := contained
	_ = os.WriteFile(args[0], nil, 0o600)
	if os.WriteFile(args[1], nil, 0o600) == nil || os.Chmod(args[1], 0o644) == nil {
		result = "can change what is kept"
	} else if text, err := os.ReadFile(args[2]); err == nil && len(text) > 0 {
		result = "can read what is hidden"
	} else if reaches(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) {
		result = "reaches the network"
	} else if reaches(unix.AF_UNIX, &unix.SockaddrUnix{Name: args[4]}) {
		result = "reaches other programs' sockets"
	} else if unix.Unshare(unix.CLONE_NEWNS) == nil {
		result = "can make namespaces"
	}
	fmt.Println(result)
	os.Exit(0)
}

func reaches(family int, address unix.Sockaddr) bool {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	return err == nil && unix.Connect(fd, address) == nil
}
