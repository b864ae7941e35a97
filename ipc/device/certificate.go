package device

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"time"

	"nod/ownfile"
)

const (
	// lifetime is how long a certificate holds: no longer than what phones accept.
	lifetime = 800 * 24 * time.Hour
	// renewBefore is how long before its end another takes its place, when the server starts.
	renewBefore    = 30 * 24 * time.Hour
	maxCertificate = 16 << 10 // bytes of the file
)

// Certificate reads the server's certificate and its key from a file that only its owner can read. Where there is none
// for the address, or not for long, it makes one.
func Certificate(path string, address netip.Addr) (tls.Certificate, error) {
	kept, err := readCertificate(path)
	if err == nil && suits(kept, address, time.Now()) {
		return kept, nil
	}
	made, text, err := newCertificate(address, time.Now())
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate for %s: %w", address, err)
	}
	if err := ownfile.Write(path, text, 0o600); err != nil {
		return tls.Certificate{}, fmt.Errorf("keep the certificate: %w", err)
	}
	return made, nil
}

// Fingerprint is the hex SHA-256 of a certificate, as browsers show it.
func Fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Leaf.Raw)
	return hex.EncodeToString(sum[:])
}

func readCertificate(path string) (tls.Certificate, error) {
	text, err := ownfile.ReadSecret(path, maxCertificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := tls.X509KeyPair(text, text)
	if err == nil && c.Leaf == nil {
		err = errors.New("no certificate")
	}
	return c, err
}

// suits reports whether a certificate is one of nod's for the address, and holds for a while.
func suits(c tls.Certificate, address netip.Addr, now time.Time) bool {
	isFor := slices.ContainsFunc(c.Leaf.IPAddresses, func(ip net.IP) bool { return ip.Equal(address.AsSlice()) })
	return isFor && len(c.Leaf.IPAddresses) == 1 && len(c.Certificate) == withAuthority &&
		!now.Before(c.Leaf.NotBefore) && now.Before(c.Leaf.NotAfter.Add(-renewBefore))
}

// withAuthority is how many certificates the server sends: its own, and the authority's.
const withAuthority = 2

// Authority is the certificate, in DER, that a phone can be told to trust: phones take authorities only. It has signed
// the server's certificate and never signs another: its key was thrown away.
func Authority(c tls.Certificate) []byte { return c.Certificate[withAuthority-1] }

func newCertificate(address netip.Addr, now time.Time) (c tls.Certificate, text []byte, err error) {
	authority, authorityKey, err := newTemplate("nod at "+address.String(), now)
	if err != nil {
		return c, nil, err
	}
	authority.IsCA, authority.MaxPathLenZero, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return c, nil, err
	}
	own, key, err := newTemplate("nod "+address.String(), now)
	if err != nil {
		return c, nil, err
	}
	own.IPAddresses = []net.IP{address.AsSlice()}
	own.KeyUsage, own.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf, err := x509.CreateCertificate(rand.Reader, own, authority, key.Public(), authorityKey)
	if err != nil {
		return c, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, nil, err
	}
	for _, block := range []pem.Block{
		{Type: "CERTIFICATE", Bytes: leaf}, {Type: "CERTIFICATE", Bytes: root}, {Type: "PRIVATE KEY", Bytes: secret},
	} {
		text = append(text, pem.EncodeToMemory(&block)...)
	}
	c, err = tls.X509KeyPair(text, text)
	return c, text, err
}

// newTemplate is what nod's certificates have in common, and a key for one.
func newTemplate(name string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(lifetime), // a phone's clock may be behind
	}, key, nil
}
