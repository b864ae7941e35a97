package boundary

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// A Target is what a command wants to reach.
type Target struct {
	Host string // a lower-case name, foreign letters as xn--…, or an address
	Port uint16
	Addr netip.Addr // if Host leads to this machine or one of its networks: the address that the question is about
}

// name names the target as in the question to the user: with the port unless it is 80 or 443.
func (t Target) name() string {
	text := t.Host
	if !t.isWeb() {
		text = t.authority()
	}
	if t.Addr.IsValid() && t.Addr.String() != t.Host {
		text += " (" + t.Addr.String() + ")"
	}
	return text
}

func (t Target) isWeb() bool { return t.Port == 443 || t.Port == 80 }

func (t Target) authority() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

func (t Target) isAddress() (netip.Addr, bool) {
	addr, err := netip.ParseAddr(t.Host)
	return addr, err == nil
}

func newTarget(host, port string) (Target, error) {
	name, err := parseHost(host)
	if err != nil {
		return Target{}, refuse("%q is no host that nod lets a command reach: %w", clip(host), err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return Target{}, refuse("%q is no port: want a number from 1 to 65535", clip(port))
	}
	return Target{Host: name, Port: uint16(n)}, nil
}

func parseAuthority(text string) (Target, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Target{}, refuse("%q is nothing to connect to: want host:port", clip(text))
	}
	return newTarget(host, port)
}

// names follows browsers where idna.Lookup does not: hyphens are allowed anywhere.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.CheckHyphens(false),
	idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// parseHost returns a host in its canonical form, for comparisons and questions.
func parseHost(text string) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		if addr.Zone() != "" {
			return "", errors.New("an address has no zone here")
		}
		return addr.Unmap().String(), nil
	}
	name, err := names.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil {
		return "", err
	}
	same, err := names.ToASCII(name)
	switch {
	case err != nil || same != name || !utf8.ValidString(text) || strings.HasSuffix(name, "."):
		return "", errors.New("it is not spelled as a host name")
	case endsInNumber(name):
		return "", errors.New("write an address as in 192.0.2.1")
	}
	return name, nil
}

// endsInNumber reports whether programs may read a name as an IPv4 address: 127.1, 0x7f000001, 2130706433.
func endsInNumber(name string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	if hex, isHex := strings.CutPrefix(last, "0x"); isHex {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

const maxQuoted = 100

// clip shortens what a client sent so that a reason may quote it.
func clip(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return text[:maxQuoted] + "…"
}

// isLocalhost reports whether a name always means this machine (RFC 6761): no name server is asked for it.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
