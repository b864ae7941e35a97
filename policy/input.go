package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxInput is how many characters of a tool's input a person can be expected to have read. A longer input
// is always shown to one.
const maxInput = 10_000

// maxPaths is how many paths of one input are looked at on disk; with more of them it is always asked about.
const maxPaths = 1000

// An input is what the policy needs to know of a tool call's input: one walk over its JSON.
type input struct {
	text      string   // the JSON as it came
	problem   string   // why readers might disagree on what it says; empty when they cannot
	hidden    bool     // some text in it holds a hidden character
	paths     []string // values of the fields that name files and folders, as they came
	addresses []string // what in it is an address of the web
	globs     []string // values of the fields that a tool takes for patterns of paths
	command   string   // value of the top-level field that a shell would run
	folder    string   // value of the top-level field that says where a command runs
	isRun     bool     // command was there
	plain     *bool    // what onlyRuns found out

	traits trait
	at     int
	buf    [8]string // paths of the usual input, without an allocation
}

// read walks the JSON of a call's input. It notes problems instead of failing: rules that deny must still
// see what can be seen.
func (in *input) read(raw json.RawMessage, traits trait) {
	in.traits = traits
	in.paths = in.buf[:0]
	in.text = string(raw)
	switch {
	case !json.Valid(raw):
		in.problem = "the input is not valid JSON"
		return
	case !utf8.ValidString(in.text):
		in.problem = "the input is not valid UTF-8"
	}
	in.space()
	if in.text[in.at] != '{' {
		in.problem = "the input is not a JSON object"
		return
	}
	in.object(0)
	in.addGlobs()
}

// isLong reports whether the input has more characters than a person can be expected to have read.
func (in *input) isLong() bool {
	return len(in.text) > maxInput && utf8.RuneCountInString(in.text) > maxInput
}

// The walk below relies on json.Valid: it never checks syntax, and nesting is at most what json.Valid
// lets pass.

func (in *input) space() {
	for in.at < len(in.text) && strings.IndexByte(" \t\r\n", in.text[in.at]) >= 0 {
		in.at++
	}
}

func (in *input) object(depth int) {
	var few [16]string
	seen, many := few[:0], map[string]bool(nil)
	for in.at++; ; in.at++ { // past '{' or ','
		in.space()
		if in.text[in.at] == '}' {
			break
		}
		key := in.str()
		seen, many = in.note(seen, many, key)
		in.space()
		in.at++ // ':'
		in.value(key, depth)
		in.space()
		if in.text[in.at] == '}' {
			break
		}
	}
	in.at++
}

// note remembers the keys of one object. Of two fields with one name some readers take the first and some
// the last, so what a human approves need not be what runs.
func (in *input) note(seen []string, many map[string]bool, key string) ([]string, map[string]bool) {
	if many[key] || slices.Contains(seen, key) {
		in.problem = "the input names a field twice"
	}
	if len(seen) < cap(seen) {
		return append(seen, key), many
	}
	if many == nil {
		many = map[string]bool{}
	}
	many[key] = true
	return seen, many
}

// value walks one value. The elements of a list belong to the key of the list.
func (in *input) value(key string, depth int) {
	in.space()
	switch in.text[in.at] {
	case '{':
		in.object(depth + 1)
	case '[':
		in.list(key, depth)
	case '"':
		in.field(key, in.str(), depth)
	default:
		for in.at < len(in.text) && strings.IndexByte(",]} \t\r\n", in.text[in.at]) < 0 {
			in.at++
		}
	}
}

func (in *input) list(key string, depth int) {
	for in.at++; ; in.at++ { // past '[' or ','
		in.space()
		if in.text[in.at] == ']' {
			break
		}
		in.value(key, depth+1)
		in.space()
		if in.text[in.at] == ']' {
			break
		}
	}
	in.at++
}

// str reads one string token, decodes it and looks for hidden characters.
func (in *input) str() string {
	start, escaped := in.at+1, false
	in.at++
	for in.text[in.at] != '"' {
		if in.text[in.at] == '\\' {
			escaped = true
			in.at++
		}
		in.at++
	}
	s := in.text[start:in.at]
	in.at++
	if escaped {
		s = in.unescape(in.text[start-1 : in.at])
	}
	if !in.hidden {
		in.hidden = hasHidden(s)
	}
	return s
}

// unescape decodes a token. Half of a surrogate pair becomes U+FFFD, which is [Hidden], so two inputs that
// decode alike but are not alike are never told apart by what they decode to.
func (in *input) unescape(token string) string {
	var s string
	if err := json.Unmarshal([]byte(token), &s); err != nil {
		in.problem = "the input holds text that cannot be read"
	}
	return s
}

// field takes note of one text.
func (in *input) field(key, value string, depth int) {
	switch {
	case depth == 0 && isCommandKey(key) && !in.isRun:
		in.command, in.isRun = value, true
	case depth == 0 && isFolderKey(key) && in.traits&runsShell != 0:
		in.folder = value
		return
	}
	if in.traits&patch != 0 && strings.Contains(value, patchMark) {
		in.addPatch(value)
	}
	if in.traits&globs != 0 && (key == "pattern" || key == "include") {
		in.globs = append(in.globs, value)
	}
	if isPathKey(key) && value != "" {
		in.addPath(value)
	}
	in.addAddresses(key, value)
}

// addPath notes a path, as long as there are not more than anybody would look at.
func (in *input) addPath(path string) {
	if len(in.paths) == maxPaths {
		in.problem = "the input names more paths than nod looks at"
		return
	}
	in.paths = append(in.paths, path)
}

// isCommandKey knows the fields in which shell tools take their command line.
func isCommandKey(key string) bool {
	return key == "command" || key == "cmd"
}

// isFolderKey knows the fields in which shell tools take the folder to run in.
func isFolderKey(key string) bool {
	switch key {
	case "workdir", "cwd", "directory", "dir_path", "working_directory":
		return true
	}
	return false
}

// isPathKey reports whether a field of that name holds the path of a file or folder: the last word of the
// name says so, whether it is spelled file_path, filePath, filepath or absolute-path.
func isPathKey(key string) bool {
	switch lastWord(key) {
	case "path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths",
		"dir", "dirs", "directory", "directories", "folder", "folders", "cwd", "workdir", "root", "uri",
		"source", "destination", "dest", "src", "dst":
		return true
	}
	return false
}

// lastWord returns the last word of a snake, kebab or camel case name, its first letter in lower case.
func lastWord(name string) string {
	start := strings.LastIndexAny(name, "_-. ") + 1
	for i := len(name) - 1; i > start; i-- {
		if isUpper(name[i]) && !isUpper(name[i-1]) {
			start = i
			break
		}
	}
	word := name[start:]
	if word != "" && isUpper(word[0]) {
		return strings.ToLower(word)
	}
	return word
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// patchMark begins the lines of a patch that name its files.
const patchMark = "*** "

// addPatch finds the files that a patch in the format of apply_patch changes.
func (in *input) addPatch(text string) {
	for line := range strings.Lines(text) {
		for _, verb := range [...]string{"Add File:", "Update File:", "Delete File:", "Move to:"} {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), patchMark+verb); ok {
				in.addPath(strings.TrimSpace(rest))
			}
		}
	}
}

// addGlobs adds the folders that the input's patterns lead to, where that is not simply below the paths that
// it names anyway.
func (in *input) addGlobs() {
	named := in.paths
	for _, glob := range in.globs {
		base := globBase(glob)
		switch {
		case base == "":
		case isRooted(base) || len(named) == 0:
			in.addPath(base)
		default:
			for _, folder := range named {
				in.addPath(folder + "/" + base)
			}
		}
	}
}

// globBase returns the folder that a glob leads to before its first wildcard, or "" when it stays below the
// folder it starts in. One that climbs after a wildcard is returned whole.
func globBase(glob string) string {
	if !isRooted(glob) && !strings.Contains(glob, "..") {
		return ""
	}
	wild := strings.IndexAny(glob, "*?[{")
	if wild < 0 || strings.Contains(glob[wild:], "..") {
		return glob
	}
	return glob[:strings.LastIndexAny(glob[:wild], `/\\`)+1]
}

// isRooted reports whether a path starts somewhere else than in the current folder, on any system.
func isRooted(path string) bool {
	return path != "" && (strings.IndexByte(`/\~`, path[0]) >= 0 || (len(path) > 1 && path[1] == ':'))
}

// plainExtras are the fields that may stand beside a shell command without changing what it does.
var plainExtras = map[string]bool{
	"description": true, "justification": true,
	"timeout": true, "timeout_ms": true, "yield_time_ms": true, "max_output_tokens": true,
	"run_in_background": true, "is_background": true,
}

// onlyRuns reports whether the input says nothing about the command but what to run, where, and for how
// long: no field that nod does not know, unless it is null or false. An exact command with another shell,
// environment or sandbox is not the command that the rule names.
func (in *input) onlyRuns() bool {
	if in.plain == nil {
		plain := in.hasOnlyPlainExtras()
		in.plain = &plain
	}
	return *in.plain
}

func (in *input) hasOnlyPlainExtras() bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(in.text), &fields) != nil {
		return false
	}
	for key, value := range fields {
		off := string(value) == "null" || string(value) == "false"
		if !off && !isCommandKey(key) && !isFolderKey(key) && !plainExtras[key] {
			return false
		}
	}
	_, both := fields["cmd"]
	_, command := fields["command"]
	return !(both && command)
}
