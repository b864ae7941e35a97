package endpoint

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// InstanceLock is the lock of the nod-desktop that publishes its endpoint in dir. It locks no file of nod's own:
// whoever deletes nod's folder must not make room for a second nod. Windows locks no folder, and deletes no file that
// is open.
func InstanceLock(dir string) *flock.Flock {
	if runtime.GOOS == "windows" {
		return flock.New(filepath.Join(dir, "instance.lock"))
	}
	return flock.New(filepath.Dir(dir), flock.SetFlag(os.O_RDONLY))
}
