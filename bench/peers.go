//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The programs of this module that nod is compared with.
const (
	emptyPeer  = "empty"
	serverPeer = "server"
	trayPeer   = "tray"
)

// buildPeers builds them as nod is built.
func (b *bench) buildPeers() error {
	for _, name := range []string{emptyPeer, serverPeer, trayPeer} {
		cmd := exec.CommandContext(b.ctx, "go", "build", "-mod=mod", "-trimpath", "-ldflags", "-s -w",
			"-o", b.peer(name), "./"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s in the folder bench: %w\n%s", name, err, out)
		}
	}
	return nil
}

func (b *bench) peer(name string) string { return filepath.Join(b.peers, name) }

// program is the path of one of nod's programs.
func (b *bench) program(name string) string { return filepath.Join(b.bin, name) }
