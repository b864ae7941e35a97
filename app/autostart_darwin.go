package app

import (
	"os"
	"path/filepath"
)

func systemEntry() (autostartEntry, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	return launchAgent{entryFile(filepath.Join(home, "Library", "LaunchAgents", ID+".plist"))}, nil
}
