package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nod/api"
	"nod/interact"
)

// PastContent shows a request of the past and its answer.
func PastContent(r interact.Record) Content {
	switch b := r.Request.Body.(type) {
	case interact.Approve:
		return pastCall(b, r.Answer.Shown.Diff)
	case api.Ask:
		return pastWords(
			Unnumbered("", b.Question, LineText), listed("- ", b.Options), answerLines(r.Answer, []string{r.Answer.Text}))
	case api.Confirm:
		answer, no := ConfirmLabels(b)
		if !r.Answer.Confirmed {
			answer = no
		}
		return pastWords(Unnumbered("", b.Message, LineText), answerLines(r.Answer, []string{answer}))
	case api.Form:
		return pastForm(b, r.Answer)
	case api.Notify:
		return pastWords(Unnumbered("", b.Title, LineKey), Unnumbered("", b.Message, LineText))
	}
	return Content{}
}

// noFiles are the files of a request of the past, about which nothing is known.
var noFiles = reportedFiles{}

// pastCall shows a tool call without reading any file.
func pastCall(a interact.Approve, diff string) Content {
	args, ok := parseArguments(a.Input)
	f, isChange := fileChangeOf(args)
	if _, isPatch := patchContent(args); !ok || isPatch || !isChange || strings.HasPrefix(a.Tool, "mcp_") {
		return contentOf(a, noFiles)
	}
	c := Content{Lines: Unnumbered("", f.path, LineKey)}
	c.endMandatory()
	switch {
	case diff != "":
		c.Original, c.Lines = diff, append(c.Lines, PastDiff(f.path, diff, false)...)
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

// PastDiff shows a unified diff of the file at path, with line numbers before and after. isCut says that the diff was
// longer.
func PastDiff(path, text string, isCut bool) []Line {
	d, last, rest := readDiff(text)
	width := 0
	if last > 0 {
		width = len(strconv.Itoa(last))
	}
	lines := d.write(path, width)
	if rest != "" {
		lines = append(lines, note(rest))
	}
	if isCut {
		lines = append(lines, note("…"))
	}
	return lines
}

// readDiff reads a unified diff. It returns the largest line number, or 0 if there are none, and a note about lines
// that were cut off.
func readDiff(text string) (d diff, last int, rest string) {
	var signs strings.Builder
	d.starts = map[int][2]int{}
	isBody := false
	for line := range strings.Lines(text) {
		switch sign := line[0]; {
		case sign == '@':
			var old, olds, fresh, freshes int
			_, _ = fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &old, &olds, &fresh, &freshes) // otherwise without numbers
			d.starts[signs.Len()], isBody = [2]int{old, fresh}, true
			last = max(last, old+olds-1, fresh+freshes-1)
		case sign == 'd': // of a link that was a file, or the other way round
			isBody = false
		case !isBody: // the name of the file
		case sign == '\\':
			rest = strings.TrimSpace(line[1:])
		case strings.IndexByte(" +-", sign) >= 0:
			d.add(sign, line[1:])
			signs.WriteByte(sign)
		}
	}
	d.signs = signs.String()
	return d, last, rest
}

func pastWords(texts ...[]Line) Content {
	c := Content{Lines: slices.Concat(texts...)}
	var original []string
	for _, l := range texts[0] {
		original = append(original, l.Text())
	}
	c.Original = strings.Join(original, "\n")
	return c
}

func listed(lead string, texts []string) []Line {
	var lines []Line
	for _, text := range texts {
		lines = append(lines, Unnumbered(lead, text, LineText)...)
	}
	return lines
}

func answerLines(a interact.Answer, texts []string) []Line {
	if a.Outcome != api.Answered {
		return nil
	}
	return append([]Line{rule(tr("Answer"))}, listed("", texts)...)
}

func pastForm(f api.Form, a interact.Answer) Content {
	var lines []Line
	if f.Title != "" {
		lines = append(Unnumbered("", f.Title, LineKey), rule(""))
	}
	for i, q := range f.Questions {
		if i > 0 {
			lines = append(lines, rule(""))
		}
		lines = append(lines, Unnumbered("", q.Question, LineText)...)
		for _, o := range q.Options {
			lines = append(lines, Unnumbered("- ", o.Label, LineText)...)
		}
		lines = append(lines, answerLines(a, a.Values[q.ID].Items)...)
	}
	return pastWords(lines)
}
