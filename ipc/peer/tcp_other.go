//go:build !linux

package peer

import (
	"net/netip"

	psnet "github.com/shirou/gopsutil/v4/net"
)

// findTCP cannot tell who owns a connection on this platform; tcpProcess can tell which process has it. The protection
// is that only the user can write where the endpoint is published.
func findTCP(_, _ netip.AddrPort, _ string) (credentials, error) { return credentials{}, ErrUnknown }

// tcpProcess returns the process whose socket is bound to remote and connected to local, or 0.
func tcpProcess(remote, local netip.AddrPort, _ credentials) int32 {
	conns, err := psnet.Connections("tcp")
	if err != nil {
		return 0
	}
	for _, c := range conns {
		if same(c.Laddr, remote) && same(c.Raddr, local) {
			return c.Pid
		}
	}
	return 0
}

func same(a psnet.Addr, b netip.AddrPort) bool {
	ip, err := netip.ParseAddr(a.IP)
	return err == nil && ip.Unmap() == b.Addr() && a.Port == uint32(b.Port())
}
