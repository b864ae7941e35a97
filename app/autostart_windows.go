package app

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/windows/registry"
)

// runKey is the registry value that starts nod at logon. A value can carry no mark of nod's but its name
// and its --background.
type runKey struct{}

const (
	runPath = `Software\Microsoft\Windows\CurrentVersion\Run`
	runName = "nod"
	runArg  = " --background"
)

func systemEntry() (autostartEntry, error) { return runKey{}, nil }

func (runKey) text(program string) []byte { return []byte(`"` + program + `"` + runArg) }
func (runKey) ours(b []byte) bool         { return bytes.HasSuffix(b, []byte(runArg)) }
func (runKey) place() string              { return `HKEY_CURRENT_USER\` + runPath + `\` + runName }

func (runKey) read() ([]byte, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runPath, registry.QUERY_VALUE)
	if err != nil {
		return nil, notExist(err)
	}
	defer key.Close()
	value, _, err := key.GetStringValue(runName)
	return []byte(value), notExist(err)
}

func (runKey) write(b []byte) error {
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runPath, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer key.Close()
	return key.SetStringValue(runName, string(b))
}

func (runKey) remove() error {
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
