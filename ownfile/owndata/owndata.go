// Package owndata distinguishes nod's files from others in the same folders, which may be the user's own.
package owndata

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Folders that nod creates in its folders.
const (
	programsFolder  = "bin"       // the copy of nod that agents' hooks run
	snapshotsFolder = "snapshots" // a folder for each project, named by the sum of its path
)

// Patterns of file names. A leading dot marks a file that is still being written.
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
	programs = []string{"nod", ".nod*", "nod.exe", "nod-cli", "nod-cli.exe", "nod-desktop", "nod-desktop.exe"}
)

// Is reports whether an entry of one of nod's folders is nod's file, or its folder of snapshots.
func Is(entry fs.DirEntry) bool {
	return isOneOf(files, entry) || entry.IsDir() && entry.Name() == snapshotsFolder
}

// holdsSnapshots reports whether a folder contains only snapshots.
func holdsSnapshots(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && !slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		_, err := hex.DecodeString(entry.Name())
		return err != nil || len(entry.Name()) != 32 || !entry.IsDir()
	})
}

func isOneOf(patterns []string, entry fs.DirEntry) bool {
	return !entry.IsDir() && slices.ContainsFunc(patterns, func(pattern string) bool {
		is, err := filepath.Match(pattern, entry.Name())
		return is && err == nil
	})
}

// In returns the paths to remove to delete nod's files from one of its folders, or the folder itself if it contains
// nothing else. If the folder is a link, only the link is nod's.
func In(folder string) []string { return in(folder, files) }

// InPrograms is [In] for a folder named bin.
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
		case entry.Name() == programsFolder && entry.IsDir():
			copied := InPrograms(path)
			isWhole = isWhole && slices.Equal(copied, []string{path})
			paths = append(paths, copied...)
		case entry.Name() == snapshotsFolder && entry.IsDir() && holdsSnapshots(path):
			paths = append(paths, path)
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
