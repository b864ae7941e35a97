package shell

import (
	"path"
	"strings"

	"nod/policy/shell/language"
)

// climbs matches a relative path that leads up to the root and into a system folder, or up and then into whatever a
// pattern matches.
var climbs = language.Compiled(`(?i)^(\.\.?/+)*\.\./+((proc|dev|sys|\.vol|net)(/|$)|[^/]*[*?[])`)

// hiddenByPattern matches a pattern for hidden files: they are where secrets are kept.
var hiddenByPattern = language.Compiled(`(^|/)\.[^/]*[*?[]`)

// procFiles are the files below /proc that tell of the machine, not of a process.
const procFiles language.Words = "/proc/cpuinfo /proc/filesystems /proc/loadavg /proc/meminfo /proc/uptime " +
	"/proc/version"

// systemFolders are the folders below the root that hold no ordinary files. Only gawk treats the inet ones as
// connections.
const systemFolders language.Words = "dev proc sys .vol net inet inet4 inet6"

// Special reports whether path is a device or a file of the system rather than an ordinary file. [Analyze]
// asks about such paths as the command spells them; a caller that resolves a path should ask again.
func Special(path string) bool { return specialPath(path, false) != "" }

// specialPath says why p is no ordinary file or folder. deep means that everything below p is read. Reading a device
// may never end or may act on it; files below /proc show the environment of programs.
func specialPath(p string, deep bool) string {
	clean := path.Clean(p)
	switch {
	case p == "/dev/null":
		return ""
	case strings.HasPrefix(p, "//"):
		return quote(p) + " may be on another machine."
	case strings.ContainsAny(p, "*?[") && hiddenByPattern().MatchString(p):
		return "The pattern " + quote(p) + " may match hidden files."
	case strings.Contains(clean, "../") && climbs().MatchString(clean):
		return quote(p) + " may be a device or a file of the system."
	case deep && (clean == "/" || strings.Trim(clean, "./") == "" && strings.HasPrefix(clean, "..")):
		return "It reads all files below " + quote(p) + "."
	case !strings.HasPrefix(clean, "/"), procFiles.Has(p):
		return ""
	}
	first, _, _ := strings.Cut(clean[1:], "/")
	switch {
	case strings.ContainsAny(first, "*?["):
		return "The pattern " + quote(p) + " may match devices."
	case systemFolders.Has(strings.ToLower(first)):
		return quote(p) + " is a device or a file of the system, not an ordinary file."
	}
	return ""
}
