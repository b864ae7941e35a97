package dialogs

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
)

// openText writes text to a read-only file of this user and opens it with the desktop's program for plain text. nod
// chooses the name of the file, so that text cannot determine the program.
func openText(text string) error {
	dir, err := os.MkdirTemp("", "nod-input-") // made with mode 0700
	if err != nil {
		return fmt.Errorf("open as file: %w", err)
	}
	path := filepath.Join(dir, "input.txt")
	if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
		return fmt.Errorf("open as file: %w", err)
	}
	if err := fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}); err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return nil
}
