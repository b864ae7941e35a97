package device

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
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
	"time"

	"nod/ownfile"
)

const (
	// lifetime is a certificate's validity: with the day before it, the longest that browsers accept.
	lifetime = 397 * 24 * time.Hour
	// renewBefore is the remaining validity below which a start of the server replaces the certificate.
	renewBefore    = 30 * 24 * time.Hour
	maxCertificate = 16 << 10 // bytes of the file
)

// sealed is the prefix of the signed text: the key signs other files, too. sealBlock holds the signature.
const (
	sealed    = "nod phone certificate 1\n"
	sealBlock = "NOD SEAL"
)

// Certificate reads the server's certificate and key from a private file that nod has signed with key. It makes a new
// one if the file is missing, expires soon, is for another address or was written by another program, and reports
// whether it replaced one.
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

func readCertificate(path string, key []byte) (tls.Certificate, error) {
	text, err := ownfile.ReadSecret(path, maxCertificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	at := max(bytes.LastIndex(text, []byte("-----BEGIN "+sealBlock)), 0)
	seal, rest := pem.Decode(text[at:])
	if text = text[:at]; seal == nil || len(rest) > 0 || !hmac.Equal(seal.Bytes, ownfile.Sum(key, sealed, text)) {
		return tls.Certificate{}, errors.New("another program wrote it")
	}
	c, err := tls.X509KeyPair(text, text)
	if err == nil && len(c.Certificate) != withAuthority {
		err = errors.New("no certificate with its authority")
	}
	return c, err
}

// suits reports whether a certificate is for the address and valid for long enough.
func suits(c tls.Certificate, address netip.Addr, now time.Time) bool {
	return len(c.Leaf.IPAddresses) == 1 && c.Leaf.IPAddresses[0].Equal(address.AsSlice()) &&
		!now.Before(c.Leaf.NotBefore) && now.Before(c.Leaf.NotAfter.Add(-renewBefore))
}

// withAuthority is the number of certificates that the server sends: its own and the authority's.
const withAuthority = 2

// authority returns the authority's certificate in DER, which phones can be told to trust. It is valid only for this
// address. Its key was deleted after it signed the server's certificate.
func authority(c tls.Certificate) []byte { return c.Certificate[withAuthority-1] }

// noName is a domain that does not exist (RFC 2606): permitting only it permits none.
const noName = "nod.invalid"

func newCertificate(address netip.Addr, now time.Time) (c tls.Certificate, text []byte, err error) {
	ca, caKey, err := newTemplate("nod at "+address.String(), now)
	if err != nil {
		return c, nil, err
	}
	ca.IsCA, ca.MaxPathLenZero, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	ca.PermittedIPRanges = []*net.IPNet{{
		IP: address.AsSlice(), Mask: net.CIDRMask(address.BitLen(), address.BitLen()),
	}}
	ca.PermittedDNSDomainsCritical = true // applies to all constraints
	ca.PermittedDNSDomains = []string{noName}
	ca.PermittedEmailAddresses, ca.PermittedURIDomains = []string{noName}, []string{noName}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return c, nil, err
	}
	own, key, err := newTemplate("nod "+address.String(), now)
	if err != nil {
		return c, nil, err
	}
	own.IPAddresses = []net.IP{address.AsSlice()}
	own.KeyUsage = x509.KeyUsageDigitalSignature
	leaf, err := x509.CreateCertificate(rand.Reader, own, ca, key.Public(), caKey)
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

// newTemplate returns a key and the common fields of nod's certificates.
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
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore:   now.Add(-24 * time.Hour), NotAfter: now.Add(lifetime), // a phone's clock may be slow
	}, key, nil
}
