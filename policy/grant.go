package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"nod/ownfile"
	"nod/policy/invisible"
	"nod/policy/process"
	"nod/policy/shell"
)

const (
	quarterHour = 15 * time.Minute
	restAfter   = 30 * 24 * time.Hour // nod asks again about a permanent grant that was not used for that long
	maxShown    = 200                 // characters of the input kept for the list of grants
)

// MaxGrants limits the number of grants: users do not read a longer list.
const MaxGrants = 2000

// program returns the verified executable that represents the caller: the nearest one that is neither nod's own command
// nor a shell, through which agents start their hooks; "" if nothing was verified.
func (c Call) program() string {
	for _, program := range c.Programs {
		if program != "" && !process.IsGoBetween(program) {
			return program
		}
	}
	return ""
}

// canonical writes an input so that two inputs with the same meaning have the same bytes: keys sorted, no space.
// Numbers stay as they were written.
func canonical(raw json.RawMessage) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	return json.Marshal(value)
}

func inputSHA256(raw json.RawMessage, links ...string) (string, error) {
	text, err := canonical(raw)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{string(text)}, links...), "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// inputSHA256 also covers where links lead: an approval is for the folder and the files that the user saw.
func (f *facts) inputSHA256() (string, error) {
	var links []string
	for _, a := range append(f.edits(), access{place: f.cwd()}) {
		if a.real != a.clean {
			links = append(links, a.real)
		}
	}
	return inputSHA256(f.call.Input.Raw, links...)
}

// NewGrants makes the grants that allow a call from now on, in addition to those of the policy. It fails for calls that
// a grant can never allow.
func NewGrants(c Call, scope Scope, cover Cover, p *Compiled, now time.Time) ([]Grant, error) {
	return newFacts(&c, p, now).newGrants(scope, cover)
}

func (f *facts) newGrants(scope Scope, cover Cover) ([]Grant, error) {
	err := f.maySpan(scope, cover)
	var list []Grant
	if err == nil {
		list, err = f.grantsFor(cover)
	}
	if err == nil && scope == Everywhere {
		err = f.mayRoam(list)
	}
	if err != nil {
		return nil, fmt.Errorf("save the approval: %w", err)
	}
	for i := range list {
		g := &list[i]
		g.ID, g.Scope, g.Created = uuid.Must(uuid.NewV7()).String(), scope, f.now
		switch scope {
		case Everywhere:
			g.CWD = ""
		case ThisSession:
			g.Session = f.call.Session
		case QuarterHour:
			g.Expires = f.now.Add(quarterHour)
		}
	}
	return list, nil
}

func (f *facts) maySpan(scope Scope, cover Cover) error {
	switch {
	case scope == Once || !slices.Contains(Scopes, scope):
		return fmt.Errorf("scope %q can't be saved", scope)
	case scope == ThisSession && f.call.Session == "":
		return errors.New("the agent named no session")
	case scope.IsPermanent() && cover == CoverEdits:
		return errors.New("edits can't be allowed permanently")
	case scope.IsPermanent() && cover == CoverReads:
		return errors.New("reading in a folder can't be allowed permanently: trust the folder in the settings")
	case scope.IsPermanent() && cover == CoverTool && f.mayHarm():
		return errors.New("a tool that may delete things or run code can't be allowed permanently")
	}
	return nil
}

// mayRoam says why grants can't apply in any folder: they name files of this one, or the call deletes, reaches others
// or needs other care. In another project the same name may belong to another MCP server.
func (f *facts) mayRoam(list []Grant) error {
	isTied := func(g Grant) bool {
		isCommand := g.Command != nil && g.Command.Text == "" && g.Folder == ""
		return !isCommand && (g.Host == "" || g.Tool == NetworkTool) && (!g.AnyInput || isMCP(g.Tool))
	}
	if slices.ContainsFunc(list, isTied) || f.class == Destructive || f.isRisky() {
		return errors.New("this can't be allowed in every folder")
	}
	return nil
}

func (f *facts) isRisky() bool {
	isRisk := func(r Risk) bool { return r.Level > shell.Note && r.Text != shell.RiskOther }
	return slices.ContainsFunc(Risks(*f.call), isRisk)
}

// grantsFor works out which grants, of any scope, would allow this call from now on. It fails if none can.
func (f *facts) grantsFor(cover Cover) (list []Grant, err error) {
	for _, look := range []func() Decision{f.mustAsk, f.mayLeak} {
		d := look()
		if d.Effect == Ask && !(cover == CoverReads && d.Rule == askOutside.Rule) {
			return nil, fmt.Errorf("nod always asks, because %s", d.Reason)
		}
	}
	switch cover {
	case CoverInput:
		list, err = f.offerInput()
	case CoverCommands:
		list, err = f.offerCommands()
	case CoverBuilds, CoverGit, CoverContainers:
		list, err = f.offerWork(cover)
	case CoverEdits:
		list, err = f.offerEdits()
	case CoverTool:
		list, err = f.offerTool()
	case CoverServer:
		list, err = f.offerServer()
	case CoverHost:
		list, err = f.offerHost()
	case CoverReads:
		list, err = f.offerReads()
	default:
		err = fmt.Errorf("unknown cover %q", cover)
	}
	for i := range list {
		list[i].Agent, list[i].Program = f.call.Agent, f.call.program()
	}
	return list, err
}

func (f *facts) offerInput() ([]Grant, error) {
	sum, err := f.inputSHA256()
	if err != nil {
		return nil, err
	}
	return []Grant{{CWD: f.call.CWD, Tool: f.call.Tool, InputSHA256: sum, Shown: shown(f.call.Input.Raw)}}, nil
}

var errNoParts = errors.New("nod can't save the command in parts")

// offerCommands makes one grant for each part that is not covered yet, and one for each file that output goes to.
func (f *facts) offerCommands() ([]Grant, error) {
	verdicts, _ := f.judgeParts()
	switch {
	case len(verdicts) == 0:
		return nil, errNoParts
	case f.line.Whole != "":
		return nil, fmt.Errorf("%w: %s", errNoParts, f.line.Whole)
	case f.line.outside != "" || f.project() == "":
		return nil, fmt.Errorf("%w: it works outside the project", errNoParts)
	}
	var list []Grant
	for _, v := range verdicts {
		if v.state != PartNew {
			continue
		}
		g, err := f.partGrant(v)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, g.SameAs) {
			list = append(list, g)
		}
	}
	if len(list) == 0 {
		return nil, errNoParts
	}
	return list, nil
}

var works = map[Cover]struct{ shown, what string }{
	CoverBuilds: {"builds and tests", "build, test, check and format the project (not install, publish or deploy)"},
	CoverGit:    {"commits and pushes", "commit, tag, switch branches, merge, pull and push (never by force)"},
	CoverContainers: {
		"work in containers", "build, start and stop the project's containers, and run commands in them",
	},
}

// offerWork allows a whole kind of work if every new part of the command belongs to it, without a flag that may
// restrain it: allowing a check does not mean allowing to format.
func (f *facts) offerWork(kind Cover) ([]Grant, error) {
	verdicts, _ := f.judgeParts()
	list := []Grant{{CWD: f.realTop(), Tool: f.call.Tool, Work: kind, Shown: works[kind].shown}}
	isOffered := false
	for _, v := range verdicts {
		switch {
		case v.state != PartNew:
		case v.file != nil:
			if g, _ := f.partGrant(v); !slices.ContainsFunc(list, g.SameAs) {
				list = append(list, g)
			}
		default:
			t, err := v.part.Pattern()
			if isOffered = err == nil && len(t.Flags) == 0 && f.works(v.part, kind); !isOffered {
				return nil, errors.New("it does more than this kind of work")
			}
		}
	}
	if !isOffered || f.line.Whole != "" || f.line.outside != "" || f.project() == "" {
		return nil, errNoParts
	}
	return list, nil
}

func (f *facts) works(p *linePart, kind Cover) bool {
	if p.Work() != string(kind) || p.Removes() || !f.isOwn(p) || kind != CoverBuilds && f.readsElsewhere() {
		return false
	}
	t, err := p.Pattern()
	return err == nil && t.Covers(*p.Part, f.insideProject(p)) && (!t.HasPath() || f.partRunsAtTop(p)) && f.isNoFile(p, t)
}

// readsElsewhere reports whether the line reads files of the user's outside the project, by "<" or in another part: a
// push or a container may pass on what it is given.
func (f *facts) readsElsewhere() bool {
	return slices.ContainsFunc(f.reach(), func(a access) bool {
		isRead := a.kind == shell.Read || a.kind == shell.Tree
		return isRead && !f.inProject(a.place) && !isWithin(a.clean, "/dev") && f.editRoot(a.place) == "" && f.isHidden(&a)
	})
}

// isNoFile reports whether what git is to check out is not a file, whose changes would be lost.
func (f *facts) isNoFile(p *linePart, t shell.Pattern) bool {
	if len(t.Words) < 3 || t.Words[1] != "checkout" {
		return true
	}
	return !slices.Contains(p.Argv, "--") && !slices.ContainsFunc(p.In, func(in string) bool {
		_, err := isLink(f.locateIn(joinPath(in, t.Words[2])).clean)
		return !ownfile.IsMissing(err)
	})
}

func (f *facts) partGrant(v verdict) (Grant, error) {
	g := Grant{CWD: f.realTop(), Tool: f.call.Tool}
	if v.file != nil {
		g.Tool, g.Edits, g.Shown = "", v.file.real, "> "+v.file.clean
		return g, nil
	}
	pattern, err := v.part.Pattern()
	if err != nil {
		return g, fmt.Errorf("%w: %w", errNoParts, err)
	}
	if v.part.Fed && f.readsElsewhere() {
		return g, fmt.Errorf("%w: a file of another folder is piped into it", errNoParts)
	}
	isInside := pattern.Covers(*v.part.Part, f.insideProject(v.part))
	if !isInside || v.part.Removes() || f.readsElsewhere() {
		pattern.Text = v.part.Text
	}
	if pattern.Text != "" || pattern.HasPath() || !f.isOwn(v.part) ||
		!v.part.Understood && !f.partRunsAtTop(v.part) {
		if len(v.part.In) != 1 {
			return g, errNoParts
		}
		g.Folder = f.locateIn(v.part.In[0]).real
	}
	g.Command, g.Shown = &pattern, pattern.String()
	return g, nil
}

// offerEdits allows changes of files in the project and in the folders for temporary files, as far as this call needs
// them. It fails if the call changes other files.
func (f *facts) offerEdits() ([]Grant, error) {
	project := f.realTop()
	if project == "" {
		return nil, errors.New("edits can only be allowed in a project")
	}
	if len(f.edits()) == 0 || !f.isEdit() {
		return nil, errors.New("it does more than change files")
	}
	var list []Grant
	for _, a := range f.edits() {
		root := f.editRoot(a.place)
		switch {
		case a.kind == shell.Delete:
			return nil, errors.New("it deletes files")
		case root == "":
			return nil, errors.New("it changes files outside the project")
		}
		g := Grant{CWD: project, Edits: root, Shown: "edits in " + tilde(root, f.policy.places.Home)}
		if !slices.ContainsFunc(list, g.SameAs) {
			list = append(list, g)
		}
	}
	return list, nil
}

// editRoot returns the folder that an answer about edits of a file covers: the project, or a folder for temporary files
// with a trailing slash; "" if the file is in neither.
func (f *facts) editRoot(p place) string {
	if f.inProject(p) {
		return f.realTop()
	}
	for _, temp := range f.policy.tempFolders() {
		if temp.holds(p) {
			return temp.real + "/"
		}
	}
	return ""
}

func (c *Compiled) tempFolders() []place {
	var list []place
	for _, folder := range []string{os.TempDir(), "/tmp"} {
		p := locate(folder, "", c.places.Home)
		if !p.lost && !p.relative && p.real != "/" && !c.guard.holdsHome(p.real) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// holds reports whether another place is inside this one, as text and with links followed.
func (p place) holds(o place) bool {
	return !o.lost && !o.relative && isWithin(o.real, p.real) && (isWithin(o.clean, p.clean) || isWithin(o.clean, p.real))
}

func (f *facts) isEdit() bool {
	if f.line == nil {
		return f.class == Write
	}
	verdicts, _ := f.judgeParts()
	isNew := func(v verdict) bool {
		return v.state == PartNew && v.file == nil && (!v.part.Understood || f.line.repository != "" || v.part.doesMore())
	}
	return len(verdicts) > 0 && f.line.Whole == "" && f.line.outside == "" && !slices.ContainsFunc(verdicts, isNew)
}

func (f *facts) edits() []access {
	return slices.DeleteFunc(slices.Clone(f.reach()), func(a access) bool { return a.kind < shell.Write })
}

// doesMore reports whether a part deletes, or copies whole folders, whose files get names that are unknown.
func (p *linePart) doesMore() bool {
	return slices.ContainsFunc(p.reach, func(a access) bool { return a.kind == shell.Delete || a.kind == shell.Tree })
}

func shown(raw json.RawMessage) string {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return ""
	}
	text := []rune(line.String())
	if len(text) <= maxShown {
		return string(text)
	}
	return string(text[:maxShown-1]) + "…"
}

// grantsText says what the grants of one answer allow: what they share, then a line for each.
func grantsText(list []Grant, home string) string {
	if len(list) == 1 {
		return list[0].text(home)
	}
	first := list[0]
	text := fmt.Sprintf("%s (%s) may do this in %s, %s:",
		first.agent(), first.program(), first.where(home), first.Scope.until())
	for _, g := range list {
		text += "\n· " + g.what(home)
	}
	return text
}

// Text says what the grant allows, in the words of [Offer].
func (g Grant) Text() string { return g.text(homeFolder()) }

func (g Grant) text(home string) string {
	return fmt.Sprintf("%s (%s) may %s in %s, %s", g.agent(), g.program(), g.what(home), g.where(home), g.Scope.until())
}

func (g Grant) agent() string {
	if g.Agent == "" {
		return "an unnamed agent"
	}
	return plain(g.Agent)
}

func (g Grant) program() string {
	if g.Program == "" {
		return "program not verified"
	}
	return plain(g.Program)
}

func (g Grant) where(home string) string {
	switch {
	case g.Scope == Everywhere:
		return "any folder"
	case g.CWD == "":
		return "an unnamed folder"
	}
	return plain(tilde(g.CWD, home))
}

func (g Grant) what(home string) string {
	switch {
	case g.server() != "":
		return fmt.Sprintf("use the tools of %s with any input (none that deletes or runs code)", plain(g.server()))
	case g.AnyInput:
		return fmt.Sprintf("use %s with any input", plain(g.Tool))
	case g.Host != "" && g.Tool == NetworkTool:
		return fmt.Sprintf("reach %s from the sandbox", g.Host)
	case g.Host != "":
		return fmt.Sprintf("fetch any page of https://%s with %s (wherever it redirects)", g.Host, plain(g.Tool))
	case g.Reads != "":
		return fmt.Sprintf("read files below %s (no keys, passwords or tokens)", plain(tilde(g.Reads, home)))
	case g.Work != "":
		return works[g.Work].what
	case g.Edits != "" && g.Edits == g.CWD:
		return "change files (no settings, hooks or keys)"
	case strings.HasSuffix(g.Edits, "/"):
		return fmt.Sprintf("change files below %s (no settings, hooks or keys)", plain(tilde(g.Edits, home)))
	case g.Edits != "":
		return fmt.Sprintf("write to %s", plain(tilde(g.Edits, home)))
	case g.Command != nil && g.Command.Text != "" && g.Folder != g.CWD:
		return fmt.Sprintf("run exactly %q from %s", g.Command.Text, plain(tilde(g.Folder, home)))
	case g.Command != nil && g.Command.Text != "":
		return fmt.Sprintf("run exactly %q", g.Command.Text)
	case g.Command != nil && strings.HasPrefix(g.Command.Words[0], "docker") && slices.Contains(g.Command.Words, "exec"):
		return fmt.Sprintf("run any command in the container of %q", g.Command)
	case g.Command != nil && g.Folder != "" && g.Folder != g.CWD && !g.Command.IsOpen():
		return fmt.Sprintf("run %q from %s with other harmless flags or texts", g.Command, plain(tilde(g.Folder, home)))
	case g.Command != nil && !g.Command.IsOpen():
		return fmt.Sprintf("run %q with other harmless flags or texts", g.Command)
	case g.Command != nil && g.Folder != "" && g.Folder != g.CWD:
		return fmt.Sprintf("run %q from %s with other arguments or project files", g.Command, plain(tilde(g.Folder, home)))
	case g.Command != nil:
		return fmt.Sprintf("run %q with other arguments or project files", g.Command)
	}
	return fmt.Sprintf("use %s with exactly this input", plain(g.Tool))
}

func (g Grant) object(home string) string {
	switch {
	case g.AnyInput:
		return cmp.Or(g.server(), g.Tool)
	case g.Reads != "":
		return tilde(g.Reads, home)
	}
	return g.Host
}

func (s Scope) until() string {
	switch s {
	case ThisSession:
		return "until this session ends or nod quits"
	case QuarterHour:
		return "for 15 minutes"
	case UntilQuit:
		return "until nod quits"
	}
	return "until you revoke it"
}

// plain quotes a name that a reader could mistake for more than a name.
func plain(name string) string {
	odd := func(r rune) bool { return invisible.Hidden(r) || strings.ContainsRune("\n\t\"()`, ", r) }
	if strings.ContainsFunc(name, odd) {
		return strconv.QuoteToGraphic(name)
	}
	return name
}

func tilde(folder, home string) string {
	home = filepath.Clean(home)
	if rest, ok := strings.CutPrefix(folder, home); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return folder
}

func (g *Grant) reason() string {
	what := "exactly this"
	if g.InputSHA256 == "" && (g.Command == nil || g.Command.Text == "") {
		what = strconv.Quote(g.Shown)
	}
	when := g.Created.Local().Format("2 January 2006, 15:04")
	return fmt.Sprintf("you allowed %s %s, on %s", what, g.Scope.until(), when)
}

// Rests reports whether the grant was unused for so long that the user is asked again.
func (g Grant) Rests(now time.Time) bool {
	last := g.Created
	if g.LastUsed.After(last) {
		last = g.LastUsed
	}
	return g.Scope.IsPermanent() && now.Round(0).Sub(last.Round(0)) > restAfter
}

// IsOver reports whether the grant has expired. Setting the clock back does not revive it, and suspending the machine
// does not extend it: both the wall clock and the monotonic clock must be before the end.
func (g *Grant) IsOver(now time.Time) bool {
	if g.Expires.IsZero() {
		return false
	}
	return !now.Before(g.Expires) || !now.Round(0).Before(g.Expires.Round(0))
}

// SameAs reports whether two grants allow the same for the same time.
func (g *Grant) SameAs(o Grant) bool {
	return g.Scope == o.Scope && g.Agent == o.Agent && g.Program == o.Program && g.Session == o.Session &&
		g.CWD == o.CWD && g.Tool == o.Tool && g.InputSHA256 == o.InputSHA256 && g.Work == o.Work && g.Edits == o.Edits &&
		g.Folder == o.Folder && g.Reads == o.Reads && g.Host == o.Host && g.AnyInput == o.AnyInput &&
		(g.Command == o.Command || g.Command != nil && o.Command != nil && g.Command.Equal(*o.Command))
}

// granted yields the grants of the call's agent that are in force, for a tool in one folder. Grants for edits and for
// reading name no tool; an empty folder means any.
func (f *facts) granted(tool, cwd string) iter.Seq[*Grant] {
	program := f.call.program()
	return func(yield func(*Grant) bool) {
		for i := range f.policy.grants {
			g := &f.policy.grants[i]
			isBy := g.Agent == f.call.Agent && g.Program == program && (g.Scope != ThisSession || g.Session == f.call.Session)
			isFor := g.Tool == tool || g.server() != "" && g.server() == serverOf(tool)
			isHere := cwd == "" || g.isAt(cwd)
			if isBy && isFor && isHere && !g.IsOver(f.now) && !g.Rests(f.now) && !yield(g) {
				return
			}
		}
	}
}

func (g *Grant) isAt(folder string) bool { return g.CWD == folder || g.Scope == Everywhere }

func (f *facts) grant() *Grant {
	c, sum := f.call, ""
	for g := range f.granted(c.Tool, c.CWD) {
		if g.InputSHA256 == "" || g.CWD != c.CWD {
			continue
		}
		if sum == "" {
			var err error
			if sum, err = f.inputSHA256(); err != nil {
				return nil
			}
		}
		if g.InputSHA256 == sum {
			return g
		}
	}
	for _, look := range []func() *Grant{f.grantForEdit, f.grantForTool, f.grantForReads} {
		if g := look(); g != nil {
			return g
		}
	}
	return nil
}

func (f *facts) grantForEdit() *Grant {
	if f.line != nil || f.class != Write {
		return nil
	}
	var last *Grant
	for _, a := range f.edits() {
		if last = f.grantForWrite(a.place); last == nil || a.kind == shell.Delete {
			return nil
		}
	}
	return last
}

func (f *facts) grantForWrite(p place) *Grant {
	if p.lost || p.relative {
		return nil
	}
	for g := range f.granted("", "") {
		here := g.CWD == f.realTop() || g.CWD == g.Edits
		if g.Edits != "" && here && isWithin(p.real, g.Edits) && f.isSpelledWithin(p, g.Edits) {
			return g
		}
	}
	return nil
}

func (f *facts) isSpelledWithin(p place, folder string) bool {
	return isWithin(p.clean, folder) || isWithin(p.clean, f.project()) ||
		slices.ContainsFunc(f.policy.tempFolders(), func(t place) bool { return t.real+"/" == folder && t.holds(p) })
}

// grantForPart returns a grant that covers a part of a command line, or nil. For a task, it accepts the flags that the
// user saw in any grant that fits.
func (f *facts) grantForPart(p *linePart) *Grant {
	var flags []string
	for g := range f.granted(f.call.Tool, f.realTop()) {
		if g.Work != "" && f.runsAt(p, g) && f.works(p, g.Work) {
			return g
		}
		isExact := g.Command != nil && g.Command.Text != ""
		if g.Command == nil || !f.runsAt(p, g) || !isExact && f.removesProject(p) ||
			(!isExact || p.Fed) && f.readsElsewhere() {
			continue
		}
		seen := *g.Command
		if !p.Understood && seen.Fits(*p.Part) {
			seen = seen.Also(flags)
			flags = append(flags, seen.Flags...)
		}
		if seen.Covers(*p.Part, f.insideProject(p)) {
			return g
		}
	}
	return nil
}

// runsAt reports whether a part runs in the project's own folders or, if the grant is for one folder, in that folder.
func (f *facts) runsAt(p *linePart, g *Grant) bool {
	return (g.Folder != "" || f.isOwn(p)) && !slices.ContainsFunc(p.In, func(in string) bool {
		place := f.locateIn(in)
		return !f.inProject(place) || g.Folder != "" && place.real != g.Folder
	})
}
