// Package owndata tells the files that nod keeps from whatever else is in the same folders: a variable of the
// environment can make a folder of the person's one of nod's.
package owndata

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Programs is the folder, in that of the data, with the copy of nod that the hooks of agents run.
const Programs = "bin"

// These match names. A dot begins what is not written to its end yet.
var (
	files = []string{
		"config.yaml", ".config.yaml*", "nod.db*", "grants.json", ".grants.json*",
		"phone.pem", ".phone.pem*", "phone.json", ".phone.json*",
		"accepted.json", ".accepted.json*", "seal.key", ".seal.key*", "sealed", ".sealed*", "welcome", ".welcome*",
		"desk.key", ".desk.key*", "peers.json", ".peers.json*",
		"nod.log", "nod-*.log", "hooks.log", "hooks-*.log", "hooks.lock", "crash.log", "crash.log.1",
		"endpoint.json", ".endpoint.json*", "machines.json", ".machines.json*", "nod.sock", "instance.lock",
		"nod-desktop.out",
		"relay.key", ".relay.key*", "desks.json", ".desks.json*", "relay.jsonl*", ".relay.jsonl*", "relay.lock", "relay.sock",
		"nod-relay.out",
	}
	programs = []string{"nod", ".nod*", "nod.exe", "nod-desktop", "nod-desktop.exe"}
)

// Is reports whether an entry of one of nod's folders is a file of nod's own.
func Is(entry fs.DirEntry) bool { return isOneOf(files, entry) }

func isOneOf(patterns []string, entry fs.DirEntry) bool {
	return !entry.IsDir() && slices.ContainsFunc(patterns, func(pattern string) bool {
		is, err := filepath.Match(pattern, entry.Name())
		return is && err == nil
	})
}

// In returns the paths to remove for nothing of nod's to be left in one of its folders: the folder itself, unless there
// is something in it that is not nod's. Of a folder elsewhere only the link to it is nod's.
func In(folder string) []string { return in(folder, files) }

// InPrograms is [In] for a folder named [Programs].
func InPrograms(folder string) []string { return in(folder, programs) }

func in(folder string, patterns []string) (paths []string) {
	info, err := os.Lstat(folder)
	switch {
	case err != nil || !filepath.IsAbs(folder):
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return []string{folder}
	case !info.IsDir():
		return nil
	}
	entries, err := os.ReadDir(folder)
	isWhole := err == nil
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		switch {
		case entry.Name() == Programs && entry.IsDir():
			copied := InPrograms(path)
			isWhole = isWhole && slices.Equal(copied, []string{path})
			paths = append(paths, copied...)
		case isOneOf(patterns, entry):
			paths = append(paths, path)
		default:
			isWhole = false
		}
	}
	if isWhole {
		return []string{folder}
	}
	return paths
}
