// Package outside finds the programs that nod runs outside of the sandbox for what runs in it: bubblewrap, git, shells.
package outside

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// folders are those of the system. PATH does not count: it may name a folder of the project, as that of an activated
// virtual environment does, and there a command in the sandbox can write.
var folders = []string{
	"/usr/local/bin", "/usr/bin", "/bin", "/run/current-system/sw/bin", "/run/current-system/profile/bin",
}

// Find returns the path of a program of the system's. Where there is no sandbox, it is looked for in PATH.
func Find(name string) (string, error) {
	if runtime.GOOS != "linux" {
		return exec.LookPath(name)
	}
	for _, folder := range folders {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in any of %s: %w", name, strings.Join(folders, ", "), exec.ErrNotFound)
}
