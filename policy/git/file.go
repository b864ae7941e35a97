package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// join appends a path to a folder without cleaning: "link/../x" is not "x".
func join(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return folder + "/" + path
}

func folderOf(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), strings.LastIndexByte(path, filepath.Separator), 0)]
}

func isWithin(folder, path string) bool {
	if folder == "" || !strings.HasPrefix(path, folder) {
		return false
	}
	rest := path[len(folder):]
	return rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(folder[len(folder)-1])
}

const longestShown = 120 // bytes of a path or key in a sentence

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
