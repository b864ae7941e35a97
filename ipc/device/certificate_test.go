package device_test

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"os"
	"path/filepath"
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
			c, err := device.Certificate(path, netip.MustParseAddr(address))
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
		if device.Fingerprint(of("100.64.0.7")) != device.Fingerprint(first) {
			t.Error("another one for the same address")
		}
		second := of("fd7a:115c:a1e0::7")
		if device.Fingerprint(second) == device.Fingerprint(first) {
			t.Error("the same one for another address")
		}
		time.Sleep(time.Until(second.Leaf.NotAfter) - 31*24*time.Hour)
		if device.Fingerprint(of("fd7a:115c:a1e0::7")) != device.Fingerprint(second) {
			t.Error("another one a month before it ends")
		}
		time.Sleep(2 * 24 * time.Hour)
		third := of("fd7a:115c:a1e0::7")
		if device.Fingerprint(third) == device.Fingerprint(second) || time.Until(third.Leaf.NotAfter) < 365*24*time.Hour {
			t.Errorf("the same one when it ends, or one until %v", third.Leaf.NotAfter)
		}
		if err := os.Chmod(path, 0o644); err != nil { // others may have its key
			t.Fatal(err)
		}
		fourth := of("fd7a:115c:a1e0::7")
		if device.Fingerprint(fourth) == device.Fingerprint(third) {
			t.Error("the same one though others could read its key")
		}
		if err := os.WriteFile(path, []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
		if device.Fingerprint(of("fd7a:115c:a1e0::7")) == device.Fingerprint(fourth) {
			t.Error("a file with nothing in it has a certificate")
		}
	})
}
