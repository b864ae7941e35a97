package ownprocess

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mapped is how much of files this process has in memory, in bytes. The kernel counts files that are themselves in
// memory apart.
func mapped(t *testing.T) (bytes int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"RssFile:", "RssShmem:"} {
		var size int
		_, rest, _ := strings.Cut(string(status), name)
		if _, err := fmt.Sscan(rest, &size); err != nil {
			t.Fatal(err)
		}
		bytes += size << 10
	}
	return bytes
}

// What was read of a file need not stay in memory; what was changed in it stays.
func TestGiveBack(t *testing.T) {
	const size = 32 << 20
	f, err := os.Create(t.TempDir() + "/library")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	var texts [2][]byte
	for i := range texts {
		if texts[i], err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE); err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(texts[i])
	}
	read, changed := texts[0], texts[1]
	changed[size/2] = 'x'
	sum := byte(0)
	for at := 0; at < size; at += os.Getpagesize() {
		sum += read[at]
	}
	for _, text := range texts {
		if err := unix.Mprotect(text, unix.PROT_READ); err != nil {
			t.Fatal(err)
		}
	}
	before := mapped(t)
	GiveBack()
	if after := mapped(t); after > before-size/2 {
		t.Errorf("%d bytes of files before, and %d after", before, after)
	}
	if sum != 0 || changed[size/2] != 'x' {
		t.Error("what was changed is lost")
	}
}
