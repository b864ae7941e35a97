package dialogs

import (
	"encoding/json"
	"strings"

	"nod/interact"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

// edit is one replacement in a file.
type edit struct {
	old, new string
	all      bool // every place, not the only one
}

// editContent shows a change of a file as its difference. A tool of a third party (their names have the
// form mcp__server__tool) may mean anything by such fields, so its input stays a table.
func editContent(a interact.Approve, args arguments, cwd string) (content, bool) {
	if strings.HasPrefix(a.Tool, "mcp_") {
		return content{}, false
	}
	if c, ok := patchContent(args, cwd); ok {
		return c, true
	}
	f, ok := fileChangeOf(args)
	switch {
	case !ok:
		return content{}, false
	case f.edits == nil:
		return writeContent(f.path, f.text, cwd).withRest(f.rest), true
	}
	return editsContent(f.path, f.edits, cwd).withRest(f.rest), true
}

// fileChange is what an input does to a file.
type fileChange struct {
	path  string
	text  string // all of it, unless there are edits
	edits []edit
	rest  arguments // that say something else
}

func fileChangeOf(args arguments) (f fileChange, ok bool) {
	pathKey, path, ok := args.text("file_path", "filePath", "absolute_path", "path")
	if !ok || path == "" {
		return fileChange{}, false
	}
	if key, text, ok := args.text("content", "contents", "file_text"); ok {
		return fileChange{path: path, text: text, rest: args.without(pathKey, key)}, true
	}
	edits, used, ok := editsOf(args)
	return fileChange{path: path, edits: edits, rest: args.without(append(used, pathKey)...)}, ok
}

// editsOf finds the replacements in an input, and the keys that they were made of.
func editsOf(args arguments) (edits []edit, used []string, ok bool) {
	oldKey, oldText, isOld := args.text("old_string", "oldString", "old_str")
	newKey, newText, isNew := args.text("new_string", "newString", "new_str")
	if isOld && isNew {
		all := args.isTrue("replace_all") || args.isTrue("replaceAll")
		return []edit{{oldText, newText, all}}, []string{oldKey, newKey}, true
	}
	list, _ := args.find("edits")
	var items []json.RawMessage
	if json.Unmarshal(list.raw, &items) != nil || len(items) == 0 {
		return nil, nil, false
	}
	for _, item := range items {
		fields, err := parseArguments(item)
		if err != nil {
			return nil, nil, false
		}
		e, keys, ok := editsOf(fields)
		known := append(keys, "replace_all", "replaceAll")
		if !ok || len(e) != 1 || len(fields.without(known...)) > 0 {
			return nil, nil, false // a table shows everything, also what nod does not know
		}
		edits = append(edits, e[0])
	}
	return edits, []string{"edits"}, true
}

// maxSearch is how much text is searched for what edits replace, in bytes: each edit searches the whole file.
const maxSearch = 64 << 20

// newFileContent starts the content for a change of the file at path.
func newFileContent(path, cwd string) (content, *baseFile) {
	b := readBase(path, cwd)
	c := content{lines: unnumbered("", path, lineKey), bases: []*baseFile{b}}
	c.endMust()
	if b.where.Linked && b.where.Path != "" {
		c.warnings = append(c.warnings,
			tr("The path leads through a link to {{.Path}}.", values{"Path": plainText(b.where.Path)}))
	}
	if b.problem != "" {
		c.warnings = append(c.warnings, notCompared(b.problem))
	}
	return c, b
}

// endMust says that what follows is a file's content, which need not be read to its end.
func (c *content) endMust() {
	c.must = len(c.lines)
	c.lines = append(c.lines, rule(""))
}

func notCompared(problem string) string {
	return tr("Not compared with what is there: {{.Problem}}.", values{"Problem": problem})
}

// writeContent shows a file that gets a whole new text.
func writeContent(path, text, cwd string) content {
	c, b := newFileContent(path, cwd)
	c.original, c.diff = text, newDiff("", text).unified(path)
	switch {
	case b.problem != "":
		c.lines = append(c.lines, fileText(path, text)...)
		c.facts = append(c.facts, fact{tr("Replaces what is there"), shell.Caution}, sizeFact(text))
	case !b.exists:
		c.lines = append(c.lines, fileText(path, text)...)
		c.facts = append(c.facts, fact{tr("Creates a new file"), shell.Note}, sizeFact(text))
	case b.text == text:
		c.lines = append(c.lines, note(tr("The file already has exactly this content:")))
		c.lines = append(c.lines, fileText(path, text)...)
		c.facts, c.diff = append(c.facts, fact{tr("Changes nothing"), shell.Note}), ""
	default:
		d := newDiff(b.text, text)
		c.lines, c.diff = append(c.lines, d.lines(path)...), d.unified(path)
		c.facts = append(c.facts, replaceFact(text), changeFact(d.counts()))
	}
	return c
}

// replaceFact says what is left of a file that gets a whole new text.
func replaceFact(text string) fact {
	if strings.TrimSpace(text) == "" {
		return fact{tr("Empties the file"), shell.Danger}
	}
	return fact{tr("Replaces the file"), shell.Caution}
}

// fileText shows the whole text of the file at path, numbered.
func fileText(path, text string) []sheetLine {
	lines := inCode(wholeLines(text), path, text)
	switch {
	case text == "":
		return []sheetLine{note(tr("The file is empty."))}
	case strings.HasSuffix(text, "\n"):
		return lines
	}
	return append(lines, note(tr("no line break at the end")))
}

// wholeLines shows text, numbered. Its last line break ends a line, it does not start one.
func wholeLines(text string) []sheetLine {
	trimmed := strings.TrimSuffix(text, "\n")
	lines := numbered(trimmed, lineText)
	if strings.HasSuffix(trimmed, "\r") { // belongs to the line break that was cut
		lines = numbered(text, lineText)
		if last := len(lines) - 1; lines[last].style != lineCut {
			lines = lines[:last]
		}
	}
	return lines
}

// editsContent shows replacements in a file, against the file as it is now.
func editsContent(path string, edits []edit, cwd string) content {
	c, b := newFileContent(path, cwd)
	var original strings.Builder
	for _, e := range edits {
		original.WriteString(e.new)
	}
	c.original = original.String()
	if b.problem != "" {
		return c.withFragments(path, edits)
	}
	if len(edits)*len(b.text) > maxSearch {
		c.warnings = append(c.warnings, notCompared(tr("the file there is too large to compare")))
		return c.withFragments(path, edits)
	}
	after, crlf, ok := applyEdits(b.text, edits)
	switch {
	case !ok && !b.exists:
		c.warnings = append(c.warnings, tr("There is no such file now."))
		return c.withFragments(path, edits)
	case !ok:
		c.warnings = append(c.warnings,
			tr("The text to replace is not in the file exactly once now, so the lines have no numbers."))
		return c.withFragments(path, edits)
	case !b.exists:
		c.lines, c.diff = append(c.lines, fileText(path, after)...), newDiff("", after).unified(path)
		c.facts = append(c.facts, fact{tr("Creates a new file"), shell.Note}, sizeFact(after))
		return c
	}
	before := b.text
	if crlf {
		before = unixLines(before)
		c.warnings = append(c.warnings, tr("The file has the line ends of Windows; they are left out of the comparison."))
	}
	d := newDiff(before, after)
	c.lines, c.diff = append(c.lines, d.lines(path)...), d.unified(path)
	if strings.TrimSpace(after) == "" && strings.TrimSpace(before) != "" {
		c.facts = append(c.facts, replaceFact(after))
	}
	c.facts = append(c.facts, changeFact(d.counts()))
	return c
}

// withFragments shows the replacements by themselves.
func (c content) withFragments(path string, edits []edit) content {
	added, removed, full := 0, 0, false
	var hunks strings.Builder
	for i, e := range edits {
		d := newDiff(e.old, e.new)
		comes, goes := d.counts()
		added, removed = added+comes, removed+goes
		if hunks.Len() < maxKept {
			hunks.WriteString(d.fragment())
		}
		if e.all {
			c.facts = appendNew(c.facts, fact{tr("Wherever it occurs"), shell.Caution})
		}
		if full {
			continue
		}
		if len(edits) > 1 {
			c.lines = append(c.lines, rule(tr("change {{.Number}} of {{.Total}}", values{"Number": i + 1, "Total": len(edits)})))
		}
		c.lines, full = cut(append(c.lines, d.whole(path)...))
	}
	c.facts = append(c.facts, changeFact(added, removed))
	c.diff = unifiedDiff(path, hunks.String())
	return c
}

// applyEdits makes the replacements one after the other, as the tools do. Where the text is not found, it
// is tried on the file with the line ends of Unix, as agents see it; crlf says so.
func applyEdits(text string, edits []edit) (after string, crlf, ok bool) {
	if after, ok := replaceAll(text, edits); ok {
		return after, false, true
	}
	after, ok = replaceAll(unixLines(text), edits)
	return after, true, ok
}

func replaceAll(text string, edits []edit) (string, bool) {
	for _, e := range edits {
		n := strings.Count(text, e.old)
		switch {
		case e.old == "" && text == "":
			text = e.new
		case e.old == "", n == 0, n > 1 && !e.all:
			return "", false
		default:
			text = strings.ReplaceAll(text, e.old, e.new)
		}
	}
	return text, true
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// patchContent shows a patch as the text that it is, and says where the files lie that it names.
func patchContent(args arguments, cwd string) (content, bool) {
	key, text, ok := args.text("patch", "patchText", "patch_text", "input", "diff", "command")
	if !ok || !strings.HasPrefix(strings.TrimSpace(text), language.PatchBegin) {
		words, isList := args.list("command")
		if !isList || len(words) != 2 || words[0] != "apply_patch" || !strings.HasPrefix(words[1], language.PatchBegin) {
			return content{}, false
		}
		key, text = "command", words[1]
	}
	c := content{original: text, diff: keptLines(text)}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "*** ") && strings.Contains(line, ":") { // names a file
			c.lines = append(c.lines, unnumbered("", line, lineKey)...)
		}
	}
	if len(c.lines) > 0 {
		c.endMust()
	}
	patch := patchLines(text)
	c.lines = append(c.lines, patch...)
	added, removed := 0, 0
	for _, l := range patch {
		switch l.style {
		case lineAdded:
			added++
		case lineRemoved:
			removed++
		}
	}
	c.facts = append(patchFacts(text), changeFact(added, removed))
	return c.withRest(args.without(key)), true
}

// patchFacts says what a patch does to files.
func patchFacts(text string) []fact {
	what := map[language.PatchMark]fact{
		language.PatchAdd:    {tr("Creates a new file"), shell.Note},
		language.PatchDelete: {tr("Deletes a file"), shell.Danger},
		language.PatchMove:   {tr("Moves a file"), shell.Caution},
	}
	var facts []fact
	for line := range strings.Lines(text) {
		if mark, _, ok := language.PatchFile(line); ok && what[mark].Text != "" {
			facts = appendNew(facts, what[mark])
		}
	}
	if _, err := language.Patch(text); err != nil {
		facts = append(facts, fact{tr("Unclear what it changes"), shell.Caution})
	}
	return facts
}
