package policy

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxInput is how many characters of a tool's input a person can be expected to have read. A longer input
// is always shown to one.
const maxInput = 10_000

// maxPaths is how many paths of one input are looked at on disk; with more of them it is always asked about.
const maxPaths = 1000

// An input is what the policy needs to know of a tool call's input: one walk over its JSON.
type input struct {
	text      string      // the JSON as it came
	problem   string      // why readers might disagree on what it says; empty when they cannot
	hidden    bool        // some text in it holds a hidden character
	named     []namedPath // files and folders that it names, or may name
	globs     []glob      // patterns of paths in it
	addresses []string    // what in it is an address of the web
	command   string      // value of the top-level field that a shell would run
	folder    string      // value of the top-level field that says where a command runs
	isRun     bool        // command was there
	isOdd     bool        // a field that nod does not know is there, and neither null nor false
	isOther   bool        // a field says that the call is not what the tool's name says

	tool tool
	at   int
	buf  [4]namedPath // of the usual input, without an allocation
}

// A namedPath is a path in an input.
type namedPath struct {
	path   string
	field  meaning
	source evidence
}

// A glob is a pattern of paths in an input.
type glob struct {
	text  string
	field meaning
}

// read walks the JSON of a call's input. It notes problems instead of failing: rules that deny must still
// see what can be seen.
func (in *input) read(raw json.RawMessage, t tool) {
	in.tool = t
	in.named = in.buf[:0]
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
	in.object("", 0)
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

// object walks an object. Behind the name of an object inside, and a dot, its fields have names of their own.
func (in *input) object(within string, depth int) {
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
		if depth > 0 {
			key = within + "." + key
		}
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
	switch c := in.text[in.at]; c {
	case '{':
		in.object(key, depth+1)
	case '[':
		in.list(key, depth)
	case '"':
		in.field(key, in.str(), depth)
	default:
		if c != 'n' && c != 'f' { // null, false
			in.know(key)
		}
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

// know looks up what a field means, and notes when nobody knows.
func (in *input) know(key string) meaning {
	f := in.tool.fields[key]
	in.isOdd = in.isOdd || f == unlisted
	in.isOther = in.isOther || f == otherField
	return f
}

// field takes note of one text.
func (in *input) field(key, value string, depth int) {
	f := in.know(key)
	switch f {
	case commandField:
		in.addCommand(value, depth)
	case folderField:
		if in.folder == "" {
			in.folder = in.tool.paths.of(value)[0]
		}
	case lookField, readField, treeField, writeField, deleteField:
		in.addPaths(value, f)
	case globField, onlyField, filesField:
		in.addGlobs(value, f)
	case patchField:
		in.addPatch(value)
	case unlisted:
		in.addText(key, value)
	}
	in.addAddresses(key, value, f)
}

// addCommand notes the command line. An element of a list is one of its words at best, and of two command lines
// nobody knows which one runs.
func (in *input) addCommand(value string, depth int) {
	if depth > 0 || in.isRun {
		in.isOdd = true
		in.addText("", value)
		return
	}
	in.command, in.isRun = value, true
}

// addPaths notes a path, in each way in which the agent may read it.
func (in *input) addPaths(value string, f meaning) {
	for _, path := range in.tool.paths.of(value) {
		if path != "" {
			in.add(namedPath{path, f, fromField})
		}
	}
}

// add notes a path, as long as there are not more than anybody would look at.
func (in *input) add(n namedPath) {
	if len(in.named) == maxPaths {
		in.problem = "the input names more paths than nod looks at"
		return
	}
	in.named = append(in.named, n)
}

// of returns what an agent may make of the text of a path.
func (s spelling) of(path string) []string {
	trimmed := strings.TrimSpace(path)
	all := []string{trimmed}
	if !s.trimmed && trimmed != path {
		all = append(all, path)
	}
	if rest, ok := strings.CutPrefix(trimmed, "@"); ok && s.marked {
		all = append(all, strings.TrimLeft(rest, `/\`))
	}
	if s.encoded && strings.Contains(path, "%") {
		for _, p := range all {
			if plain, err := url.PathUnescape(p); err == nil && plain != p {
				all = append(all, plain)
			}
		}
	}
	return all
}

// addGlobs notes a pattern. Agents cut one that narrows a search at white space and commas; what begins with "!"
// leaves something out.
func (in *input) addGlobs(value string, f meaning) {
	if len(in.globs) >= maxPaths {
		in.problem = "the input holds more patterns than nod looks at"
		return
	}
	if f == filesField {
		value = strings.ReplaceAll(value, `\`, "/")
	}
	value = strings.TrimSpace(value)
	if value == "" || strings.HasPrefix(value, "!") {
		return
	}
	in.globs = append(in.globs, glob{value, f})
	if f != onlyField || !strings.ContainsAny(value, ", \t\n") {
		return
	}
	depth := 0
	for piece := range strings.FieldsFuncSeq(value, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return unicode.IsSpace(r) || (r == ',' && depth <= 0)
	}) {
		if !strings.HasPrefix(piece, "!") {
			in.globs = append(in.globs, glob{piece, f})
		}
	}
}

// isPathKey reports whether a field that nod does not know is meant for the path of a file or folder: the last word
// of its name says so, whether it is spelled file_path, filePath, filepath or absolute-path.
func isPathKey(key string) bool {
	switch lastWord(key) {
	case "path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths",
		"dir", "dirs", "directory", "directories", "folder", "folders", "cwd", "workdir", "root", "uri",
		"source", "destination", "dest", "src", "dst", "target":
		return true
	}
	return false
}

// addText notes what in a text of a field that nod does not know may be a path: all of it, or words of it.
func (in *input) addText(key, value string) {
	text := strings.TrimSpace(value)
	switch {
	case text == "":
		return
	case isPathKey(key):
		in.add(namedPath{text, unlisted, fromField})
	case isOnWeb(text):
	case looksLikePath(text), isListed(text):
		in.add(namedPath{text, unlisted, fromText})
	}
	if isOneWord(text) {
		return
	}
	for word := range strings.FieldsFuncSeq(text, isBetweenPaths) {
		if !isOnWeb(word) && (looksLikePath(word) || (strings.Contains(word, ".") && isListed(word))) {
			in.add(namedPath{word, unlisted, fromWords})
		}
	}
}

// isOneWord reports whether there is nothing in a text but one path at most.
func isOneWord(text string) bool { return strings.IndexFunc(text, isBetweenPaths) < 0 }

// isBetweenPaths knows what stands before and behind a path in other text.
func isBetweenPaths(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>()[]{}|;,&=", r)
}

// isOnWeb reports whether a text begins like an address of the web.
func isOnWeb(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// looksLikePath reports whether a text is spelled like a path.
func looksLikePath(text string) bool {
	if len(text) > maxPath || strings.Trim(text, `/\`) == "" {
		return text == "/"
	}
	if text == "~" || text == "." || text == ".." || (len(text) > 1 && text[1] == ':' && isLetter(text[0])) {
		return true
	}
	return strings.ContainsAny(text, `/\`)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isListed reports whether a text is the name of a file that is guarded or keeps secrets.
func isListed(text string) bool {
	return guarded.find(text, "") != nil || secrets.find(text, "") != nil
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
		for verb, f := range patchVerbs {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), patchMark+verb); ok {
				in.addPaths(rest, f)
			}
		}
	}
}

var patchVerbs = map[string]meaning{
	"Add File:": writeField, "Update File:": writeField, "Delete File:": deleteField, "Move to:": writeField,
}

// isRooted reports whether a path starts somewhere else than in the current folder, on any system.
func isRooted(path string) bool {
	return path != "" && (strings.IndexByte(`/\~`, path[0]) >= 0 || (len(path) > 1 && path[1] == ':'))
}

// onlyRuns reports whether the input says nothing about the command but what to run, where, and for how
// long: no field that nod does not know, unless it is null or false. An exact command with another shell,
// environment or sandbox is not the command that the rule names.
func (in *input) onlyRuns() bool { return in.isRun && !in.isOdd }
