package device

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"time"

	"nod/ownfile"
)

const (
	// lifetime is how long a certificate holds: with the day before it, as long as browsers accept of any authority.
	lifetime = 397 * 24 * time.Hour
	// renewBefore is how long before its end another takes its place, when the server starts.
	renewBefore    = 30 * 24 * time.Hour
	maxCertificate = 16 << 10 // bytes of the file
)

// sealed is signed before the text of the file: the same key signs other files of nod's. sealBlock holds the seal.
const (
	sealed    = "nod phone certificate 1\n"
	sealBlock = "NOD SEAL"
)

// Certificate reads the server's certificate and its key from a file that only its owner can read, and that nod has
// sealed with key. Where there is none for the address, not for long, or one of another program, it makes one, and
// reports whether it took the place of another.
func Certificate(path string, key []byte, address netip.Addr) (c tls.Certificate, replaced bool, err error) {
	kept, err := readCertificate(path, key)
	if err == nil && suits(kept, address, time.Now()) {
		return kept, false, nil
	}
	made, text, makeErr := newCertificate(address, time.Now())
	if makeErr != nil {
		return c, false, fmt.Errorf("make a certificate for %s: %w", address, makeErr)
	}
	seal := pem.EncodeToMemory(&pem.Block{Type: sealBlock, Bytes: ownfile.Sum(key, sealed, text)})
	if err := ownfile.Write(path, append(text, seal...), 0o600); err != nil {
		return c, false, fmt.Errorf("keep the certificate: %w", err)
	}
	return made, !errors.Is(err, fs.ErrNotExist), nil
}

// Fingerprint is the SHA-256 of a certificate, written as certificate viewers and openssl do: AB:CD:…
func Fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Leaf.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

func readCertificate(path string, key []byte) (tls.Certificate, error) {
	text, err := ownfile.ReadSecret(path, maxCertificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	at := max(bytes.LastIndex(text, []byte("-----BEGIN "+sealBlock)), 0)
	seal, rest := pem.Decode(text[at:])
	if text = text[:at]; seal == nil || len(rest) > 0 || !hmac.Equal(seal.Bytes, ownfile.Sum(key, sealed, text)) {
		return tls.Certificate{}, errors.New("another program has written it")
	}
	c, err := tls.X509KeyPair(text, text)
	if err == nil && len(c.Certificate) != withAuthority {
		err = errors.New("no certificate with its authority")
	}
	return c, err
}

// suits reports whether a certificate of nod's is for the address, and holds for a while.
func suits(c tls.Certificate, address netip.Addr, now time.Time) bool {
	return len(c.Leaf.IPAddresses) == 1 && c.Leaf.IPAddresses[0].Equal(address.AsSlice()) &&
		!now.Before(c.Leaf.NotBefore) && now.Before(c.Leaf.NotAfter.Add(-renewBefore))
}

// withAuthority is how many certificates the server sends: its own, and the authority's.
const withAuthority = 2

// Authority is the certificate, in DER, that a phone can be told to trust: phones take authorities only. It has signed
// the server's certificate and never signs another: its key was thrown away. It could vouch for the one address only,
// and for no name.
func Authority(c tls.Certificate) []byte { return c.Certificate[withAuthority-1] }

// noName is what no name is in (RFC 2606): a constraint to it permits none.
const noName = "nod.invalid"

func newCertificate(address netip.Addr, now time.Time) (c tls.Certificate, text []byte, err error) {
	authority, authorityKey, err := newTemplate("nod at "+address.String(), now)
	if err != nil {
		return c, nil, err
	}
	authority.IsCA, authority.MaxPathLenZero, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	authority.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	authority.PermittedIPRanges = []*net.IPNet{{
		IP: address.AsSlice(), Mask: net.CIDRMask(address.BitLen(), address.BitLen()),
	}}
	authority.PermittedDNSDomainsCritical = true // as all constraints are then
	authority.PermittedDNSDomains = []string{noName}
	authority.PermittedEmailAddresses, authority.PermittedURIDomains = []string{noName}, []string{noName}
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
