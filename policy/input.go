package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nod/policy/invisible"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

// maxInput is how many characters of a tool's input a user can be expected to read. nod always asks about
// a longer input.
const maxInput = 10_000

const maxPaths = 1000

const maxLines = 50

// Input is the input of a tool call, read and hashed once by [ReadInput]. nod always asks about the zero value, and
// about an input that is not a JSON object.
type Input struct {
	Raw    json.RawMessage // as the agent sent it, never changed
	SHA256 string          // of Raw, in hex

	isObject bool
	isHidden bool         // some text in it holds a hidden character
	problem  string       // why programs might read it differently; empty if they cannot
	fields   []inputField // at most maxFields
	read     *readCommands
}

// readCommands are the commands of one input that were already analyzed.
type readCommands struct {
	mu    sync.Mutex
	known map[readCommand]shell.Analysis
}

type readCommand struct {
	text       string
	isAssessed bool
}

// Keep returns the input in a form whose command is parsed once, however often it, or a copy of it, is judged or shown.
// The input retains the result, so this is for pending requests, not for thousands from the past.
func (in Input) Keep() Input {
	in.read = &readCommands{known: map[readCommand]shell.Analysis{}}
	return in
}

func (in *Input) analyze(command string) shell.Analysis {
	return in.read.once(readCommand{command, false}, shell.Analyze)
}

func (in *Input) assess(command string) shell.Analysis {
	return in.read.once(readCommand{command, true}, shell.Assess)
}

func (c *readCommands) once(command readCommand, read func(string) shell.Analysis) shell.Analysis {
	if c == nil {
		return read(command.text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.known[command]
	if !ok {
		a = read(command.text)
		c.known[command] = a
	}
	return a
}

// isLong reports whether the input has more than maxInput characters, an escaped one counted as one.
func (in *Input) isLong() bool {
	if utf8.RuneCount(in.Raw) <= maxInput {
		return false
	}
	minimal := jsontext.Value(bytes.Clone(in.Raw))
	return minimal.Format() != nil || utf8.RuneCount(minimal) > maxInput
}

// String returns the input as the agent sent it.
func (in Input) String() string { return string(in.Raw) }

// IsObject reports whether the input is a JSON object.
func (in *Input) IsObject() bool { return in.isObject }

// MarshalJSON implements [json.Marshaler]. It preserves every byte of the input, which nested JSON would not.
func (in Input) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(in.Raw)) }

// UnmarshalJSON implements [json.Unmarshaler]. It reads what MarshalJSON writes.
func (in *Input) UnmarshalJSON(text []byte) error {
	var raw []byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*in = ReadInput(raw)
	return nil
}

type inputField struct {
	name   string // after the names of the objects that it is in, and dots; elements of a list have the list's name
	value  string // a text
	isText bool   // false: a number or true
	depth  int    // how many objects and lists it is in
}

const maxFields = 10_000

// maxNamed is how many objects around a field its name includes: no tool has deeper fields.
const maxNamed = 16

// lax accepts everything that the JSON grammar allows.
var lax = strict.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ReadInput reads the JSON of a tool call's input. It notes problems instead of failing: rules that deny must still see
// what can be read.
func ReadInput(raw json.RawMessage) Input {
	sum := sha256.Sum256(raw)
	in := Input{Raw: raw, SHA256: hex.EncodeToString(sum[:])}
	value := jsontext.Value(raw)
	switch {
	case value.IsValid():
	case !value.IsValid(lax):
		in.problem = "the input is not valid JSON"
		return in
	case !utf8.Valid(raw):
		in.problem = "the input is not valid UTF-8"
	case !value.IsValid(jsontext.AllowInvalidUTF8(true)):
		// Some readers take the first of the two and some the last, so what a user approves need not be what runs.
		in.problem = "the input contains a field twice"
	}
	if value.Kind() != '{' {
		in.problem = "the input is not a JSON object"
		return in
	}
	in.isObject = true
	in.fields = make([]inputField, 0, 4) // of the usual input, in one allocation
	r := inputReader{&in, jsontext.NewDecoder(bytes.NewBuffer(raw), lax), map[string]bool{}}
	r.walk("", -1)
	return in
}

type inputReader struct {
	in      *Input
	decoder *jsontext.Decoder
	names   map[string]bool // of the top-level fields, in lower case: programs in Go treat Path as path
}

type input struct {
	problem   string      // why its meaning is uncertain; empty if it is certain
	named     []namedPath // files and folders that it names, or may name
	globs     []glob      // patterns of paths in it
	names     []string    // what else may be a file's name
	addresses []string    // web addresses in it
	command   string      // value of the top-level field that a shell would run
	lines     []string    // what else a shell may run: more lines, or the words of one
	folder    string      // value of the top-level field that says where a command runs
	isRun     bool        // it has the command field
	isOdd     bool        // it has a field that nod does not know, and that is neither null nor false
	isOther   bool        // a field says that the call does something other than the tool's name says

	tool tool
	buf  [4]namedPath // of the usual input, without an allocation
}

type namedPath struct {
	path   string
	field  meaning
	source evidence
}

type glob struct {
	text  string
	field meaning
}

func (in *input) read(from *Input, t tool) {
	in.tool = t
	in.named = in.buf[:0]
	in.problem = from.problem
	if !from.isObject && in.problem == "" {
		in.problem = "nod has not read the input"
	}
	for _, f := range from.fields {
		if f.isText {
			in.field(f.name, f.value, f.depth)
		} else {
			in.know(f.name)
		}
	}
}

// walk reads the value of a field. Fields of an inner object are named after the object and a dot; elements of a list
// have the name of the list. Top-level fields are at depth 0.
func (r inputReader) walk(key string, depth int) {
	switch token := r.next(); token.Kind() {
	case '{':
		for r.more('}') {
			name := r.text(r.next())
			if strings.ContainsAny(name, `./\:~`) || depth >= 0 && isListed(name) { // {"files": {"a.txt": …}}
				r.add(inputField{key, name, true, depth})
			}
			switch {
			case depth >= maxNamed:
				name = "." + name
			case depth >= 0:
				name = key + "." + name
			case r.in.problem == "":
				folded := foldName(name)
				if r.names[folded] {
					r.in.problem = "the input contains two fields that some programs take for one"
				}
				r.names[folded] = true
			}
			r.walk(name, depth+1)
		}
		r.next()
	case '[':
		for r.more(']') {
			r.walk(key, depth+1)
		}
		r.next()
	case '"':
		r.add(inputField{key, r.text(token), true, depth})
	case 't', '0':
		r.add(inputField{key, "", false, depth})
	}
}

// add keeps a field. Of successive numbers in a list it keeps one.
func (r inputReader) add(f inputField) {
	n := len(r.in.fields)
	switch {
	case !f.isText && n > 0 && r.in.fields[n-1] == f:
	case n == maxFields:
		r.in.problem = "the input contains too many fields"
	default:
		r.in.fields = append(r.in.fields, f)
	}
}

func (r inputReader) more(end jsontext.Kind) bool {
	kind := r.decoder.PeekKind()
	return kind != end && kind != jsontext.KindInvalid
}

func (r inputReader) next() jsontext.Token {
	token, err := r.decoder.ReadToken()
	if err != nil {
		r.in.problem = "the input cannot be read"
	}
	return token
}

// text returns a string, and notes hidden characters in it. Half of a surrogate pair is read as U+FFFD, which is
// [Hidden], so no input passes whose decoded text is equal to another's while its bytes differ.
func (r inputReader) text(token jsontext.Token) string {
	s := token.String()
	r.in.isHidden = r.in.isHidden || invisible.In(s)
	return s
}

// know returns the meaning of a field. In other letter case a name means the same to some programs, but not to all.
func (in *input) know(key string) meaning {
	f, isKnown := in.tool.fields[key]
	if !isKnown {
		for name, means := range in.tool.fields {
			if strings.EqualFold(name, key) {
				f = means
			}
		}
	}
	in.isOdd = in.isOdd || f == unlisted || !isKnown
	in.isOther = in.isOther || f == otherField
	return f
}

func (in *input) field(key, value string, depth int) {
	f := in.know(key)
	switch f {
	case commandField, wrappedField:
		in.addCommand(value, depth)
		if inner, differs := unwrap(value); differs && f == wrappedField {
			in.addCommand(inner, depth)
		}
	case folderField:
		all := in.tool.paths.of(value)
		isOther := in.folder != "" && all[0] != "" && all[0] != in.folder
		if len(all) > 1 || isOther {
			in.problem = cmp.Or(in.problem, "nod can't tell which folder the command runs in")
		}
		in.folder = cmp.Or(in.folder, all[0])
	case lookField, readField, treeField, writeField, deleteField:
		in.isOther = in.isOther || isOnNetwork(value)
		in.addPaths(value, f)
	case globField, onlyField, filesField, skipField:
		in.addGlobs(value, f)
	case patchField:
		in.addPatch(value)
	case wordField:
		in.isOther = in.isOther || strings.HasPrefix(strings.TrimSpace(value), "-")
	case unlisted:
		in.addText(key, value)
		if word := lastWord(key); commandKeys.Has(word) || typedKeys.Has(word) {
			in.addLine(value)
		}
	}
	in.addAddresses(key, value, f)
}

// isOnNetwork reports whether a path is an address instead. Some tools accept one, too: then the call does not read or
// write a file.
func isOnNetwork(path string) bool {
	scheme := addressScheme().FindString(path)
	return scheme != "" && !strings.HasSuffix(strings.ToLower(scheme), "file:/")
}

var addressScheme = language.Compiled(`^[\s@]*[A-Za-z][A-Za-z0-9+.-]+:/`)

// addCommand notes the command line. An element of a list is a line or one of its words, and of two command lines it is
// unknown which one runs.
func (in *input) addCommand(value string, depth int) {
	if depth > 0 || in.isRun {
		in.isOdd = true
		in.addText("", value)
		in.addLine(value)
		return
	}
	in.command, in.isRun = value, true
}

func (in *input) addLine(value string) {
	if in.lines = append(in.lines, value); len(in.lines) > maxLines {
		in.problem = cmp.Or(in.problem, "the input contains more commands than nod looks at")
	}
}

// unwrap returns what is left of a command line without the shell around it, as Gemini CLI removes it: as text, with
// one pair of quotes around all the rest. It reports whether that may be another command than the line.
func unwrap(line string) (inner string, differs bool) {
	prefix := wrapper().FindString(line)
	rest := strings.TrimSpace(line[len(prefix):])
	for _, quote := range []string{"'", `"`} {
		if len(rest) > 1 && strings.HasPrefix(rest, quote) && strings.HasSuffix(rest, quote) {
			rest = rest[1 : len(rest)-1]
			means := strings.Contains(rest, quote) || quote == `"` && strings.ContainsAny(rest, "\\$`")
			return rest, prefix != "" && means
		}
	}
	return rest, prefix != ""
}

var wrapper = language.Compiled(
	`(?i)^\s*(\S*/)?((ba|z)?sh\s+-c|cmd(\.exe)?\s+/c|(powershell|pwsh)(\.exe)?\s.*?-c(ommand)?)\s+`)

func (in *input) addPaths(value string, f meaning) {
	for _, path := range in.tool.paths.of(value) {
		if path != "" {
			in.add(namedPath{path, f, fromField})
		}
	}
}

// add notes a path, up to maxPaths of them.
func (in *input) add(n namedPath) {
	if len(in.named) == maxPaths {
		in.problem = "the input names too many paths"
		return
	}
	in.named = append(in.named, n)
}

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
	if s.escaped && strings.Contains(path, `\`) {
		for _, p := range all {
			all = append(all, escape().ReplaceAllString(p, "$1"))
		}
	}
	return all
}

// escape matches what Qwen Code's unescapePath reads as the character alone.
var escape = language.Compiled("\\\\([ \t()\\[\\]{};|*?$`'\"#&<>!~])")

// addGlobs notes a pattern. Agents split one that narrows a search at white space and commas.
func (in *input) addGlobs(value string, f meaning) {
	if len(in.globs) >= maxPaths {
		in.problem = "the input contains too many patterns"
		return
	}
	value = strings.TrimSpace(value)
	if f == filesField && strings.Contains(value, `\`) { // before a character that means itself, or between folders
		in.addGlob(strings.ReplaceAll(value, `\`, ""), f)
		value = strings.ReplaceAll(value, `\`, "/")
	}
	in.addGlob(value, f)
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
		in.addGlob(piece, f)
	}
}

// addGlob notes one pattern. A pattern that begins with "!" excludes something, and so may select the rest.
func (in *input) addGlob(text string, f meaning) {
	left, isExcept := strings.CutPrefix(text, "!")
	if f == skipField {
		isExcept, f = true, filesField
	}
	switch {
	case text == "":
	case isExcept:
		for _, name := range language.Except(left) {
			in.globs = append(in.globs, glob{name, f})
		}
	default:
		in.globs = append(in.globs, glob{text, f})
	}
}

// isPathKey reports whether an unknown field is meant for the path of a file or folder: the last word of its name says
// so, whether it is spelled file_path, filePath, filepath or absolute-path.
func isPathKey(key string) bool { return pathKeys.Has(lastWord(key)) }

const pathKeys language.Words = "path paths file files filename filenames filepath filepaths dir dirs directory " +
	"directories folder folders cwd workdir root uri source destination dest src dst target"

// commandKeys end the names of unknown fields that hold a command line, or the words of one.
const commandKeys language.Words = "command commands cmd cmdline args arguments argv program executable exec run " +
	"script shell sh bash"

// typedKeys end the names of those that hold what is typed into a program, perhaps a shell.
const typedKeys language.Words = "chars keys keystrokes stdin"

func (in *input) addText(key, value string) {
	text := strings.ReplaceAll(strings.TrimSpace(value), "${HOME}", "$HOME")
	switch {
	case text == "":
		return
	case isPathKey(key):
		in.addPlace(text, fromField)
		if strings.ContainsAny(text, wildcards) && !isOnWeb(text) { // an agent may read it as a pattern
			in.addGlobs(text, filesField)
		}
	case isOnWeb(text):
	case looksLikePath(text), isListed(text):
		in.addPlace(text, fromText)
	case !strings.ContainsFunc(text, unicode.IsSpace):
		in.addName(text)
	}
	in.addNested(key, text)
	if !strings.ContainsFunc(text, isBetweenPaths) {
		return
	}
	for word := range strings.FieldsFuncSeq(text, isBetweenPaths) {
		switch {
		case isOnWeb(word):
		case looksLikePath(word), strings.Contains(word, ".") && isListed(word):
			in.addPlace(word, fromWords)
		case strings.Contains(word, "."):
			in.addName(word)
		}
	}
}

// addPlace notes what an unknown text may name, and what it names to programs that read it in another way.
func (in *input) addPlace(text string, source evidence) {
	in.add(namedPath{text, unlisted, source})
	plain, bare := respell(text)
	if bare != plain && !isOnWeb(plain) {
		in.add(namedPath{bare, unlisted, fromWords})
	}
	if source == fromText {
		source = fromWords // it may be a pattern for texts
	}
	if plain != text {
		in.add(namedPath{plain, unlisted, source})
	}
}

// addName notes a text that may be the name of a file in some folder.
func (in *input) addName(text string) {
	plain, bare := respell(text)
	if looksLikePath(plain) {
		in.add(namedPath{plain, unlisted, fromWords})
	}
	if len(in.names) == maxInput { // nod asks about so long an input anyway
		in.problem = "the input names too many paths"
		return
	}
	in.names = append(in.names, bare)
}

// respell returns a path without escapes, variables and backslashes, and as it is without an address before it and a
// line or query behind it.
func respell(text string) (plain, bare string) {
	plain, err := url.PathUnescape(text)
	if err != nil {
		plain = text
	}
	plain = homeVariable().ReplaceAllString(strings.ReplaceAll(plain, `\`, "/"), "~$1")
	return plain, aroundPath().ReplaceAllString(plain, "$1")
}

var (
	homeVariable = language.Compiled(`^\$HOME(/|$)`)
	aroundPath   = language.Compiled(`^(?:[\w+.@-]{2,}:)+(?://[^/]*)?([/~])|[:#?][^/]*$`)
)

// addNested reads a text that is JSON itself.
func (in *input) addNested(key, text string) {
	if text[0] != '{' && text[0] != '[' {
		return
	}
	for _, f := range ReadInput([]byte(`{"x":` + text + "}")).fields {
		if f.isText {
			in.field(key+strings.TrimPrefix(f.name, "x"), f.value, f.depth+1)
		}
	}
}

func isBetweenPaths(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>()[]{}|;,&=", r)
}

func isOnWeb(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

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

func isListed(text string) bool {
	return guarded().find(text, "") != nil || secrets().find(text, "") != nil
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

func (in *input) addPatch(text string) {
	use, err := language.Patch(text)
	if err != nil {
		in.problem = cmp.Or(in.problem, "nod can't tell which files the patch in the input changes")
	}
	for _, path := range use.Writes {
		in.addPaths(path, writeField)
	}
	for _, path := range use.Removes {
		in.addPaths(path, deleteField)
	}
}

// isRooted reports whether a path is not relative to the current folder, on any system.
func isRooted(path string) bool {
	return path != "" && (strings.IndexByte(`/\~`, path[0]) >= 0 || (len(path) > 1 && path[1] == ':'))
}

// onlyRuns reports whether the input says only which command to run, where, and for how long. A command with another
// shell, environment or sandbox is not the one that a rule names.
func (in *input) onlyRuns() bool { return in.isRun && !in.isOdd }
