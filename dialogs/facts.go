package dialogs

// fact is one thing that nod worked out from a request itself, shown as a short badge beside the input. Its
// text is nod's own, never a requester's.
type fact struct {
	Text  string
	Level factLevel
}

// factLevel is how loud a fact is.
type factLevel int

const (
	factNeutral factLevel = iota // good to know
	factCaution                  // look again
	factDanger                   // hard to undo, or outside what the agent was given
)
