package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// DefaultPath is where the configuration is: config.yaml in the user's configuration folder.
func DefaultPath() (string, error) { return defaultFile(xdg.ConfigHome, "config.yaml") }

// DefaultGrantsPath is where the grants are: grants.json in the user's data folder.
func DefaultGrantsPath() (string, error) { return defaultFile(xdg.DataHome, "grants.json") }

func defaultFile(folder, name string) (string, error) {
	if !filepath.IsAbs(folder) {
		return "", fmt.Errorf("find %s: no home folder: set HOME", name)
	}
	return filepath.Join(folder, "nod", name), nil
}

// readFile reads a file that decides what agents may do. It must be a plain file that nobody but its owner
// can change: whoever can write it can allow everything. A link is refused, because the folder it leads to
// is not the one that nod watches and guards.
func readFile(path string) ([]byte, error) {
	file, err := openPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{path, err}
	}
	if err != nil {
		return nil, &FileError{File: path, Problem: reasonOf(err)}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, &FileError{File: path, Problem: reasonOf(err)}
	}
	if !info.Mode().IsRegular() {
		return nil, &FileError{File: path, Problem: "this is not a plain file: move it away"}
	}
	if problem := ownership(info); problem != "" {
		return nil, &FileError{File: path, Problem: problem}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, &FileError{File: path, Problem: reasonOf(err)}
	}
	if len(data) > maxFile {
		return nil, &FileError{File: path, Problem: fmt.Sprintf("larger than %d bytes: make it smaller", maxFile)}
	}
	return data, nil
}

type missingError struct {
	path string
	err  error
}

func (e *missingError) Error() string { return e.path + ": does not exist" }
func (e *missingError) Unwrap() error { return e.err }

// reasonOf is an operating system's error without the path, which the reader already has.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Op + ": " + path.Err.Error()
	}
	return err.Error()
}

// writeFile replaces a file as a whole or not at all, readable by its owner only.
func writeFile(path string, data []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", filepath.Base(path), err)
	}
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*") // made with O_EXCL and 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name()) // after the rename there is nothing to remove
	if err := fill(temp, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncFolder(folder)
}

func fill(file *os.File, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
