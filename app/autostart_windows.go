package app

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/windows/registry"
)

const (
	runPath = `Software\Microsoft\Windows\CurrentVersion\Run`
	runName = "nod"
	runArg  = " --background"
)

// autostartOf returns the registry value that starts program at logon. The only marks of nod that a value can carry are
// its name and its --background.
func autostartOf(program string) (*autostart, error) {
	text := []byte(`"` + program + `"` + runArg)
	return &autostart{
		place: `HKEY_CURRENT_USER\` + runPath + `\` + runName, text: text,
		ours:   func(b []byte) bool { return bytes.HasSuffix(b, []byte(runArg)) },
		starts: func(b []byte) bool { return bytes.Equal(b, text) },
		read:   readRunKey, write: writeRunKey, remove: removeRunKey,
	}, nil
}

func readRunKey() ([]byte, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runPath, registry.QUERY_VALUE)
	if err != nil {
		return nil, notExist(err)
	}
	defer key.Close()
	value, _, err := key.GetStringValue(runName)
	return []byte(value), notExist(err)
}

func writeRunKey(b []byte) error {
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runPath, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer key.Close()
	return key.SetStringValue(runName, string(b))
}

func removeRunKey() error {
	key, err := registry.OpenKey(registry.CURRENT_USER, runPath, registry.SET_VALUE)
	if err != nil {
		return notExist(err)
	}
	defer key.Close()
	return notExist(key.DeleteValue(runName))
}

func notExist(err error) error {
	if errors.Is(err, registry.ErrNotExist) {
		return os.ErrNotExist
	}
	return err
}
