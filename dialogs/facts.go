package dialogs

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"golang.org/x/net/idna"

	"nod/dialogs/safetext"
	"nod/policy"
	"nod/policy/shell"
)

// fact is one thing that nod worked out from a request itself, shown as a short badge beside the input. Its
// text is nod's own; what it quotes of a request is spelled out.
type fact struct {
	Text  string
	Level shell.Level
}

// addIf adds a fact when it is true.
func addIf(facts []fact, isTrue bool, text string, l shell.Level) []fact {
	if isTrue {
		facts = append(facts, fact{text, l})
	}
	return facts
}

// appendNew appends what is not in the list yet.
func appendNew[T comparable](list []T, more ...T) []T {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// risksOf are the risks of a call, as far as the file system answers in time.
func risksOf(call policy.Call) []policy.Risk {
	risks, ok := inTime(func() []policy.Risk { return policy.Risks(call) })
	if !ok {
		return []policy.Risk{{Level: shell.Caution, Text: "The file system does not answer"}}
	}
	return risks
}

// riskFacts are risks as facts: one for all that differ in a place only.
func riskFacts(risks []policy.Risk) []fact {
	var texts []string
	named, levels := map[string][]string{}, map[string]shell.Level{}
	for _, r := range risks {
		texts, levels[r.Text] = appendNew(texts, r.Text), max(levels[r.Text], r.Level)
		isBelow := func(name string) bool { return strings.HasPrefix(r.What, name+"/") }
		if r.What != "" && !slices.ContainsFunc(named[r.Text], isBelow) {
			named[r.Text] = appendNew(named[r.Text], r.What)
		}
	}
	facts := make([]fact, len(texts))
	for i, text := range texts {
		facts[i] = fact{tr(text, values{"What": firstOf(named[text])}), levels[text]}
	}
	return facts
}

// maxFact is how many characters of what a fact names are shown.
const maxFact = 60

// firstOf is the first of some names, and how many more there are.
func firstOf(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return safeEndsOf(names[0], maxFact)
	}
	return safeEndsOf(names[0], maxFact) + fmt.Sprintf(" (+%d)", len(names)-1)
}

// worstFirst puts facts that call for more attention before others.
func worstFirst(facts []fact) []fact {
	slices.SortStableFunc(facts, func(a, b fact) int { return int(b.Level) - int(a.Level) })
	return facts
}

// worst is the highest level among facts.
func worst(facts []fact) shell.Level {
	level := shell.Note
	for _, f := range facts {
		level = max(level, f.Level)
	}
	return level
}

// classLevel is how much attention a class calls for by itself.
func classLevel(c policy.Class) shell.Level {
	switch c {
	case policy.ReadOnly:
		return shell.Note
	case policy.Destructive:
		return shell.Danger
	}
	return shell.Caution
}

// riskColor is the colour of an approval: that of its worst fact, or of its class where no fact calls for attention.
func riskColor(c policy.Class, facts []fact) fyne.ThemeColorName {
	if level := worst(facts); level > shell.Note && c != policy.Destructive {
		return levelColor(level)
	}
	return ClassColor(c)
}

func levelColor(l shell.Level) fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{ColorMuted, theme.ColorNameWarning, theme.ColorNameError}[l]
}

// factBadge is a fact, of which the colour is not all that tells its level.
func factBadge(f fact) fyne.CanvasObject {
	if f.Level == shell.Note {
		return Badge(f.Text, ColorMuted)
	}
	icon, alpha := theme.IconNameWarning, uint8(0x22)
	if f.Level == shell.Danger {
		icon, alpha = theme.IconNameError, 0x38
	}
	c := levelColor(f.Level)
	image := widget.NewIcon(theme.NewColoredResource(theme.DefaultTheme().Icon(icon), c))
	text := newWords(f.Text, theme.SizeNameCaptionText, c).bold()
	return newTint(c, alpha, 6, Padded(2, 6, Row(4, container.New(fixed{width: 14, height: 14}, image), text)))
}

// maxDangers is how many dangerous parts of a command are listed unasked; where there is little room it is one.
const maxDangers = 4

// showFacts shows what is dangerous about the input, as badges and as a list of the parts that are.
func (a *approvePage) showFacts() {
	class := a.class()
	color := ClassColor(a.entry.why.Class)
	if worst(a.input.facts) > class.Level { // green beside red would say that all is well
		color = ColorMuted
	}
	badges := []fyne.CanvasObject{Badge(class.Text, color)}
	for _, f := range a.input.facts {
		badges = append(badges, factBadge(f))
	}
	a.rows.set(a.badges, badges)
	a.jumps = nil
	for _, p := range a.input.dangers {
		jump := newButton(a.w, p.text(), func() { a.jumpTo(p) })
		jump.look, jump.icon = linkButton, theme.IconNameError
		a.jumps = append(a.jumps, container.NewHBox(jump))
	}
	a.others = newButton(a.w, "", func() {
		a.allJumps = true
		a.foldJumps()
		a.w.changed()
	})
	a.others.look = linkButton
	a.facts.Objects = append([]fyne.CanvasObject{a.badges}, a.jumps...)
	a.facts.Add(container.NewHBox(a.others))
	a.foldJumps()
	a.facts.Refresh()
}

// class is what the call can do, as a fact.
func (a *approvePage) class() fact {
	class := fact{className(a.entry.why.Class), classLevel(a.entry.why.Class)}
	if a.input.isCommand && a.entry.why.Class == policy.Unknown {
		class.Text = className(policy.Execute)
	}
	return class
}

// foldJumps leaves out the dangerous parts for which there is no room, and says how many.
func (a *approvePage) foldJumps() {
	shown := maxDangers
	if a.compact {
		shown = 1
	}
	if a.allJumps || len(a.jumps) <= shown {
		shown = len(a.jumps)
	}
	for i, o := range a.jumps {
		setVisible(o, i < shown)
	}
	if shown < len(a.jumps) {
		a.others.setText(tr("+{{.Count}} more", values{"Count": len(a.jumps) - shown}))
	}
	setVisible(a.facts.Objects[len(a.facts.Objects)-1], shown < len(a.jumps))
}

// jumpTo shows a dangerous part in the text.
func (a *approvePage) jumpTo(p danger) {
	if a.rawShown {
		a.toggleRaw()
	}
	block := a.input.block
	block.jumpTo(block.positionOf(p.at))
}

// A danger is a part of a command that is dangerous.
type danger struct {
	at, line int
	command  string
}

// text is the part on one line.
func (d danger) text() string {
	const most = 90
	return tr("Line {{.Line}}: {{.Command}}", values{"Line": d.line, "Command": safeEndsOf(d.command, most)})
}

// longLine is how many characters of a command on one line nobody overlooks a part of.
const longLine = 240

// dangersOf are the dangerous parts of a long command, in their order, each once.
func dangersOf(command string, risks []policy.Risk) []danger {
	if !strings.Contains(strings.TrimSpace(command), "\n") && len(command) < longLine {
		return nil
	}
	var found []danger
	for _, r := range risks {
		isThere := slices.ContainsFunc(found, func(d danger) bool { return d.at == r.At })
		if r.Level < shell.Danger || r.Line == "" || r.At > len(command) || isThere {
			continue
		}
		found = append(found, danger{r.At, strings.Count(command[:r.At], "\n") + 1, r.Line})
	}
	slices.SortFunc(found, func(a, b danger) int { return a.at - b.at })
	return found
}

// sizeFact is how much there is to read.
func sizeFact(text string) fact {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	chars := utf8.RuneCountInString(text)
	if lines == 1 {
		return fact{tr("{{.Chars}} characters", values{"Chars": chars}), shell.Note}
	}
	return fact{tr("{{.Lines}} lines, {{.Chars}} characters", values{"Lines": lines, "Chars": chars}), shell.Note}
}

// muchRemoved is how many lines a change may take away before it calls for another look.
const muchRemoved = 100

// changeFact is how many lines a change adds and removes.
func changeFact(added, removed int) fact {
	level := shell.Note
	if removed >= muchRemoved && removed > 2*added {
		level = shell.Caution
	}
	return fact{tr("+{{.Added}} −{{.Removed}} lines", values{"Added": added, "Removed": removed}), level}
}

// hostOf returns the host that a program would go to for address, with its port and in the letters that go over the
// network, or "" when programs might disagree about it.
func hostOf(address string) (host string, u *url.URL) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return "", nil
	}
	if strings.ContainsAny(address, "\\") || strings.ContainsAny(u.Host, "%@ ") || safetext.HasHidden(address) {
		return "", nil // some programs take \ for /, and drop what does not show
	}
	name := u.Hostname()
	if !isForeign(name) {
		if _, err := netip.ParseAddr(name); err != nil && endsInNumber(name) {
			return "", nil // a browser takes 2130706433 and 127.1 for 127.0.0.1, others for names
		}
		return u.Host, u
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", nil
	}
	return ascii + strings.TrimPrefix(u.Host, name), u
}

// isForeign reports whether a host's name is spelled in more than ASCII, or stands for one that is.
func isForeign(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") ||
		strings.ContainsFunc(name, func(c rune) bool { return c >= utf8.RuneSelf })
}

// endsInNumber reports whether the last label of a host's name is a number, in which case browsers read all of it as
// an IP address (https://url.spec.whatwg.org/#ends-in-a-number-checker).
func endsInNumber(name string) bool {
	name = strings.TrimSuffix(name, ".")
	last := strings.ToLower(name[strings.LastIndex(name, ".")+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// longQuery is how many bytes behind the ? of an address may hold more than a question.
const longQuery = 64

// addressFacts says what is special about the place that a URL leads to.
func addressFacts(address string) []fact {
	host, u := hostOf(address)
	if host == "" {
		return []fact{{tr("Unclear which host"), shell.Danger}}
	}
	facts := []fact{{tr("Host {{.Host}}", values{"Host": plainText(host)}), shell.Note}}
	facts = addIf(facts, u.Scheme != "https", tr("Not encrypted"), shell.Caution)
	facts = addIf(facts, len(u.RawQuery)+len(u.Fragment) >= longQuery, tr("Carries data in the address"), shell.Caution)
	facts = addIf(facts, u.User != nil, tr("A user name is in front of the host"), shell.Danger)
	return append(facts, hostFacts(u.Hostname())...)
}

func hostFacts(name string) []fact {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	addr, err := netip.ParseAddr(name)
	addr = addr.Unmap()
	isLocal := err == nil && (addr.IsLoopback() || addr.IsUnspecified())
	const metadata = "169.254.169.254" // where clouds tell their machines their keys
	switch {
	case name == metadata || name == "metadata.google.internal" || name == "fd00:ec2::254":
		return []fact{{tr("Gives out the keys of this machine"), shell.Danger}}
	case isLocal || name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return []fact{{tr("This computer"), shell.Caution}}
	case err == nil && (addr.IsPrivate() || addr.IsLinkLocalUnicast()):
		return []fact{{tr("Local network"), shell.Caution}}
	case err == nil:
		return []fact{{tr("A bare IP address"), shell.Caution}}
	case isForeign(name):
		shown, _ := idna.Lookup.ToUnicode(name) // what cannot be decoded stays as it is
		return []fact{{tr("Host name in foreign letters: {{.Name}}", values{"Name": plainText(shown)}), shell.Caution}}
	}
	return nil
}

// commandFacts says what the fields beside a command ask for.
func commandFacts(args arguments, cwd string) []fact {
	var facts []fact
	if _, dir, ok := args.text("workdir", "cwd", "dir_path", "directory"); ok && dir != "" {
		for _, l := range locate([]string{dir}, cwd) {
			facts = addIf(facts, l.Path == "", tr("Unclear in which folder it works"), shell.Danger)
			facts = addIf(facts, l.Path != "" && !l.Inside, tr("Works outside the project"), shell.Caution)
		}
	}
	isBackground := args.isTrue("run_in_background") || args.isTrue("is_background")
	facts = addIf(facts, isBackground, tr("In the background"), shell.Note)
	_, permissions, _ := args.text("sandbox_permissions")
	isOutside := args.isTrue("dangerouslyDisableSandbox") || args.isTrue("with_escalated_permissions") ||
		permissions == "require_escalated"
	return addIf(facts, isOutside, tr("Outside the sandbox"), shell.Danger)
}

// maxPrograms is how many of a command's programs are named.
const maxPrograms = 6

// programsFact names the programs that a command starts.
func programsFact(command string) []fact {
	names := programsIn(command)
	if names == "" {
		return nil
	}
	return []fact{{tr("Runs {{.Programs}}", values{"Programs": plainText(names)}), shell.Note}}
}

// programsIn lists the programs that a command starts, each once, in the command's own spelling.
func programsIn(command string) string {
	var names []string
	for _, name := range shell.Assess(command).Programs {
		if name != "" {
			names = appendNew(names, name)
		}
	}
	if len(names) > maxPrograms {
		names = append(names[:maxPrograms], "…")
	}
	return strings.Join(names, ", ")
}
