package device_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nod/ipc/device"
)

func TestTheCertificateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "phone.pem")
		of := func(address string) tls.Certificate {
			t.Helper()
			c, _, err := device.Certificate(path, []byte("seal"), netip.MustParseAddr(address))
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
				t.Fatalf("%v, %v", info.Mode(), err)
			}
			return c
		}
		first := of("100.64.0.7")
		key, isECDSA := first.Leaf.PublicKey.(*ecdsa.PublicKey)
		if !isECDSA || key.Curve.Params().BitSize != 256 || first.Leaf.IsCA {
			t.Errorf("key %T, CA %v", first.Leaf.PublicKey, first.Leaf.IsCA)
		}
		roots := x509.NewCertPool()
		roots.AddCert(first.Leaf)
		for name, isFor := range map[string]bool{"100.64.0.7": true, "100.64.0.8": false, "localhost": false} {
			_, err := first.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: time.Now()})
			if (err == nil) != isFor {
				t.Errorf("for %s: %v", name, err)
			}
		}
		if fingerprint(of("100.64.0.7")) != fingerprint(first) {
			t.Error("another one for the same address")
		}
		second := of("fd7a:115c:a1e0::7")
		if fingerprint(second) == fingerprint(first) {
			t.Error("the same one for another address")
		}
		time.Sleep(time.Until(second.Leaf.NotAfter) - 31*24*time.Hour)
		if fingerprint(of("fd7a:115c:a1e0::7")) != fingerprint(second) {
			t.Error("another one a month before it ends")
		}
		time.Sleep(2 * 24 * time.Hour)
		third := of("fd7a:115c:a1e0::7")
		if fingerprint(third) == fingerprint(second) || time.Until(third.Leaf.NotAfter) < 365*24*time.Hour {
			t.Errorf("the same one when it ends, or one until %v", third.Leaf.NotAfter)
		}
		if err := os.Chmod(path, 0o644); err != nil { // others may have its key
			t.Fatal(err)
		}
		fourth := of("fd7a:115c:a1e0::7")
		if fingerprint(fourth) == fingerprint(third) {
			t.Error("the same one though others could read its key")
		}
	})
}

// The authority vouches for the one address and nothing else, whoever might have its key.
func TestTheAuthorityIsConstrained(t *testing.T) {
	for _, address := range []string{"100.64.0.7", "fd7a:115c:a1e0::7"} {
		path := filepath.Join(t.TempDir(), "phone.pem")
		c, _, err := device.Certificate(path, nil, netip.MustParseAddr(address))
		if err != nil {
			t.Fatal(err)
		}
		root, err := x509.ParseCertificate(c.Certificate[1])
		if err != nil {
			t.Fatal(err)
		}
		if !root.IsCA || !root.MaxPathLenZero || root.KeyUsage != x509.KeyUsageCertSign ||
			!root.PermittedDNSDomainsCritical || root.NotAfter.Sub(root.NotBefore) > 398*24*time.Hour {
			t.Errorf("%s: %+v", address, root)
		}
		roots := x509.NewCertPool()
		roots.AddCert(root)
		if _, err := c.Leaf.Verify(x509.VerifyOptions{DNSName: address, Roots: roots}); err != nil {
			t.Errorf("%s: it does not vouch for its own: %v", address, err)
		}
		// As if its key had been kept: another authority of the same name and the same constraints, of which there is a key.
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		twin := *root
		twin.PublicKey, twin.SignatureAlgorithm, twin.SubjectKeyId, twin.AuthorityKeyId = nil, 0, nil, nil
		roots = x509.NewCertPool()
		roots.AddCert(signed(t, &twin, &twin, key))
		for name, asked := range map[string]x509.Certificate{
			"another address": {IPAddresses: []net.IP{net.ParseIP("100.64.0.8")}},
			"two addresses":   {IPAddresses: []net.IP{net.ParseIP(address), net.ParseIP("192.0.2.1")}},
			"a name":          {DNSNames: []string{"example.com"}},
			"both":            {IPAddresses: []net.IP{net.ParseIP(address)}, DNSNames: []string{"example.com"}},
			"mail":            {EmailAddresses: []string{"me@example.com"}},
			"another authority": {
				IPAddresses: []net.IP{net.ParseIP(address)}, IsCA: true, BasicConstraintsValid: true,
				KeyUsage: x509.KeyUsageCertSign,
			},
		} {
			asked.SerialNumber, asked.NotBefore, asked.NotAfter = big.NewInt(1), root.NotBefore, root.NotAfter
			cert := signed(t, &asked, &twin, key)
			options := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
			if asked.IsCA { // what it signs is not believed
				options.Intermediates = x509.NewCertPool()
				options.Intermediates.AddCert(cert)
				leaf := asked
				leaf.IsCA, leaf.KeyUsage = false, 0
				cert = signed(t, &leaf, &asked, key)
			}
			if _, err := cert.Verify(options); err == nil {
				t.Errorf("%s: it vouches for %s", address, name)
			}
		}
	}
}

// signed is a certificate whose subject and issuer have one key.
func signed(t *testing.T, template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A file that another program has written, changed, or taken from elsewhere is not served: another takes its place, and
// the user is told so.
func TestACertificateOfAnotherProgram(t *testing.T) {
	folder, address := t.TempDir(), netip.MustParseAddr("127.0.0.1")
	of := func(name, key string) (string, bool) {
		t.Helper()
		c, replaced, err := device.Certificate(filepath.Join(folder, name), []byte(key), address)
		if err != nil {
			t.Fatal(err)
		}
		return fingerprint(c), replaced
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	own, replaced := of("own", "key")
	if again, _ := of("own", "key"); replaced || again != own {
		t.Errorf("replaced %v, then %s for %s", replaced, again, own)
	}
	foreign, _ := of("foreign", "other key")
	text, theirs := read("own"), read("foreign")
	at, end := bytes.LastIndex(text, []byte("-----BEGIN ")), bytes.LastIndex(theirs, []byte("-----BEGIN "))
	for name, forged := range map[string][]byte{
		"sealed by another key": theirs, "without a seal": theirs[:end],
		"with nod's old seal": slices.Concat(theirs[:end], text[at:]),
		"in front of nod's":   slices.Concat(theirs[:end], text), "behind nod's": slices.Concat(text, theirs[:end]),
		"nod's without its seal": text[:at], "nothing": nil, "no certificate": []byte("none"), "a seal alone": text[at:],
		"one letter more": append(slices.Clone(text), 'x'), "twice": slices.Concat(text, text),
	} {
		if err := os.WriteFile(filepath.Join(folder, "own"), forged, 0o600); err != nil {
			t.Fatal(err)
		}
		got, replaced := of("own", "key")
		if got == foreign || got == own || !replaced {
			t.Errorf("%s: replaced %v, its own %v, the other's %v", name, replaced, got == own, got == foreign)
		}
	}
}

// fingerprint is that of a server with a certificate.
func fingerprint(c tls.Certificate) string {
	return device.New(device.Config{Certificate: c}).Fingerprint()
}
