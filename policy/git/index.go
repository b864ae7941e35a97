package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync"

	"nod/ownfile"
)

const (
	maxIndex    = 64 << 20 // bytes; some 500,000 files
	maxGitlinks = 1000
	modeGitlink = 0o160000
)

var errIndex = errors.New("not an index")

// submodules returns the paths, relative to the work tree, of the repositories in an index: those in which git runs
// itself again. Like git, it ignores .gitmodules. Of a split index all parts count, even old ones.
func submodules(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Name() != "index" && !strings.HasPrefix(f.Name(), "sharedindex.") {
			continue
		}
		more, err := indexed(join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	return paths, nil
}

// known caches the gitlinks of indexes that have not changed since they were read: reading them takes longest.
var known = struct {
	sync.Mutex
	links map[state][]string
}{links: map[state][]string{}}

const maxKnown = 64 // indexes

// state identifies a version of a file: any change of the file changes it.
type state struct {
	path             string
	device, inode    uint64
	size             int64
	written, altered int64 // nanoseconds since 1970
}

func indexed(path string) ([]string, error) {
	before, isSettled := stateOf(path)
	known.Lock()
	paths, isKnown := known.links[before]
	known.Unlock()
	if isSettled && isKnown {
		return paths, nil
	}
	data, err := ownfile.ReadBehind(path, maxIndex)
	if err != nil {
		return nil, err
	}
	if paths, err = gitlinks(data); err != nil {
		return nil, err
	}
	if after, _ := stateOf(path); isSettled && after == before {
		known.Lock()
		defer known.Unlock()
		if len(known.links) >= maxKnown {
			clear(known.links)
		}
		known.links[before] = paths
	}
	return paths, nil
}

// gitlinks reads the entries of an index (gitformat-index(5), versions 2 and 3; it refuses one of version 4 that may
// hold a gitlink). It does not know the repository's hash, so it reads the index both ways.
func gitlinks(data []byte) (paths []string, err error) {
	if !mayHoldGitlink(data) {
		return nil, nil
	}
	const sha1, sha256 = 20, 32
	short, err := entries(data, sha1)
	long, err2 := entries(data, sha256)
	if err != nil && err2 != nil || len(short)+len(long) > maxGitlinks {
		return nil, errIndex
	}
	return append(short, long...), nil
}

// mayHoldGitlink looks for the mode as a number of four bytes. It searches for the rare byte first, because an index is
// full of zeros.
func mayHoldGitlink(data []byte) bool {
	for {
		i := bytes.IndexByte(data, modeGitlink>>8)
		if i < 0 {
			return false
		}
		if i >= 2 && data[i-1] == 0 && data[i-2] == 0 && i+1 < len(data) && data[i+1] == 0 {
			return true
		}
		data = data[i+1:]
	}
}

func entries(data []byte, hash int) (paths []string, err error) {
	const header = 12
	if len(data) < header || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version != 2 && version != 3 {
		return nil, errIndex
	}
	data = data[header:]
	for range count {
		mode, name, size := indexEntry(data, version, hash)
		if size == 0 {
			return nil, errIndex
		}
		if mode == modeGitlink {
			paths = append(paths, name)
		}
		data = data[size:]
	}
	return paths, nil
}

// indexEntry reads the entry that data starts with. Its size is 0 if it is cut short.
func indexEntry(data []byte, version uint32, hash int) (mode uint32, name string, size int) {
	const modeAt, hashAt, extended = 24, 40, 0x4000
	at := hashAt + hash + 2
	if len(data) < at {
		return 0, "", 0
	}
	if version == 3 && binary.BigEndian.Uint16(data[at-2:])&extended != 0 {
		at += 2
	}
	end := bytes.IndexByte(data[min(at, len(data)):], 0)
	size = (at + end + 8) &^ 7 // one to eight NULs
	if end < 0 || size > len(data) {
		return 0, "", 0
	}
	return binary.BigEndian.Uint32(data[modeAt:]), string(data[at : at+end]), size
}
