package prompt

import (
	"os"
	"slices"
	"strings"

	"nod/dialogs/safetext"
	"nod/interact"
	"nod/policy"
	"nod/policy/basefile"
	"nod/policy/shell"
)

// Places is where the paths of a request are looked up: [Here], or there. All that a prompt says of files goes through
// it, so that nothing that another machine names is ever looked for on this one.
type Places interface {
	read(path string) *baseFile
	locate(path string) policy.Location
	// risks are those that a call has by its own text, which anybody can read, and those that only its files show.
	risks(call policy.Call) (own, ofFiles []policy.Risk)
	// home is a path as people there write it.
	Home(path string) string
}

// PlacesOf are those of the machine that a request comes from.
func PlacesOf(r interact.Request) Places {
	if r.Requester.IsRemote() {
		return there{r.Requester.Machine, r.Reported}
	}
	return Here{r.Requester.Folder()}
}

// Here is the disk of this machine, for a tool that works in the folder cwd.
type Here struct{ CWD string }

func (h Here) read(path string) *baseFile {
	f := basefile.Read(path, h.CWD)
	return &baseFile{path: path, at: h, where: f.Where, exists: f.Exists, text: f.Text, problem: f.Problem}
}

// locate returns nowhere, if the file system does not answer in time.
func (h Here) locate(path string) policy.Location {
	found, _ := basefile.InTime(func() policy.Location { return policy.Locate(path, h.CWD) })
	return found
}

// risks are all its own: nod has looked itself.
func (Here) risks(call policy.Call) (own, ofFiles []policy.Risk) {
	own, ok := basefile.InTime(func() []policy.Risk { return policy.Risks(call) })
	if !ok {
		own = []policy.Risk{{Level: shell.Caution, Text: "The file system does not answer"}}
	}
	return own, nil
}

// Home writes ~ for the home folder.
func (Here) Home(path string) string {
	dir, err := os.UserHomeDir()
	if err != nil || dir == "" || dir == "/" {
		return path
	}
	if path == dir {
		return "~"
	}
	if rest, inside := strings.CutPrefix(path, dir+"/"); inside {
		return "~/" + rest
	}
	return path
}

// there is what a machine has reported of its files. It may be nil, and none of it is believed to be well-formed.
type there struct {
	machine string
	report  *interact.Reported
}

// file is what is reported of a path; nil when nothing is.
func (t there) file(path string) *interact.ReportedFile {
	if t.report == nil {
		return nil
	}
	i := slices.IndexFunc(t.report.Files, func(f interact.ReportedFile) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &t.report.Files[i]
}

func (t there) read(path string) *baseFile {
	f := t.file(path)
	if f == nil {
		return &baseFile{path: path, at: t, problem: tr("{{.Machine}} has reported nothing about this file", t.values())}
	}
	b := &baseFile{path: path, at: t, where: f.Where, exists: f.Exists, text: f.Text}
	switch {
	case slices.Contains(basefile.Problems, f.Problem):
		b.text, b.problem = "", f.Problem
	case f.Problem != "": // words of the machine's own would pass for nod's
		b.text, b.problem = "", basefile.Unreadable
	case len(f.Text) > basefile.MaxBytes:
		b.text, b.problem = "", basefile.TooLarge
	}
	return b
}

func (t there) locate(path string) policy.Location {
	if f := t.file(path); f != nil {
		return f.Where
	}
	return policy.Location{}
}

// MaxReported is how many risks a machine may report; of more, nobody reads any.
const MaxReported = 64

// risks are what the text of a call shows, and what the machine says beside that.
func (t there) risks(call policy.Call) (own, ofFiles []policy.Risk) {
	own = policy.TextRisks(call)
	if t.report == nil {
		return own, []policy.Risk{{Level: shell.Caution, Text: "Nothing is reported of its files"}}
	}
	for _, r := range t.report.Risks[:min(len(t.report.Risks), MaxReported)] {
		isKnown := slices.ContainsFunc(own, func(o policy.Risk) bool { return o.Text == r.Text && o.What == r.What })
		if !isKnown {
			ofFiles = append(ofFiles, wellFormed(r))
		}
	}
	if len(t.report.Risks) > MaxReported {
		ofFiles = append(ofFiles, policy.Risk{Level: shell.Caution, Text: "Too much is reported to show all of it"})
	}
	return own, ofFiles
}

// wellFormed is a risk that a machine reports with nothing in it that is more than words: its text must be a sentence
// with at most one place to fill in, its level one that there is, and where in a command it is stays untold.
func wellFormed(r policy.Risk) policy.Risk {
	r.At, r.Line = 0, ""
	r.Level = min(r.Level, shell.Danger)
	if strings.Contains(strings.ReplaceAll(r.Text, "{{.What}}", ""), "{{") {
		r.Text, r.What = "{{.What}}", r.Text+" "+r.What
	}
	r.Text = safetext.Line(r.Text, maxLabel)
	return r
}

func (t there) Home(path string) string { return path }

// values name the machine, for a sentence.
func (t there) values() values { return values{"Machine": MachineName(t.machine)} }

// MachineName is the name that the person has given a machine, on one line.
func MachineName(name string) string { return safetext.Line(name, MaxName) }
