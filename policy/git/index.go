package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"

	"nod/ownfile"
)

const (
	maxIndex    = 64 << 20 // bytes; some 500,000 files
	maxGitlinks = 1000
	modeGitlink = 0o160000
)

var errIndex = errors.New("not an index")

// submodules returns the paths, relative to the work tree, of the repositories in an index: those in which git
// runs itself again. It does not ask .gitmodules, and nor does this.
func submodules(dir string) ([]string, error) {
	data, err := ownfile.ReadBehind(join(dir, "index"), maxIndex)
	if ownfile.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	paths, err := gitlinks(data)
	if err != nil || !bytes.Contains(data, []byte("link")) {
		return paths, err
	}
	names, err := os.ReadDir(dir) // it may be a split index
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name.Name(), "sharedindex.") {
			continue
		}
		data, err := ownfile.ReadBehind(join(dir, name.Name()), maxIndex)
		if err != nil {
			return nil, err
		}
		more, err := gitlinks(data)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	return paths, nil
}

// gitlinks reads the entries of an index (gitformat-index(5), versions 2 to 4). Which hash the repository uses is
// for git to know: it reads both ways.
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

// mayHoldGitlink looks for the mode as a number of four bytes. It starts with the rare one of them, for an index
// is full of zeros.
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

// entries returns the names of the gitlinks, when an object's name has hash bytes.
func entries(data []byte, hash int) (paths []string, err error) {
	const header = 12
	if len(data) < header || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, errIndex
	}
	data = data[header:]
	var name []byte
	for range count {
		var mode uint32
		mode, name, data, err = indexEntry(data, name, version, hash)
		if err != nil {
			return nil, err
		}
		if mode == modeGitlink {
			paths = append(paths, string(name))
		}
	}
	return paths, nil
}

// indexEntry reads one entry. Version 4 names it by what it shares with the name before it.
func indexEntry(data, before []byte, version uint32, hash int) (mode uint32, name, rest []byte, err error) {
	const modeAt, hashAt, extended = 24, 40, 0x4000
	fixed := hashAt + hash + 2
	if len(data) < fixed {
		return 0, nil, nil, errIndex
	}
	mode = binary.BigEndian.Uint32(data[modeAt:])
	if version > 2 && binary.BigEndian.Uint16(data[fixed-2:])&extended != 0 {
		fixed += 2
	}
	at := min(fixed, len(data))
	if version == 4 {
		cut, size := varint(data[at:])
		if size == 0 || cut > len(before) {
			return 0, nil, nil, errIndex
		}
		name = before[:len(before)-cut]
		at += size
	}
	end := bytes.IndexByte(data[at:], 0)
	if end < 0 {
		return 0, nil, nil, errIndex
	}
	name = append(name, data[at:at+end]...)
	next := at + end + 1
	if version < 4 {
		next = (at + end + 8) &^ 7 // one to eight NULs
	}
	if next > len(data) {
		return 0, nil, nil, errIndex
	}
	return mode, name, data[next:], nil
}

// varint decodes git's offset encoding. Its size is 0 when it is cut short or too long for any name.
func varint(data []byte) (value, size int) {
	for i, c := range data[:min(len(data), 4)] {
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}
