package peer

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection is found in the kernel's tables by both its ends, whichever kind of socket the client used.
func TestTCP(t *testing.T) {
	v4, v6 := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	for name, c := range map[string]struct {
		listen netip.Addr
		dial   netip.Addr
	}{
		"IPv4":                 {v4, v4},
		"IPv6":                 {v6, v6},
		"IPv4 on IPv6 sockets": {v4, netip.AddrFrom16(v4.As16())},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", netip.AddrPortFrom(c.listen, 0).String())
			if err != nil {
				t.Skip(err)
			}
			defer l.Close()
			fd := dialRaw(t, netip.AddrPortFrom(c.dial, addrPort(l.Addr()).Port()))
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			who, err := Accepted(server)
			if err != nil {
				t.Fatal(err)
			}
			if uid, known := who.User(); !known || uid != os.Getuid() || who.Socket {
				t.Fatalf("user %d, %v", uid, known)
			}
			if p := who.Process(); p.PID != int32(os.Getpid()) {
				t.Errorf("process %+v, want %d", p, os.Getpid())
			}
			unix.Close(fd)
			if who, err := findTCP(who.remote, who.local, established); err == nil {
				t.Errorf("a closed connection is still somebody's: %+v", who)
			}
		})
	}
}

// dialRaw connects without the help of package net, which would not reach IPv4 through an IPv6 socket.
func dialRaw(t *testing.T, to netip.AddrPort) int {
	t.Helper()
	var fd int
	var err error
	if to.Addr().Is4() {
		if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
		}
	} else {
		if fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// A client finds out whose the server is, for both families and any address.
func TestServerUser(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "127.1.2.3:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no %s here: %v", address, err)
			continue
		}
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if uid, err := ServerUser(c); err != nil || uid != os.Geteuid() {
			t.Errorf("%s: user %d, %v", address, uid, err)
		}
		l.Close()
		if uid, err := ServerUser(c); err == nil {
			t.Errorf("%s, closed: user %d", address, uid)
		}
		c.Close()
	}
}

func TestKernelAddr(t *testing.T) {
	// As the kernel spells them on a little-endian machine; on others the words are the other way round.
	if got := kernelAddr(netip.MustParseAddrPort("127.0.0.1:7463")); got != "0100007F:1D27" && got != "7F000001:1D27" {
		t.Errorf("127.0.0.1:7463 is %s", got)
	}
	got := kernelAddr(netip.MustParseAddrPort("[::1]:1"))
	if got != strings.Repeat("0", 24)+"01000000:0001" && got != strings.Repeat("0", 31)+"1:0001" {
		t.Errorf("[::1]:1 is %s", got)
	}
}
