package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

var (
	errNotPlain = errors.New("not a plain file")
	errTooBig   = errors.New("too big")
)

// readFile reads a plain file of at most most bytes. Links are followed, as git follows them.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path) // opening a device can have effects
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	if info.Size() > most {
		return nil, errTooBig
	}
	data := make([]byte, info.Size()+1) // one more to see a file that grows
	n, err := io.ReadFull(file, data)
	switch {
	case err == nil:
		return nil, errTooBig
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	}
	return data[:n], nil
}

// isMissing tells a file that is not there from one that cannot be read.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// join puts a path behind a folder without cleaning: "link/../x" is not "x".
func join(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return folder + "/" + path
}

// folderOf is everything before the last slash of a path that has one.
func folderOf(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), strings.LastIndexByte(path, filepath.Separator), 0)]
}

// isWithin says whether a clean path is folder or below it.
func isWithin(folder, path string) bool {
	if folder == "" || !strings.HasPrefix(path, folder) {
		return false
	}
	rest := path[len(folder):]
	return rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(folder[len(folder)-1])
}

const longestShown = 120 // bytes of a path or key in a sentence

// show makes a name fit to be part of a sentence.
func show(s string) string {
	isHidden := func(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }
	if len(s) > longestShown {
		s = "…" + s[len(s)-longestShown:]
	}
	if strings.ContainsFunc(s, isHidden) {
		return strconv.QuoteToASCII(s)
	}
	return s
}
