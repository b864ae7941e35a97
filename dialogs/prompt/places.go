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

// places looks up the paths of a request: [localFiles] or [reportedFiles]. Everything that a prompt says about files
// goes through it, so that paths of another machine are never looked up on this one.
type places interface {
	read(path string) *baseFile
	locate(path string) policy.Location
	// risks returns the risks that the text of a call shows, and those that only its files show.
	risks(call policy.Call) (own, ofFiles []policy.Risk)
	// home abbreviates a path in the home folder.
	home(path string) string
}

// placesOf returns the places of the machine that a request comes from.
func placesOf(r interact.Request) places {
	if r.Requester.IsRemote() {
		return reportedFiles{r.Requester.Machine, r.Reported}
	}
	return localFiles{r.Requester.Folder()}
}

// localFiles looks up paths on this machine, for a tool that works in cwd.
type localFiles struct{ cwd string }

func (h localFiles) read(path string) *baseFile {
	f := basefile.Read(path, h.cwd)
	return &baseFile{path: path, at: h, where: f.Where, exists: f.Exists, text: f.Text, problem: f.Problem}
}

// locate returns the zero Location if the file system does not answer in time.
func (h localFiles) locate(path string) policy.Location {
	found, _ := basefile.InTime(func() policy.Location { return policy.Locate(path, h.cwd) })
	return found
}

// risks returns all risks as own: nod has read the files itself.
func (localFiles) risks(call policy.Call) (own, ofFiles []policy.Risk) {
	return basefile.Risks(call), nil
}

func (localFiles) home(path string) string { return FromHome(path) }

// FromHome writes ~ for the home folder.
func FromHome(path string) string {
	dir, err := os.UserHomeDir()
	if err != nil || dir == "" || dir == "/" {
		return path
	}
	if rest, inside := strings.CutPrefix(path, dir); inside && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}

// reportedFiles is a machine's report about its files. report may be nil, and may contain anything.
type reportedFiles struct {
	machine string
	report  *interact.Reported
}

func (t reportedFiles) file(path string) *interact.ReportedFile {
	if t.report == nil {
		return nil
	}
	i := slices.IndexFunc(t.report.Files, func(f interact.ReportedFile) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &t.report.Files[i]
}

func (t reportedFiles) read(path string) *baseFile {
	f := t.file(path)
	if f == nil {
		return &baseFile{path: path, at: t, problem: tr("{{.Machine}} has reported nothing about this file", t.values())}
	}
	b := &baseFile{path: path, at: t, where: f.Where, exists: f.Exists, text: f.Text}
	switch {
	case slices.Contains(basefile.Problems, f.Problem):
		b.text, b.problem = "", f.Problem
	case f.Problem != "": // the machine's words could pass for nod's
		b.text, b.problem = "", basefile.Unreadable
	case len(f.Text) > basefile.MaxBytes:
		b.text, b.problem = "", basefile.TooLarge
	}
	return b
}

func (t reportedFiles) locate(path string) policy.Location {
	if f := t.file(path); f != nil {
		return f.Where
	}
	return policy.Location{}
}

// maxReported is the number of risks shown from the report of a machine.
const maxReported = 64

// risks returns the risks that the text of a call shows, and the others in the report.
func (t reportedFiles) risks(call policy.Call) (own, ofFiles []policy.Risk) {
	own = policy.TextRisks(call)
	if t.report == nil {
		return own, []policy.Risk{{Level: shell.Caution, Text: "Its files were not reported"}}
	}
	for _, r := range t.report.Risks[:min(len(t.report.Risks), maxReported)] {
		isKnown := slices.ContainsFunc(own, func(o policy.Risk) bool { return o.Text == r.Text && o.What == r.What })
		if !isKnown {
			ofFiles = append(ofFiles, wellFormed(r))
		}
	}
	if len(t.report.Risks) > maxReported {
		ofFiles = append(ofFiles, policy.Risk{Level: shell.Caution, Text: "Too much to show in full"})
	}
	return own, ofFiles
}

// wellFormed sanitizes a reported risk: one sentence with at most one value, a valid level, no position.
func wellFormed(r policy.Risk) policy.Risk {
	r.At, r.Line = 0, ""
	r.Level = min(r.Level, shell.Danger)
	if strings.Contains(strings.ReplaceAll(r.Text, "{{.What}}", ""), "{{") {
		r.Text, r.What = "{{.What}}", r.Text+" "+r.What
	}
	r.Text = safetext.Line(r.Text, maxLabel)
	return r
}

func (t reportedFiles) home(path string) string { return path }

func (t reportedFiles) values() values { return values{"Machine": machineName(t.machine)} }

func machineName(name string) string { return safetext.Line(name, maxName) }

// baseFile is the file that a change applies to, as it was when it was read.
type baseFile struct {
	path    string // as the request names it
	at      places
	where   policy.Location
	exists  bool
	text    string
	problem string // why the text cannot be compared
}

func (b *baseFile) changed() bool { return *b.at.read(b.path) != *b }

// problemText explains why a file cannot be compared, in the user's language if it is one of nod's own problems.
func problemText(problem string) string {
	if slices.Contains(basefile.Problems, problem) {
		return tr(problem)
	}
	return PlainText(problem)
}
