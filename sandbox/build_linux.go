package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// The empty file and folder in the sandbox that are mounted over what is hidden.
const (
	emptyFile   = "/run/nod/file"
	emptyFolder = "/run/nod/folder"
)

// build mounts the file system of a sandbox in this process's mount namespace, then execs bubblewrap, which creates the
// other namespaces.
//
// bubblewrap could do most of the mounts, but it follows symbolic links, which another command in the project could
// swap meanwhile, and has no overlays before version 0.11. build never follows a link.
func build() error {
	runtime.LockOSThread() // capabilities are per thread
	// The command must not inherit the caller's files.
	if err := unix.CloseRange(inherits, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close inherited files: %w", err)
	}
	// If memory runs out, the kernel kills processes in a sandbox first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := await(); err != nil {
		return err
	}
	plan, err := readPlan()
	if err != nil {
		return err
	}
	if plan.Landlock {
		return enclose()
	}
	if err := unix.Mount("tmpfs", plan.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return fmt.Errorf("mount the root of a sandbox: %w", err)
	}
	root, err := unix.Open(plan.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the root of a sandbox: %w", err)
	}
	b := builder{root: root}
	if err := b.prepare(); err != nil {
		return fmt.Errorf("prepare the root of a sandbox: %w", err)
	}
	for _, m := range plan.Mounts {
		if err := b.add(m); err != nil {
			return fmt.Errorf("%s %s: %w", m.Kind, m.To, err)
		}
	}
	if err := b.seal(); err != nil {
		return err
	}
	// bubblewrap refuses to start with capabilities that it did not take itself.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return fmt.Errorf("start %s: %w", plan.Engine[0], unix.Exec(plan.Engine[0], plan.Engine, []string{"PATH=/usr/bin"}))
}

type builder struct{ root int }

func (b *builder) add(m mount) error {
	switch m.Kind {
	case bind:
		return b.bind(m)
	case overlay:
		return b.overlay(m)
	case inMemory:
		return b.memory(m)
	case link:
		return b.link(m)
	case keep, pin, hide:
		return b.cover(m)
	}
	return errors.New("is not known")
}

// noLinks refuses paths that leave their folder or have a symbolic link in them.
const noLinks = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

func openAt(dir int, path string) (int, error) {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: noLinks}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		if err != unix.EAGAIN && err != unix.EINTR { // a rename raced with it
			return fd, err
		}
	}
}

func source(path string) (int, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return openAt(root, path)
}

func (b *builder) parent(path string) (int, error) { return b.place(filepath.Dir(path), true) }

// create calls do with the folder of a path and the name in it, and accepts that the path exists.
func (b *builder) create(path string, do func(dir int, name string) error) error {
	dir, err := b.parent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := do(dir, filepath.Base(path)); !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

func (b *builder) folder(path string) error {
	return b.create(path, func(dir int, name string) error { return unix.Mkdirat(dir, name, 0o755) })
}

func (b *builder) place(path string, isFolder bool) (int, error) {
	fd, err := openAt(b.root, path)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	if isFolder {
		err = b.folder(path)
	} else {
		err = b.file(path)
	}
	if err != nil {
		return -1, err
	}
	return openAt(b.root, path)
}

func (b *builder) file(path string) error {
	dir, err := b.parent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, filepath.Base(path), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o444)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func (b *builder) bind(m mount) error {
	from, err := source(m.From)
	if err != nil {
		return fmt.Errorf("open %s: %w", m.From, err)
	}
	defer unix.Close(from)
	to, err := b.place(m.To, isFolder(from))
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return mountAt(from, to, !m.Write)
}

// cover mounts over a place: something empty to hide it, otherwise the place itself.
func (b *builder) cover(m mount) error {
	to, err := openAt(b.root, m.To)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	if m.Kind != hide {
		return mountAt(to, to, m.Kind == keep)
	}
	empty := emptyFile
	if isFolder(to) {
		empty = emptyFolder
	}
	from, err := openAt(b.root, empty)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	return mountAt(from, to, true)
}

func isFolder(fd int) bool {
	var s unix.Stat_t
	return unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFDIR
}

func mountAt(from, to int, readOnly bool) error {
	const at = unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	tree, err := unix.OpenTree(from, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|at)
	if err != nil {
		return fmt.Errorf("clone: %w", err)
	}
	defer unix.Close(tree)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if readOnly {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(tree, "", at, &attr); err != nil {
		return fmt.Errorf("restrict: %w", err)
	}
	if err := unix.MoveMount(tree, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

func (b *builder) overlay(m mount) error {
	lower, err := source(m.From)
	if err != nil {
		return fmt.Errorf("open %s: %w", m.From, err)
	}
	defer unix.Close(lower)
	to, err := b.place(m.To, true)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	options := "userxattr,lowerdir=" + fdPath(lower)
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if m.Upper == "" { // the kernel refuses a single layer
		empty, err := openAt(b.root, emptyFolder)
		if err != nil {
			return err
		}
		defer unix.Close(empty)
		options += ":" + fdPath(empty)
		flags |= unix.MS_RDONLY
	}
	for option, path := range map[string]string{"upperdir": m.Upper, "workdir": m.Work} {
		if path == "" {
			continue
		}
		fd, err := source(path)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		defer unix.Close(fd)
		options += "," + option + "=" + fdPath(fd)
	}
	return unix.Mount("overlay", fdPath(to), "overlay", flags, options)
}

// fdPath returns a path of an open file, for system calls that take only paths.
func fdPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func (b *builder) memory(m mount) error {
	to, err := b.place(m.To, true)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	options := fmt.Sprintf("mode=0755,size=%d", m.Size)
	return unix.Mount("tmpfs", fdPath(to), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

func (b *builder) link(m mount) error {
	return b.create(m.To, func(dir int, name string) error { return unix.Symlinkat(m.From, dir, name) })
}

func (b *builder) prepare() error {
	for _, path := range []string{"/proc", "/dev", emptyFolder} {
		if err := b.folder(path); err != nil {
			return err
		}
	}
	return b.file(emptyFile)
}

// seal makes the root read-only, but not the mounts in it.
func (b *builder) seal() error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(b.root, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("seal the root of a sandbox: %w", err)
	}
	return nil
}
