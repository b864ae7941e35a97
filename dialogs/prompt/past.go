package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nod/dialogs/safetext"
	"nod/interact"
)

// PastContent shows a request of the past and its answer.
func PastContent(r interact.Record) Content {
	switch b := r.Request.Body.(type) {
	case interact.Approve:
		return pastCall(b, r.Answer.Shown.Diff)
	case interact.Ask:
		return pastWords(
			Unnumbered("", b.Question, LineText), picks(b.Options), answerLines(r.Answer, []string{r.Answer.Text}))
	case interact.Confirm:
		return pastWords(Unnumbered("", b.Message, LineText), answerLines(r.Answer, []string{yesOrNo(r.Answer.Confirmed)}))
	case interact.Form:
		return pastForm(b, r.Answer)
	case interact.Notify:
		return pastWords(Unnumbered("", b.Title, LineKey), Unnumbered("", b.Message, LineText))
	}
	return Content{}
}

// noFiles answers for the files of a request of the past: nothing is known of them.
var noFiles = reportedFiles{}

// pastCall shows a tool call without reading any file.
func pastCall(a interact.Approve, diff string) Content {
	args, err := parseArguments(a.Input)
	f, isChange := fileChangeOf(args)
	if _, isPatch := patchContent(args); err != nil || isPatch || !isChange || strings.HasPrefix(a.Tool, "mcp_") {
		return contentOf(a, noFiles)
	}
	c := Content{Lines: Unnumbered("", f.path, LineKey)}
	c.endMandatory()
	switch {
	case diff != "":
		c.Original, c.Lines = diff, append(c.Lines, pastDiff(f.path, diff)...)
	case f.edits != nil:
		c = c.withFragments(f.path, f.edits)
		for _, e := range f.edits {
			c.Original += e.new
		}
	default:
		c.Original, c.Lines = f.text, append(c.Lines, fileText(f.path, f.text)...)
	}
	return c.withRest(f.rest)
}

// pastDiff shows a unified diff of the file at path from the journal, with line numbers before and after.
func pastDiff(path, text string) []Line {
	d := readDiff(text)
	var out []Line
	file := newPatchedFile(path)
	context, changed := safetext.ContextOf(text), d.changedWords()
	width := len(strconv.Itoa(d.last))
	for i, sign := range []byte(d.signs) {
		from := d.from[i]
		if from.starts && len(out) > 0 {
			out = append(out, Rule(""))
		}
		l := Line{Lead: string(sign) + " ", Style: signStyles[sign], Spans: context.Render(from.text)[0].Spans}
		if d.last > 0 {
			l.Lead = fmt.Sprintf("%*s %*s %s", width, from.old, width, from.fresh, l.Lead)
		}
		l.Code, l.At = file.add(sign, strings.TrimSuffix(from.text, "\n"))
		l.Changed = DrawnAt(l.Spans, changed[i])
		out = append(out, l)
	}
	file.end()
	if d.rest != "" {
		out = append(out, note(d.rest))
	}
	return out
}

// recordedDiff is a unified diff from the journal.
type recordedDiff struct {
	diff
	from []recordedLine // one per sign
	last int            // largest line number; 0: there are none
	rest string         // note about lines that were cut off
}

// recordedLine is a line of a diff, with its numbers before and after; "" if it has none.
type recordedLine struct {
	text, old, fresh string
	starts           bool // it starts a hunk
}

func readDiff(text string) recordedDiff {
	var d recordedDiff
	var signs strings.Builder
	var old, fresh, olds, freshes int
	starts, isBody := false, false
	number := func(n *int) string {
		if *n == 0 {
			return ""
		}
		d.last = max(d.last, *n)
		*n++
		return strconv.Itoa(*n - 1)
	}
	for line := range strings.Lines(text) {
		switch sign := line[0]; {
		case sign == '@':
			old, fresh, starts, isBody = 0, 0, true, true
			_, _ = fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &old, &olds, &fresh, &freshes) // otherwise without numbers
		case !isBody: // the name of the file
		case sign == '\\':
			d.rest = strings.TrimSpace(line[1:])
		case strings.IndexByte(" +-", sign) >= 0:
			l := recordedLine{text: line[1:], starts: starts}
			if sign != '+' {
				l.old, d.old = number(&old), append(d.old, l.text)
			}
			if sign != '-' {
				l.fresh, d.new = number(&fresh), append(d.new, l.text)
			}
			d.from, starts = append(d.from, l), false
			signs.WriteByte(sign)
		}
	}
	d.signs = signs.String()
	return d
}

// pastWords puts texts below one another. Copying gives the first.
func pastWords(texts ...[]Line) Content {
	c := Content{Lines: slices.Concat(texts...)}
	var original []string
	for _, l := range texts[0] {
		original = append(original, l.Text())
	}
	c.Original = strings.Join(original, "\n")
	return c
}

func picks(options []string) []Line {
	var lines []Line
	for _, o := range options {
		lines = append(lines, Unnumbered("- ", o, LineText)...)
	}
	return lines
}

// answerLines shows the user's answer, if there is one.
func answerLines(a interact.Answer, texts []string) []Line {
	if a.Outcome != interact.Answered {
		return nil
	}
	lines := []Line{Rule(tr("Answer"))}
	for _, text := range texts {
		lines = append(lines, Unnumbered("", text, LineText)...)
	}
	return lines
}

func yesOrNo(yes bool) string {
	if yes {
		return tr("Yes")
	}
	return tr("No")
}

func pastForm(f interact.Form, a interact.Answer) Content {
	lines := Unnumbered("", f.Title, LineKey)
	for _, q := range f.Questions {
		lines = append(append(lines, Rule("")), Unnumbered("", q.Question, LineText)...)
		for _, o := range q.Options {
			lines = append(lines, Unnumbered("- ", o.Label, LineText)...)
		}
		lines = append(lines, answerLines(a, a.Values[q.ID].Items)...)
	}
	return pastWords(lines)
}
