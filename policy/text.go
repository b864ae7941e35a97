package policy

import (
	"path"
	"strings"

	"nod/policy/shell"
)

// TextClass is the class of a call as its own text tells it, to whoever has no reason to believe what it declares, or
// what was made of it elsewhere.
func TextClass(call Call) Class { return textFacts(&call).class }

// OnlyRuns reports whether a call gives one command line to a shell of the kind that nod reads, and says nothing else:
// all that it does is in that line.
func OnlyRuns(call Call) bool {
	return isShell(call.Tool) && !isPowerShell(call.Tool) && textFacts(&call).input.onlyRuns()
}

// textFacts are what is known of a call without its disk.
func textFacts(call *Call) *facts {
	f := &facts{call: call, class: classify(call.Agent, call.Tool, call.Declared, false)}
	f.tool, f.isKnown = lookup(call.Agent, call.Tool)
	f.input.read(&call.Input, f.tool)
	if f.input.isOther {
		f.class = Unknown
	}
	return f
}

// TextRisks says what of a call a person should see before allowing it, as far as its own text shows that to whoever
// does not have its disk: what its command does, what it deletes, and changes of places that have keys or are protected
// by their names.
func TextRisks(call Call) []Risk {
	f := textFacts(&call)
	r := risks{facts: f}
	command, ok := f.commandText()
	if !ok {
		for i := range f.input.named {
			if n := &f.input.named[i]; n.source == fromField {
				r.changesByName(n.path, f.kindOf(n))
			}
		}
		return r.list
	}
	a := shell.Assess(command)
	r.list = append(r.list, a.Risks...)
	for i := range a.Parts {
		r.part = &a.Parts[i]
		for _, list := range [][]shell.Access{r.part.Accesses, r.part.Output} {
			for _, one := range list {
				r.changesByName(one.Path, one.Kind)
			}
		}
	}
	return r.list
}

// changesByName adds what is special about the name of a place that is changed.
func (r *risks) changesByName(spelled string, kind shell.Kind) {
	if kind != shell.Write && kind != shell.Delete {
		return
	}
	p := strings.ReplaceAll(spelled, `\`, "/")
	if !isRooted(p) {
		p = path.Join(r.call.CWD, p)
	}
	p = path.Clean(p)
	if e := secrets().find(p, ""); e != nil && !e.doubt {
		r.add(shell.Danger, "Changes keys or passwords: {{.What}}", spelled)
	} else if e := guarded().find(p, ""); e != nil && !e.doubt {
		r.add(shell.Danger, e.about+": {{.What}}", spelled)
	} else if kind == shell.Delete && !r.isMove() {
		r.add(shell.Caution, "Deletes: {{.What}}", spelled)
	}
}
