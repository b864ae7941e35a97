package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"nod/ownfile"
)

// errInTheWay is the error if something that no snapshot has is where a file should be.
var errInTheWay = errors.New("its place is taken")

// errChanged is the error if a file is neither as a command left it nor as it found it.
var errChanged = errors.New("it has changed since")

// errOthers is the error if another user's file would be replaced by one of this user's.
var errOthers = errors.New("it belongs to another user")

// strange stands for anything but a file or a link, for what cannot be read, and for files that are too large for a
// snapshot: no snapshot has it.
var strange = entry{mode: "strange"}

// folderOf opens the folder of a path below root. It follows no link, not even one that stays within: a path through a
// link is another file. With make it creates missing folders.
func folderOf(root *os.Root, file string, make bool) (folder *os.Root, name string, err error) {
	if folder, err = root.OpenRoot("."); err != nil {
		return nil, "", err
	}
	above, name := path.Split(file)
	for part := range strings.SplitSeq(strings.TrimSuffix(above, "/"), "/") {
		if part == "" {
			break
		}
		below, err := openFolder(folder, part, make)
		folder.Close()
		if err != nil {
			return nil, "", err
		}
		folder = below
	}
	return folder, name, nil
}

func openFolder(above *os.Root, name string, make bool) (*os.Root, error) {
	info, err := above.Lstat(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := above.Mkdir(name, 0o777); err != nil {
			return nil, err
		}
		info, err = above.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w", name, errInTheWay)
	}
	folder, err := above.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if is, err := folder.Stat("."); err != nil || !os.SameFile(is, info) { // a link took its place
		folder.Close()
		return nil, fmt.Errorf("%s: %w", name, errors.Join(errInTheWay, err))
	}
	return folder, nil
}

// look returns what is in a place of the project now.
func look(root *os.Root, file string) (entry, error) {
	folder, name, err := folderOf(root, file, false)
	if ownfile.IsMissing(err) || errors.Is(err, errInTheWay) {
		return entry{}, nil
	}
	if err != nil {
		return strange, err
	}
	defer folder.Close()
	now, _, err := lookIn(folder, name)
	return now, err
}

// lookIn also returns the permissions of a file.
func lookIn(folder *os.Root, name string) (entry, fs.FileMode, error) {
	info, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return entry{}, 0, nil
	case err != nil:
		return strange, 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := folder.Readlink(name)
		return entry{modeLink, blobOf(target)}, 0, err
	case !info.Mode().IsRegular(), info.Size() > defaultLimits.bytes:
		return strange, 0, nil
	case !ownfile.IsMine(info):
		return strange, 0, errOthers
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return strange, 0, err
	}
	defer file.Close()
	if is, err := file.Stat(); err != nil || !os.SameFile(is, info) {
		return strange, 0, err
	}
	e := entry{mode: modeFile}
	if info.Mode()&0o100 != 0 {
		e.mode = modeExecutable
	}
	e.blob, err = blobIn(file, info.Size())
	return e, info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky), err
}

func blobOf(text string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	return hex.EncodeToString(sum[:])
}

func blobIn(file io.Reader, size int64) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "blob %d\x00", size)
	n, err := io.Copy(sum, io.LimitReader(file, size+1))
	if err == nil && n != size {
		err = errors.New("it changed during reading")
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// clear removes a file, and the folders that are empty without it.
func clear(root *os.Root, file string) error {
	folder, name, err := folderOf(root, file, false)
	if err != nil {
		return err
	}
	err = folder.Remove(name)
	folder.Close()
	isGone := err == nil
	for above := path.Dir(file); isGone && above != "."; above = path.Dir(above) {
		isGone = removeFolder(root, above) == nil
	}
	return err
}

func removeFolder(root *os.Root, file string) error {
	folder, name, err := folderOf(root, file, false)
	if err != nil {
		return err
	}
	defer folder.Close()
	if info, err := folder.Lstat(name); err != nil || !info.IsDir() {
		return errors.Join(err, errInTheWay)
	}
	return folder.Remove(name)
}

// put writes a file of a snapshot next to its place, and swaps it in atomically if the place is still as expected.
func put(root *os.Root, file, scratch string, was, is entry, from *blobs) error {
	folder, name, err := folderOf(root, file, true)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err = write(folder, scratch, was, is, from); err == nil {
		err = swap(folder, name, scratch, was, is)
	}
	return errors.Join(err, remove(folder, scratch))
}

func remove(folder *os.Root, name string) error {
	if err := folder.Remove(name); !ownfile.IsMissing(err) {
		return err
	}
	return nil
}

// write creates a file or link from a snapshot. If it will replace a file, only its owner can read it.
func write(folder *os.Root, name string, was, is entry, from *blobs) error {
	if err := remove(folder, name); err != nil { // of a take-back that was killed
		return err
	}
	if is.mode == modeLink {
		var target strings.Builder
		if err := from.copy(&target, is.blob); err != nil {
			return err
		}
		return folder.Symlink(target.String(), name)
	}
	permissions := fs.FileMode(0o666)
	if is.mode == modeExecutable {
		permissions = 0o777
	}
	if was.isFile() {
		permissions = 0o600
	}
	file, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions)
	if err != nil {
		return err
	}
	if err = from.copy(file, is.blob); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// swap replaces what is expected in a place by scratch. A file that replaces a file gets its permissions.
func swap(folder *os.Root, name, scratch string, was, is entry) error {
	now, permissions, err := lookIn(folder, name)
	if err != nil {
		return err
	}
	if now == strange {
		return errInTheWay
	}
	if now != was {
		return errChanged
	}
	if was.isFile() && is.isFile() {
		if permissions &^= 0o111; is.mode == modeExecutable {
			permissions |= permissions & 0o444 >> 2 // readers may run it
		}
		if err := folder.Chmod(scratch, permissions); err != nil {
			return err
		}
	}
	if was == (entry{}) {
		err := folder.Link(scratch, name) // replaces nothing
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return folder.Rename(scratch, name) // works without hard links, too
}

func (e entry) isFile() bool { return e.mode == modeFile || e.mode == modeExecutable }
