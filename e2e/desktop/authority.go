//go:build linux

package desktop

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"os"
)

// anyHost is the address family of an Xauthority entry that holds for every host and display
// (FamilyWild in Xauth.h).
const anyHost = 0xffff

// writeAuthority writes an Xauthority file with one fresh cookie.
func writeAuthority(path string) error {
	cookie := make([]byte, 16)
	rand.Read(cookie) // never fails

	var entry bytes.Buffer
	putNumber := func(n uint16) { _ = binary.Write(&entry, binary.BigEndian, n) } // a Buffer never fails
	putNumber(anyHost)
	for _, field := range [][]byte{nil, nil, []byte("MIT-MAGIC-COOKIE-1"), cookie} { // address, display, scheme, secret
		putNumber(uint16(len(field)))
		entry.Write(field)
	}
	return os.WriteFile(path, entry.Bytes(), 0o600)
}
