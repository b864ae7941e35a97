package clustertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files that writeCertificates makes.
const (
	caFile          = "ca.pem"
	certificateFile = "node.pem"
	keyFile         = "node-key.pem"
)

// writeCertificates makes an authority, and a certificate of its for nodes on this host.
func writeCertificates(dir string) error {
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clustertest"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	node := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), host()}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := writeCertificate(filepath.Join(dir, caFile), authority, authority, authorityKey, authorityKey); err != nil {
		return err
	}
	if err := writeCertificate(filepath.Join(dir, certificateFile), node, authority, key, authorityKey); err != nil {
		return err
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, keyFile), "PRIVATE KEY", text)
}

// writeCertificate writes the certificate of a key, signed by the parent's.
func writeCertificate(path string, of, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) error {
	text, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, parentKey)
	if err != nil {
		return err
	}
	return writePEM(path, "CERTIFICATE", text)
}

func writePEM(path, kind string, text []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}), 0o600)
}
