package sandbox

// What the tests from outside need of the inside.
type Limits = limits

const (
	Bubblewrap = bubblewrap
	Landlock   = landlock
	FirstPath  = firstPath
	Control    = controlFile
)

var Try = try

func (e *Engine) Kind() Kind { return e.kind }
