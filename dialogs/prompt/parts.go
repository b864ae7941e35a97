package prompt

import (
	"unicode/utf8"

	"github.com/google/uuid"

	"nod/assets"
	"nod/dialogs/safetext"
	"nod/policy"
)

const (
	maxPartRows = 8   // with more parts, only some are listed
	maxNewRows  = 24  // users do not read more; the whole command is above
	maxPartEnd  = 200 // bytes shown of each end of a long part
	uncut       = 1 << 20
)

func partNote(p policy.CommandPart) string {
	switch {
	case p.State == policy.PartNew:
		return PlainText(assets.Reason(p.Why))
	case p.State != policy.PartCovered:
		return ""
	case uuid.Validate(p.By) == nil: // the id of a grant
		return tr("you allowed this before")
	}
	return tr("by the rule {{.Rule}}", values{"Rule": PlainText(p.By)})
}

// SafeEnds returns one safe line for a label in a monospaced font. It keeps both ends of a long text, because the
// important part of a command is often at its end.
func SafeEnds(s string) string { return safeEndsOf(s, 2*maxPartEnd) }

func safeEndsOf(s string, limit int) string {
	if len(s) <= limit {
		return safetext.CodeLine(s, uncut)
	}
	end := limit / 2
	tail := len(s) - end
	for !utf8.RuneStart(s[tail]) && tail < len(s)-end+utf8.UTFMax {
		tail++
	}
	return safetext.CodeLine(safetext.Prefix(s, end), uncut) + " … " + safetext.CodeLine(s[tail:], uncut)
}
