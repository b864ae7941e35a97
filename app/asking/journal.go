package asking

import (
	"errors"

	"fyne.io/fyne/v2/lang"

	"nod/dialogs/safetext"
	"nod/interact/journal"
)

// pathLimit is how many characters of a path a sentence shows.
const pathLimit = 200

// JournalProblem says in a sentence or two what is wrong with the journal; "" when nothing is.
func JournalProblem(err error) string {
	problem, ok := errors.AsType[*journal.ProblemError](err)
	if !ok {
		return ""
	}
	about := map[string]any{"Path": safetext.Line(problem.Path, pathLimit), "Count": problem.Lost}
	if problem.Err != nil {
		about["Problem"] = safetext.Line(problem.Err.Error(), pathLimit)
	}
	switch problem.Trouble {
	case journal.Full:
		return lang.L("The disk is full: nod can't write its history, so nothing passes unasked.")
	case journal.Locked:
		return lang.L("Another program holds nod's history, so nothing passes unasked: {{.Path}}", about)
	case journal.SetAside:
		return lang.L("nod's history could not be read, so a new one has begun. The old one is {{.Path}}", about)
	case journal.Gone:
		return lang.L("Another program took nod's history away while nod ran: {{.Path}}", about)
	case journal.NotForwarded:
		return lang.L("{{.Count}} outcomes were not forwarded to {{.Path}}: {{.Problem}}", about)
	}
	return lang.L("nod can't write its history, so nothing passes unasked: {{.Problem}}", about)
}
