package git

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed keys.txt
var keysText string

// harmless holds the keys of keys.txt, as patterns, and under "section.*" the sections that it lists completely.
var harmless = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for line := range strings.Lines(keysText) {
		head, names, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		section, _, _ := strings.Cut(head, ".")
		known[section+".*"] = true
		for name := range strings.FieldsSeq(names) {
			known[head+"."+name] = true
		}
	}
	return known
})

type rule struct {
	says  string
	own   bool              // counts in the repository's own files; in a user's own it is their choice
	spare func(*entry) bool // the values that are harmless; nil: none
}

const (
	namesProgram = "names a program that git runs"
	runsGPG      = "makes git run the program that checks signatures"
	runsDriver   = "makes git run merge drivers"
	entersOther  = "makes git run in other repositories"
	fetches      = "makes git fetch what is missing"
	isUnknown    = "is not known to be harmless"
	leadsOut     = "leads out of the repository"
	namesNoFile  = "names a file that nobody can tell"
	holdsSecret  = "may hold a password or token"
)

// rules apply by pattern, or by "section.*" to all keys of a section.
var rules = map[string]rule{
	"core.fsmonitor":            {says: namesProgram, spare: isFalse},
	"core.alternaterefscommand": {says: namesProgram},
	"diff.external":             {says: namesProgram},
	"diff.*.command":            {says: namesProgram},
	"diff.*.textconv":           {says: namesProgram},
	"filter.*.clean":            {says: namesProgram, spare: isLFS},
	"filter.*.smudge":           {says: namesProgram, spare: isLFS},
	"filter.*.process":          {says: namesProgram, spare: isLFS},
	"lfs.*.clean":               {says: namesProgram}, // lfs.extension.NAME.clean
	"lfs.*.smudge":              {says: namesProgram},
	"alias.*":                   {says: namesProgram, spare: isShadowed},
	"hook.*.event":              {says: namesProgram, spare: isOtherEvent},

	"log.showsignature": {says: runsGPG, spare: isFalse},
	"format.pretty":     {says: runsGPG, spare: isUnsigned},
	"pretty.*":          {says: runsGPG, spare: isUnsigned},
	"branch.sort":       {says: runsGPG, spare: isUnsigned},
	"tag.sort":          {says: runsGPG, spare: isUnsigned},
	"log.diffmerges":    {says: runsDriver, spare: isNoRemerge},
	"diff.submodule":    {says: entersOther, spare: isNoInlineDiff},

	"extensions.partialclone":     {says: fetches},
	"remote.*.promisor":           {says: fetches, spare: isFalse},
	"remote.*.partialclonefilter": {says: fetches},

	// A user chooses their own pager, and these commands do more than read without these keys, too.
	"core.pager":              {says: namesProgram, own: true, spare: isPlainPager},
	"pager.*":                 {says: namesProgram, own: true, spare: isPlainPager},
	"gpg.program":             {says: namesProgram, own: true},
	"gpg.*.program":           {says: namesProgram, own: true},
	"gpg.*.defaultkeycommand": {says: namesProgram, own: true},
	"hook.*.command":          {says: namesProgram, own: true},
	"tar.*.command":           {says: namesProgram, own: true},
	"web.*":                   {says: namesProgram, own: true},
	"man.*":                   {says: namesProgram, own: true},
	"browser.*":               {says: namesProgram, own: true},
	"instaweb.*":              {says: namesProgram, own: true},
	"help.browser":            {says: namesProgram, own: true},
	"help.format":             {says: namesProgram, own: true},
	"extensions.refstorage":   {says: leadsOut, own: true, spare: isPlainRefs},
	"submodule.*.gitdir":      {says: entersOther, own: true},
}

// judge says what is wrong with a key, or returns "". own says that the file is the repository's own.
func judge(e *entry, own bool) (says string) {
	pattern, section := e.pattern(), e.section+".*"
	r, ok := rules[pattern]
	if !ok {
		r, ok = rules[section]
	}
	switch {
	case ok:
		if r.own && !own || r.spare != nil && r.spare(e) {
			return ""
		}
		return r.says
	case !own, harmless()[pattern]:
		return ""
	case harmless()[section], soundsLikeProgram(e.name) && !forOthers[e.section]:
		return isUnknown
	}
	return ""
}

// soundsLikeProgram reports whether a key ends like those of git that name programs. A section that git does not know
// belongs to another tool; but a later git may know it, and read programs from it.
func soundsLikeProgram(name string) bool {
	ends := strings.Fields("cmd command program hook exec textconv clean smudge process driver helper editor pager")
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

var forOthers = map[string]bool{
	"color": true, "credential": true, "difftool": true, "gc": true, "gitcvs": true, "guitool": true, "imap": true,
	"interactive": true, "merge": true, "mergetool": true, "rebase": true, "receive": true, "remote": true,
	"sendemail": true, "sequence": true, "trailer": true, "uploadpack": true,
}

// isFalse reports whether a value is one of git's words for false. A key without a value is true.
func isFalse(e *entry) bool {
	return e.hasValue && slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(e.value))
}

// isLFS reports whether a value is one that "git lfs install" writes, or switches the filter off.
func isLFS(e *entry) bool {
	return e.hasValue && e.value == "" || e.sub == "lfs" && slices.Contains(lfsCommands[e.name], e.value)
}

var lfsCommands = map[string][]string{
	"clean":   {"git-lfs clean -- %f"},
	"smudge":  {"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"},
	"process": {"git-lfs filter-process", "git-lfs filter-process --skip"},
}

// isShadowed reports whether git has a command of that name, or the name is used only by those who mean the alias. Only
// commands about to be removed yield to an alias, since git 2.52.
func isShadowed(e *entry) bool {
	isOld := func(s string) bool {
		return strings.EqualFold(s, "whatchanged") || strings.EqualFold(s, "pack-redundant")
	}
	return !isOld(e.name) && !isOld(e.sub)
}

// plainAddress matches an address without a password or token, as far as its form shows: only ssh has a user in it.
var plainAddress = sync.OnceValue(func() *regexp.Regexp {
	const user = `[a-z][a-z0-9_.-]{0,31}@`
	return regexp.MustCompile(`^((ssh|git\+ssh|ssh\+git)://` + user + `[^@?]*|` + user + `[^@?/]+:[^@?]*|[^@?]*)$`)
})

// withPassword matches an address with a password or token among other text.
var withPassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`https?://\S*[@?]|://[^/\s@]*:[^/\s@]+@`)
})

// isPlainAddress reports whether a key has no address that git may print, or a plain one.
func isPlainAddress(e *entry) bool {
	switch e.pattern() {
	case "remote.*.url", "remote.*.pushurl", "remote.*.proxy", "remote.pushdefault", "branch.*.remote",
		"branch.*.pushremote":
		return plainAddress().MatchString(e.value)
	case "url.*.insteadof", "url.*.pushinsteadof":
		return plainAddress().MatchString(e.sub) && plainAddress().MatchString(e.value)
	}
	return true
}

const readingHook = "post-index-change" // the one hook that reading runs: status and diff refresh the index

func isOtherEvent(e *entry) bool { return e.hasValue && e.value != readingHook }

var checksSignature = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[-+ ]?G|(?i:signature)`) })

func isUnsigned(e *entry) bool { return !checksSignature().MatchString(e.value) }

func isNoRemerge(e *entry) bool { return e.value != "r" && e.value != "remerge" }

func isNoInlineDiff(e *entry) bool { return e.value != "diff" }

func isPlainPager(e *entry) bool {
	return !e.hasValue || isFalse(e) || slices.Contains([]string{"true", "yes", "on", "1", "cat", "less"}, e.value)
}

func isPlainRefs(e *entry) bool { return e.value == "files" || e.value == "reftable" }
