package relay

import (
	"nod/interact"
	"nod/policy"
	"nod/policy/basefile"
	"nod/policy/shell"
)

// Limits of what is sent of files that a call would change, in bytes.
const (
	maxFileText  = 64 << 10
	maxFileTexts = 256 << 10
)

// reportOn works out, on this machine, what a desk should know of a request and cannot find out itself.
func (j *judge) reportOn(r interact.Request, why policy.Decision) *interact.Reported {
	approve, ok := r.Body.(interact.Approve)
	if !ok {
		return nil
	}
	call := approve.Call(r.Requester)
	risks, inTime := basefile.InTime(func() []policy.Risk { return policy.Risks(call) })
	if !inTime {
		risks = []policy.Risk{{Level: shell.Caution, Text: "The file system does not answer"}}
	}
	return &interact.Reported{Why: why, Offers: j.offers(call), Risks: risks, Files: filesOf(call)}
}

// filesOf are the files that a call names, with the text of those that it would change as far as there is room.
func filesOf(call policy.Call) (files []interact.ReportedFile) {
	left, isSlow := maxFileTexts, false
	for _, named := range policy.NamedFiles(call) {
		f := interact.ReportedFile{Path: named.Path}
		switch {
		case isSlow: // the file system hangs: nobody asks it 64 times
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
