// Package outside finds the programs that nod itself runs outside the sandbox: bubblewrap, git, shells.
package outside

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// folders are the system's folders of programs. PATH is not used: it may have a folder of the project, such as an
// activated virtual environment, which commands in the sandbox can write to.
var folders = []string{
	"/usr/local/bin", "/usr/bin", "/bin", "/run/current-system/sw/bin", "/run/current-system/profile/bin",
}

// Find returns the path of a system program. On systems without a sandbox it searches PATH.
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
