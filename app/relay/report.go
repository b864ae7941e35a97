package relay

import (
	"slices"

	"nod/interact"
	"nod/policy"
	"nod/policy/basefile"
	"nod/policy/shell"
)

// Limits on what is sent of the files that a call would change, in bytes.
const (
	maxFileText  = 64 << 10
	maxFileTexts = 256 << 10
)

// Limits on what else is sent, because an agent chooses how long a command is and how many files it names. A desk shows
// no more.
const (
	maxRisks = 64
	maxWhat  = 4 << 10  // bytes of what a risk names: no path is longer
	maxInput = 10 << 10 // bytes of an input whose parts are sent …
	maxParts = 400      // … and how many of them
)

// reportOn finds out what a desk should know about a request and can only be found out on this machine.
func (j *judge) reportOn(r interact.Request, why policy.Decision) *interact.Reported {
	approve, ok := r.Body.(interact.Approve)
	if !ok {
		return nil
	}
	call := approve.Call(r.Requester)
	offers := j.offers(call)
	if len(call.Input.Raw) > maxInput || len(offers.Parts) > maxParts {
		offers.Parts = nil
	}
	return &interact.Reported{Why: why, Offers: offers, Risks: worst(basefile.Risks(call)), Files: filesOf(call)}
}

// worst returns the first of the risks, without their positions in the command, which the desk has.
func worst(risks []policy.Risk) []policy.Risk {
	var shown []policy.Risk
	for _, r := range risks {
		r.At, r.Line = 0, ""
		r.What = r.What[:min(len(r.What), maxWhat)]
		switch {
		case slices.Contains(shown, r):
		case len(shown) == maxRisks:
			return append(shown, policy.Risk{Level: shell.Caution, Text: "Too much to show in full"})
		default:
			shown = append(shown, r)
		}
	}
	return shown
}

// filesOf returns the files that a call names, with the text of those that it would change as far as it fits.
func filesOf(call policy.Call) (files []interact.ReportedFile) {
	left, isSlow := maxFileTexts, false
	for _, named := range policy.NamedFiles(call) {
		f := interact.ReportedFile{Path: named.Path}
		switch {
		case isSlow: // the file system hangs: do not ask it 64 times
			f.Problem = basefile.Slow
		case named.Changes:
			f = readFile(named.Path, call.CWD, min(left, maxFileText))
		default:
			var ok bool
			if f.Where, ok = basefile.InTime(func() policy.Location { return policy.Locate(f.Path, call.CWD) }); !ok {
				f.Problem = basefile.Slow
			}
		}
		isSlow = f.Problem == basefile.Slow
		left -= len(f.Text)
		files = append(files, f)
	}
	return files
}

// readFile reads a file that would change, if its text has at most room bytes.
func readFile(path, cwd string, room int) interact.ReportedFile {
	b := basefile.Read(path, cwd)
	f := interact.ReportedFile{Path: path, Where: b.Where, Exists: b.Exists, Problem: b.Problem}
	switch {
	case b.Problem != "":
	case len(b.Text) > room:
		f.Problem = basefile.TooLarge
	default:
		f.Text = b.Text
	}
	return f
}
