package prompt

import (
	"encoding/json"
	"strings"

	"nod/interact"
	"nod/policy/basefile"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

type edit struct {
	old, new string
	all      bool // replace all occurrences
}

// editContent shows a change of a file as a diff. Third-party tools (named mcp__server__tool) may use such fields with
// another meaning, so their input stays a table.
func editContent(a interact.Approve, args arguments, at places) (Content, bool) {
	if strings.HasPrefix(a.Tool, "mcp_") {
		return Content{}, false
	}
	if c, ok := patchContent(args); ok {
		return c, true
	}
	f, ok := fileChangeOf(args)
	switch {
	case !ok:
		return Content{}, false
	case f.edits == nil:
		return writeContent(f.path, f.text, at).withRest(f.rest), true
	}
	return editsContent(f.path, f.edits, at).withRest(f.rest), true
}

type fileChange struct {
	path  string
	text  string // the new text, unless there are edits
	edits []edit
	rest  arguments // other fields
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
		fields, ok := parseArguments(item)
		if !ok {
			return nil, nil, false
		}
		e, keys, ok := editsOf(fields)
		known := append(keys, "replace_all", "replaceAll")
		if !ok || len(e) != 1 || len(fields.without(known...)) > 0 {
			return nil, nil, false // a table also shows unknown fields
		}
		edits = append(edits, e[0])
	}
	return edits, []string{"edits"}, true
}

// maxSearch limits the text searched for edits, in bytes: each edit searches the whole file.
const maxSearch = 64 << 20

func newFileContent(path string, at places) (Content, *baseFile) {
	b := at.read(path)
	c := Content{Lines: Unnumbered("", path, LineKey), bases: []*baseFile{b}}
	if t, isThere := at.(reportedFiles); isThere && b.problem == "" {
		c.Lines = append(c.Lines, note(tr("Compared with the file as {{.Machine}} reports it.", t.values())))
	}
	c.endMandatory()
	if b.where.Linked && b.where.Path != "" {
		linked := tr("The path leads through a link to {{.Path}}.", values{"Path": PlainText(b.where.Path)})
		if t, isThere := at.(reportedFiles); isThere {
			linked = reportedBy(t.machine) + ": " + linked
		}
		c.Warnings = append(c.Warnings, linked)
	}
	if b.problem != "" {
		c.Warnings = append(c.Warnings, notCompared(b.problem))
	}
	return c, b
}

// endMandatory makes the lines added from now on optional: they are a file's content.
func (c *Content) endMandatory() {
	c.Must = len(c.Lines)
	c.Lines = append(c.Lines, rule(""))
}

func notCompared(problem string) string {
	return tr("Not compared with the current file: {{.Problem}}.", values{"Problem": problemText(problem)})
}

func writeContent(path, text string, at places) Content {
	c, b := newFileContent(path, at)
	c.Original = text
	switch {
	case b.problem != "":
		c.Lines, c.Diff = append(c.Lines, fileText(path, text)...), NewDiff("", text).unified(path)
		c.Facts = append(c.Facts, Fact{tr("Replaces an existing file"), shell.Caution})
	case !b.exists:
		c.create(path, text)
	case b.text == text:
		c.Lines = append(c.Lines, note(tr("The file already has exactly this content:")))
		c.Lines = append(c.Lines, fileText(path, text)...)
		c.Facts = append(c.Facts, Fact{tr("Changes nothing"), shell.Note})
	default:
		c.Facts = append(c.Facts, replaceFact(text))
		c.change(path, b.text, text)
	}
	return c
}

func (c *Content) create(path, text string) {
	whole := NewDiff("", text)
	c.Lines, c.Diff = append(c.Lines, fileText(path, text)...), whole.unified(path)
	c.Facts = append(c.Facts, Fact{tr("Creates a new file"), shell.Note}, changeFact(whole.counts()))
}

func (c *Content) change(path, before, after string) {
	d := NewDiff(before, after)
	c.Lines, c.Diff = append(c.Lines, d.Lines(path)...), d.unified(path)
	c.Facts = append(c.Facts, changeFact(d.counts()))
}

func replaceFact(text string) Fact {
	if strings.TrimSpace(text) == "" {
		return Fact{tr("Empties the file"), shell.Danger}
	}
	return Fact{tr("Replaces the file"), shell.Caution}
}

func fileText(path, text string) []Line {
	lines := inCode(wholeLines(text), path, text)
	switch {
	case text == "":
		return []Line{note(tr("The file is empty."))}
	case strings.HasSuffix(text, "\n"):
		return lines
	}
	return append(lines, note(tr("no line break at the end")))
}

func wholeLines(text string) []Line {
	trimmed := strings.TrimSuffix(text, "\n")
	lines := numbered(trimmed)
	if strings.HasSuffix(trimmed, "\r") { // part of the line break that was cut
		lines = numbered(text)
		if last := len(lines) - 1; lines[last].Style != LineCut {
			lines = lines[:last]
		}
	}
	return lines
}

func editsContent(path string, edits []edit, at places) Content {
	c, b := newFileContent(path, at)
	var original strings.Builder
	for _, e := range edits {
		original.WriteString(e.new)
	}
	c.Original = original.String()
	if b.problem != "" {
		return c.withFragments(path, edits)
	}
	if len(edits)*len(b.text) > maxSearch {
		c.Warnings = append(c.Warnings, notCompared(basefile.TooLarge))
		return c.withFragments(path, edits)
	}
	after, crlf, ok := applyEdits(b.text, edits)
	switch {
	case !ok && !b.exists:
		c.Warnings = append(c.Warnings, tr("This file doesn't exist now."))
		return c.withFragments(path, edits)
	case !ok:
		c.Warnings = append(c.Warnings,
			tr("The file doesn't contain the text to replace exactly once, so the lines have no numbers."))
		return c.withFragments(path, edits)
	case !b.exists:
		c.create(path, after)
		return c
	}
	before := b.text
	if crlf {
		before = unixLines(before)
		c.Warnings = append(c.Warnings, tr("The file has Windows line endings, which the comparison ignores."))
	}
	if strings.TrimSpace(after) == "" && strings.TrimSpace(before) != "" {
		c.Facts = append(c.Facts, replaceFact(after))
	}
	c.change(path, before, after)
	return c
}

func (c Content) withFragments(path string, edits []edit) Content {
	added, removed, full := 0, 0, false
	var hunks strings.Builder
	for i, e := range edits {
		d := NewDiff(e.old, e.new)
		comes, goes := d.counts()
		added, removed = added+comes, removed+goes
		if hunks.Len() < maxDiff {
			hunks.WriteString(d.fragment())
		}
		if e.all {
			c.Facts = appendNew(c.Facts, Fact{tr("All occurrences"), shell.Caution})
		}
		if full {
			continue
		}
		if len(edits) > 1 {
			c.Lines = append(c.Lines, rule(tr("change {{.Number}} of {{.Total}}", values{"Number": i + 1, "Total": len(edits)})))
		}
		c.Lines, full = cut(append(c.Lines, d.write(path, 0)...))
	}
	c.Facts = append(c.Facts, changeFact(added, removed))
	c.Diff = unifiedDiff(path, hunks.String())
	return c
}

// applyEdits applies the replacements in order, as the tools do. If a text is not found, it retries with Unix line
// ends, as agents see the file; crlf reports that.
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

func patchContent(args arguments) (Content, bool) {
	key, text, ok := args.text("patch", "patchText", "patch_text", "input", "diff", "command")
	if !ok || !strings.HasPrefix(strings.TrimSpace(text), language.PatchBegin) {
		words, isList := args.list("command")
		if !isList || len(words) != 2 || words[0] != "apply_patch" || !strings.HasPrefix(words[1], language.PatchBegin) {
			return Content{}, false
		}
		key, text = "command", words[1]
	}
	c := Content{Original: text, Diff: truncateDiff(text)}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "*** ") && strings.Contains(line, ":") { // names a file
			c.Lines = append(c.Lines, Unnumbered("", line, LineKey)...)
		}
	}
	if len(c.Lines) > 0 {
		c.endMandatory()
	}
	patch, change := patchLines(text)
	c.Lines = append(c.Lines, patch...)
	c.Facts = append(patchFacts(text), changeFact(change.counts()))
	return c.withRest(args.without(key)), true
}

func patchFacts(text string) []Fact {
	what := map[byte]Fact{
		'A': {tr("Creates a new file"), shell.Note},
		'D': {tr("Deletes a file"), shell.Danger},
		'R': {tr("Moves a file"), shell.Caution},
	}
	var facts []Fact
	for line := range strings.Lines(text) {
		if change, _, ok := language.PatchFile(line); ok && what[change].Text != "" {
			facts = appendNew(facts, what[change])
		}
	}
	if _, err := language.Patch(text); err != nil {
		facts = append(facts, Fact{tr("Unclear what it changes"), shell.Caution})
	}
	return facts
}
