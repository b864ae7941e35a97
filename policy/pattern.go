package policy

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// foldsCase says that the file systems here usually treat SRC and src as the same file.
const foldsCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// A pattern matches absolute paths. It holds the pattern that the user wrote and, if the folder it starts in is reached
// through a link, the same pattern starting at the link's target.
type pattern struct {
	globs  []string
	starts []string  // fixed path that each glob is or starts in; none if one may start anywhere
	names  *nameList // the globs that may start anywhere, by their names; nil: none
}

func checkPattern(p string) string {
	switch {
	case !doublestar.ValidatePattern(filepath.ToSlash(p)):
		return fmt.Sprintf("%q is no pattern: want a path in which * is any name, ** any folders, ? a character, "+
			"[abc] and {a,b} a choice", p)
	case filepath.IsAbs(p), p == "~", strings.HasPrefix(p, "~/"), p == "**", strings.HasPrefix(p, "**/"):
		return ""
	}
	return fmt.Sprintf("%q starts nowhere: want an absolute path, or one that begins with ~/ or **/", p)
}

// newPattern prepares a pattern that checkPattern accepts; nil for "". With below it also matches everything inside
// what it matches: forbidding a folder includes its files.
func newPattern(p, home string, below bool) *pattern {
	if p == "" {
		return nil
	}
	p = filepath.ToSlash(p)
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = escapeGlob(filepath.ToSlash(home)) + p[1:]
	}
	p = collapse(p)
	globs := []string{fold(p)}
	if real, ok := reroot(p); ok {
		globs = append(globs, fold(real))
	}
	if below {
		for _, g := range globs {
			if !strings.HasSuffix(g, "**") {
				globs = append(globs, strings.TrimSuffix(g, "/")+"/**")
			}
		}
	}
	return &pattern{globs, bases(globs), namesIn(globs)}
}

func namesIn(globs []string) *nameList {
	var names *nameList
	for _, g := range globs {
		rest, ok := strings.CutPrefix(g, "**/")
		all, plain := expandBraces(rest)
		if !ok || !plain {
			continue
		}
		for _, one := range all {
			parts := globParts(one)
			e := nameEntry{parts: parts}
			if n := len(parts) - 1; n > 0 && parts[n] == "**" {
				e.parts, e.below = parts[:n], true
			}
			isAny := func(part string) bool { return strings.Trim(part, "*") == "" }
			if len(e.parts) == 0 || slices.ContainsFunc(e.parts, isAny) {
				continue
			}
			if names == nil {
				names = newNameList("")
			}
			names.add(e)
		}
	}
	return names
}

// meets reports whether a pattern that narrows a search is meant for what this one matches in any folder.
func (p pattern) meets(glob string) bool { return p.names != nil && p.names.mayMatch(glob, false) }

// isNamed reports whether a name, or a pattern of names, is meant for what this pattern matches in any folder. It may
// also be a pattern for texts.
func (p *pattern) isNamed(name string) bool {
	isGlob := hasMeta(name) && !strings.ContainsAny(name, `[]()\|^$+#`)
	return p.names != nil && (p.names.find(name, "") != nil || isGlob && p.meets(name))
}

// lastNames returns the folded names, or patterns of names, of what the pattern matches: * if that may be anything.
func (p *pattern) lastNames() []string {
	if p.names == nil {
		return []string{"*"}
	}
	var names []string
	for _, e := range p.names.entries {
		names = append(names, e.parts[len(e.parts)-1])
	}
	return slices.Compact(names)
}

// mayNarrow reports whether a pattern that narrows a search selects, in some folder, what this one matches. A name
// without a dot may be a folder.
func (p *pattern) mayNarrow(glob string) bool {
	globs, ok := expandBraces(glob)
	return !ok || slices.ContainsFunc(globs, func(g string) bool {
		parts := globParts(g)
		return len(parts) == 0 || slices.ContainsFunc(p.lastNames(), func(name string) bool {
			return !strings.Contains(name, ".") || namesMeet(parts[len(parts)-1], name)
		})
	})
}

// collapse removes doubled slashes, and reads a trailing slash as "and everything in it".
func collapse(p string) string {
	start := 0
	if runtime.GOOS == "windows" {
		start = 1 // of a network path
	}
	for strings.Contains(p[start:], "//") {
		p = p[:start] + strings.ReplaceAll(p[start:], "//", "/")
	}
	if strings.HasSuffix(p, "/") {
		return p + "**"
	}
	return p
}

// splitPattern splits a pattern into the path that is fixed, and the rest.
func splitPattern(p string) (base, rest string) {
	if !hasMeta(p) {
		return p, ""
	}
	return doublestar.SplitPattern(p)
}

func reroot(p string) (string, bool) {
	base, rest := splitPattern(p)
	if !filepath.IsAbs(filepath.FromSlash(base)) || base == "/" {
		return "", false
	}
	real, _ := resolve(filepath.FromSlash(base)) // as far as nod can look
	real = filepath.ToSlash(real)
	switch {
	case real == "", real == base:
		return "", false
	case rest == "":
		return escapeGlob(real), true
	}
	return strings.TrimSuffix(escapeGlob(real), "/") + "/" + rest, true
}

func (p pattern) match(path string) bool {
	path = fold(path)
	return slices.ContainsFunc(p.globs, func(g string) bool { return doublestar.MatchUnvalidated(g, path) })
}

// bases returns the fixed path that each of the globs is or starts in, or nothing if one may start anywhere.
func bases(globs []string) []string {
	var bases []string
	for _, g := range globs {
		base, _ := splitPattern(g)
		if base == "." || base == "/" {
			return nil
		}
		if !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
	}
	return bases
}

func hasMeta(p string) bool { return strings.ContainsAny(p, `*?[{\`) }

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`)

func escapeGlob(s string) string { return globEscaper.Replace(s) }
