package prompt

import (
	"unicode/utf8"

	"github.com/google/uuid"

	"nod/assets"
	"nod/dialogs/safetext"
	"nod/policy"
)

const (
	maxPartRows = 8   // with more, those that only read are counted, not listed
	MaxNewRows  = 24  // more rows than these nobody reads: the whole command stands above
	maxPartEnd  = 200 // bytes of a long part that are shown of either end
	uncut       = 1 << 20
)

// PickParts leaves out what would make the list too long to be read: first the parts that only read.
func PickParts(parts []policy.CommandPart) (shown []policy.CommandPart, onlyRead, left int) {
	if len(parts) <= maxPartRows {
		return parts, 0, 0
	}
	for _, p := range parts {
		switch {
		case p.State == policy.PartReads:
			onlyRead++
		case len(shown) == MaxNewRows:
			left++
		default:
			shown = append(shown, p)
		}
	}
	return shown, onlyRead, left
}

// PartNote says what covers a part, or why it does not only read.
func PartNote(p policy.CommandPart) string {
	switch {
	case p.State == policy.PartNew:
		return PlainText(assets.Reason(p.Why))
	case p.State != policy.PartCovered:
		return ""
	case uuid.Validate(p.By) == nil: // grants are named so
		return tr("you allowed this before")
	}
	return tr("by the rule {{.Rule}}", values{"Rule": PlainText(p.By)})
}

// SafeEnds is a text in one line for a label in monospaced letters. Of a long one only both ends are left, because what
// counts in a command often stands at its end.
func SafeEnds(s string) string { return safeEndsOf(s, 2*maxPartEnd) }

// safeEndsOf is safeEnds for a text of which at most so many bytes are wanted.
func safeEndsOf(s string, most int) string {
	if len(s) <= most {
		return safetext.CodeLine(s, uncut)
	}
	end := most / 2
	tail := len(s) - end
	for !utf8.RuneStart(s[tail]) && tail < len(s)-end+utf8.UTFMax {
		tail++
	}
	return safetext.CodeLine(safetext.Prefix(s, end), uncut) + " … " + safetext.CodeLine(s[tail:], uncut)
}
