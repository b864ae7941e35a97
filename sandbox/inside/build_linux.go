package inside

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

// Look-alikes of what is hidden, in the sandbox.
const (
	emptyFile   = "/run/nod/file"
	emptyFolder = "/run/nod/folder"
)

// build makes the file system of a sandbox in a mount namespace of its own, then becomes bubblewrap, which makes the
// other namespaces around it.
//
// bubblewrap could mount most of it. It follows links in paths, though, which code that runs in the same project may
// exchange meanwhile, and has no overlays before version 0.11. Here no path is followed through a link.
func build() error {
	runtime.LockOSThread() // capabilities are a thread's own
	// The caller's files are not the command's.
	if err := unix.CloseRange(inherits, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close inherited files: %w", err)
	}
	// When memory runs out, the kernel ends what is in a sandbox first.
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
	// bubblewrap refuses to start with rights that it did not take itself.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return fmt.Errorf("start %s: %w", plan.Engine[0], unix.Exec(plan.Engine[0], plan.Engine, []string{"PATH=/usr/bin"}))
}

// builder builds below root.
type builder struct{ root int }

func (b *builder) add(m Mount) error {
	switch m.Kind {
	case Bind:
		return b.bind(m)
	case Overlay:
		return b.overlay(m)
	case Memory:
		return b.memory(m)
	case Link:
		return b.link(m)
	case Folder:
		return b.folder(m.To)
	case Keep, Pin:
		return b.again(m)
	case Hide:
		return b.hide(m)
	}
	return errors.New("is not known")
}

// noLinks has a path followed in one folder, through no link.
const noLinks = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// find opens a path of the sandbox as it is now.
func (b *builder) find(path string) (int, error) { return openAt(b.root, path) }

func openAt(dir int, path string) (int, error) {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: noLinks}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		if err != unix.EAGAIN && err != unix.EINTR { // something was renamed meanwhile
			return fd, err
		}
	}
}

// source opens a path outside.
func source(path string) (int, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return openAt(root, path)
}

// parent makes the folder that a path is in.
func (b *builder) parent(path string) (int, error) {
	dir := filepath.Dir(path)
	fd, err := b.find(dir)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	if err := b.folder(dir); err != nil {
		return -1, err
	}
	return b.find(dir)
}

// folder makes a folder, unless it is there.
func (b *builder) folder(path string) error {
	dir, err := b.parent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Mkdirat(dir, filepath.Base(path), 0o755); !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// place opens what to mount on, and makes it where it is not there.
func (b *builder) place(path string, isFolder bool) (int, error) {
	fd, err := b.find(path)
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
	return b.find(path)
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

func (b *builder) bind(m Mount) error {
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
	return mount(from, to, !m.Write)
}

// again mounts what is there over itself.
func (b *builder) again(m Mount) error {
	fd, err := b.find(m.To)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return mount(fd, fd, m.Kind == Keep)
}

func (b *builder) hide(m Mount) error {
	to, err := b.find(m.To)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	empty := emptyFile
	if isFolder(to) {
		empty = emptyFolder
	}
	from, err := b.find(empty)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	return mount(from, to, true)
}

func isFolder(fd int) bool {
	var s unix.Stat_t
	return unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFDIR
}

// mount mounts what is at from, with all below it, at to.
func mount(from, to int, readOnly bool) error {
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

func (b *builder) overlay(m Mount) error {
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
	options := "userxattr,lowerdir=" + magic(lower)
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if m.Upper == "" { // a second layer, for one alone is refused
		empty, err := b.find(emptyFolder)
		if err != nil {
			return err
		}
		defer unix.Close(empty)
		options += ":" + magic(empty)
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
		options += "," + option + "=" + magic(fd)
	}
	return unix.Mount("overlay", magic(to), "overlay", flags, options)
}

// magic is a path to what is open, for system calls that take none but paths.
func magic(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func (b *builder) memory(m Mount) error {
	to, err := b.place(m.To, true)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	options := fmt.Sprintf("mode=0755,size=%d", m.Size)
	return unix.Mount("tmpfs", magic(to), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

func (b *builder) link(m Mount) error {
	dir, err := b.parent(m.To)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Symlinkat(m.From, dir, filepath.Base(m.To)); !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// prepare makes what other mounts need.
func (b *builder) prepare() error {
	for _, path := range []string{"/proc", "/dev", emptyFolder} {
		if err := b.folder(path); err != nil {
			return err
		}
	}
	return b.file(emptyFile)
}

// seal makes the root itself read-only, not what is mounted in it.
func (b *builder) seal() error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(b.root, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("seal the root of a sandbox: %w", err)
	}
	return nil
}
