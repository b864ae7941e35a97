package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
	"/var/lib/ca-certificates", "/var/lib/dpkg", "/var/lib/texmf", "/var/lib/ghc", "/var/cache/fontconfig",
}

// systemSecrets are files in these folders that root can read and a sandbox must not. Other files directly in /etc
// that not every user may read are recognized by their mode.
var systemSecrets = []string{
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/ssh/ssh_host_*_key", "/etc/NetworkManager/system-connections",
	"/etc/wireguard", "/etc/openvpn", "/etc/letsencrypt", "/etc/kubernetes", "/etc/rancher", "/etc/ppp/*-secrets",
	"/etc/docker/key.json", "/etc/containerd", "/etc/ipsec.secrets", "/etc/krb5.keytab", "/etc/cni", "/etc/salt/pki",
}

const homeSize = 1 << 30

// layout is the file system that a command sees, as its profile describes it.
type layout struct {
	root   string
	dir    string
	home   string
	cache  string // the folder for writes to caches
	mounts []mount
	lock   *os.File
	absent []*os.File // folders created in the project so that they can be covered
}

func (e *Engine) prepare(c *Command) (l *layout, err error) {
	home, err := homeOf(c.Env)
	if err != nil {
		return nil, err
	}
	p := &c.Profile
	if err := p.check(home); err != nil {
		return nil, err
	}
	l = &layout{root: filepath.Join(p.Private, "root"), dir: cmp.Or(c.Dir, p.Project)}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if len(c.Argv) == 0 {
		return l, errors.New("no command")
	}
	if l.dir, err = filepath.EvalSymlinks(l.dir); err != nil {
		return l, fmt.Errorf("find where the command starts: %w", err)
	}
	for _, dir := range []string{p.Private, l.root, p.Temp()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return l, fmt.Errorf("make the folders of a sandbox: %w", err)
		}
	}
	if err := os.Chmod(p.Temp(), 0o777|fs.ModeSticky); err != nil {
		return l, fmt.Errorf("make the folders of a sandbox: %w", err)
	}
	if l.home = home; e.kind != landlock {
		l.cache, err = l.slot(p.Private)
	}
	return l, err
}

// mounts works out what the command sees, and creates the folders in its project that will be covered.
func (e *Engine) mounts(c *Command, l *layout) error {
	p := &c.Profile
	if e.kind == landlock {
		real, _ := new(layout).follow(l.home, "")
		return l.permit(p, e.init, real)
	}
	l.system(e.init)
	l.add(mount{Kind: bind, From: p.Temp(), To: "/tmp", Write: true})
	real, _ := l.follow(l.home, "")
	l.add(mount{Kind: inMemory, To: real, Size: homeSize})
	if err := l.folders(p, real); err != nil {
		return err
	}
	return l.places(p)
}

func (l *layout) add(m mount) { l.mounts = append(l.mounts, m) }

// close removes the folders created in the project, unless another sandbox still needs them.
func (l *layout) close() {
	for _, folder := range l.absent {
		uncover(folder)
	}
	if l.lock != nil {
		_ = l.lock.Close()
	}
}

// Uncover removes the empty folders of Absent that no run uses, such as those left by a run that was killed.
func (p *Profile) Uncover() {
	for _, path := range p.Absent {
		if folder, err := openFolder(path); err == nil {
			uncover(folder)
		}
	}
}

// uncover closes a folder, and removes it if it is empty and no other run uses it.
func uncover(folder *os.File) {
	if unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.Remove(folder.Name()) // it stays if there is something in it
	}
	_ = folder.Close()
}

// openFolder opens a folder, but follows no link to one.
func openFolder(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// mark returns a text that differs once the file at path has been changed or replaced.
func mark(path string) string {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return err.Error()
	}
	return fmt.Sprint(s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
}

func homeOf(env []string) (string, error) {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, "HOME="); ok && filepath.IsAbs(value) {
			return filepath.Clean(value), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return filepath.Clean(home), nil
}

// check rejects a profile that would expose more than it names.
func (p *Profile) check(home string) error {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	paths := slices.Concat([]string{p.Project, p.Private}, p.Keep, p.Absent, p.Hide, p.Show, p.Warm)
	for _, path := range paths {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("the sandbox profile contains a path that is not clean: %q", path)
		}
	}
	for _, path := range slices.Concat(p.Keep, p.Absent) {
		if !isBelow(path, p.Project) {
			return fmt.Errorf("the sandbox profile keeps %s, which is not in %s", path, p.Project)
		}
	}
	switch {
	case slices.ContainsFunc(system, func(dir string) bool { return IsIn(dir, home) || IsIn(home, dir) }):
		return fmt.Errorf("%s cannot be the home folder in a sandbox", home)
	case IsIn(home, p.Project):
		return fmt.Errorf("%s is not a project: it contains your home folder", p.Project)
	case IsIn(p.Private, p.Project), IsIn(p.Project, p.Private):
		return fmt.Errorf("%s can't be both in a project and nod's own", p.Private)
	case slices.ContainsFunc(system, func(dir string) bool { return IsIn(dir, p.Project) }):
		return fmt.Errorf("%s is not a project: it belongs to the system", p.Project)
	}
	for _, path := range slices.Concat(p.Show, p.Warm) {
		if IsIn(home, path) || IsIn(p.Private, path) && !slices.Contains(p.Warm, path) {
			return fmt.Errorf("a sandbox cannot show %s", path)
		}
	}
	return nil
}

// system adds what is the same for all commands.
func (l *layout) system(init string) {
	entries, _ := os.ReadDir("/")
	for _, entry := range entries {
		if to, err := os.Readlink("/" + entry.Name()); err == nil {
			l.add(mount{Kind: link, From: to, To: "/" + entry.Name()})
		}
	}
	for _, dir := range system {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			l.add(mount{Kind: bind, From: dir, To: dir})
		}
	}
	for _, path := range confidential() {
		l.add(mount{Kind: hide, To: path})
	}
	l.add(mount{Kind: bind, From: init, To: firstPath})
	l.add(mount{Kind: link, From: "../run", To: "/var/run"})
	l.add(mount{Kind: link, From: "../tmp", To: "/var/tmp"})
}

func confidential() (paths []string) {
	entries, _ := os.ReadDir("/etc")
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode().Type()&fs.ModeSymlink != 0 {
			continue
		}
		if isOpen := info.Mode()&0o004 != 0 && (!info.IsDir() || info.Mode()&0o001 != 0); !isOpen {
			paths = append(paths, filepath.Join("/etc", entry.Name()))
		}
	}
	for _, pattern := range systemSecrets {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			if info, err := os.Lstat(path); err == nil && info.Mode().Type()&fs.ModeSymlink == 0 &&
				!slices.ContainsFunc(paths, func(above string) bool { return IsIn(path, above) }) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// follow adds the symbolic links on the way to a path. It returns the target, and whether a link in the project leads
// there, which a command may have created.
func (l *layout) follow(path, project string) (real string, isLed bool) {
	real = follow(path, func(at, to string) {
		isLed = isLed || isBelow(at, project)
		l.add(mount{Kind: link, From: to, To: at})
	})
	return real, isLed
}

// folders mounts the project and what is shown outside it, parents first. Links in the project expose nothing.
func (l *layout) folders(p *Profile, home string) error {
	mounts := []mount{{Kind: bind, From: p.Project, To: p.Project, Write: p.Write}}
	for _, path := range p.Show {
		real, isLed := l.follow(path, p.Project)
		info, err := os.Lstat(real)
		switch {
		case err != nil, isLed, IsIn(home, real), IsIn(p.Private, real):
		case info.IsDir(): // sockets cannot be reached through an overlay
			mounts = append(mounts, mount{Kind: overlay, From: real, To: real})
		case info.Mode().IsRegular():
			mounts = append(mounts, mount{Kind: bind, From: real, To: real})
		}
	}
	for _, path := range p.Warm {
		real, isLed := l.follow(path, p.Project)
		if isLed || IsIn(home, real) {
			continue
		}
		m, err := warm(real, l.cache)
		if err != nil {
			return err
		}
		mounts = append(mounts, m)
	}
	slices.SortStableFunc(mounts, func(a, b mount) int { return strings.Compare(a.To, b.To) })
	l.mounts = append(l.mounts, mounts...)
	return nil
}

// slot returns a folder for what is written to caches. Commands that run at the same time have one each: what two
// overlays wrote to the same folder would be useless.
func (l *layout) slot(private string) (string, error) {
	for n := 0; ; n++ {
		dir := filepath.Join(private, "warm", strconv.Itoa(n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("make a private cache: %w", err)
		}
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return "", fmt.Errorf("make a private cache: %w", err)
		}
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			l.lock = lock
			return dir, nil
		}
		_ = lock.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return "", fmt.Errorf("lock a private cache: %w", err)
		}
	}
}

// warm returns the mount of a cache that is read from outside and written in a slot.
func warm(path, slot string) (mount, error) {
	dir := filepath.Join(slot, url.PathEscape(path))
	m := mount{
		Kind: overlay, From: path, To: path,
		Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work"),
	}
	for _, dir := range []string{m.Upper, m.Work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return m, fmt.Errorf("make a private cache: %w", err)
		}
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return mount{Kind: bind, From: m.Upper, To: path, Write: true}, nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		return m, fmt.Errorf("mount the cache %s: %w", path, err)
	}
	return m, nil
}

// places adds the places in the project and in what is shown that are not as outside. It pins the folders above them:
// if renamed, others could take their place.
func (l *layout) places(p *Profile) error {
	kinds := map[string]mountKind{}
	if p.Write {
		for _, path := range p.Absent {
			if err := l.makeAbsent(path); errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
				continue // the command cannot make it either
			} else if err != nil {
				return fmt.Errorf("cover %s: %w", path, err)
			}
			kinds[path] = hide
		}
		for _, path := range p.Keep {
			if _, ok := kinds[path]; !ok {
				kinds[path] = keep
			}
		}
	}
	for _, path := range p.Hide {
		kinds[path] = hide
	}
	paths := slices.Sorted(maps.Keys(kinds))
	for _, path := range paths {
		for dir := filepath.Dir(path); p.Write && isBelow(dir, p.Project); dir = filepath.Dir(dir) {
			if _, ok := kinds[dir]; !ok {
				kinds[dir] = pin
			}
		}
	}
	settled := []string{} // below these nothing can change
	for _, path := range slices.Sorted(maps.Keys(kinds)) {
		kind := kinds[path]
		i := slices.IndexFunc(settled, func(above string) bool { return isBelow(path, above) })
		if i >= 0 && (kind != hide || kinds[settled[i]] == hide) {
			continue
		}
		if kind != pin {
			settled = append(settled, path)
		}
		l.add(mount{Kind: kind, To: path})
	}
	return nil
}

// makeAbsent creates a folder to be covered, and notes that it is in use.
func (l *layout) makeAbsent(path string) error {
	for {
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		folder, err := openFolder(path)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return err
		}
		if err := unix.Flock(int(folder.Fd()), unix.LOCK_SH); err != nil {
			return errors.Join(err, folder.Close())
		}
		if isStill(folder) { // and was not removed by one that had it before
			l.absent = append(l.absent, folder)
			return nil
		}
		_ = folder.Close()
	}
}

func isStill(folder *os.File) bool {
	is, errIs := folder.Stat()
	there, errThere := os.Lstat(folder.Name())
	return errIs == nil && errThere == nil && os.SameFile(is, there)
}
