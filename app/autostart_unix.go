//go:build unix && !darwin

package app

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

func systemEntry() (autostartEntry, error) {
	return desktopEntry{entryFile(filepath.Join(xdg.ConfigHome, "autostart", ID+".desktop"))}, nil
}
