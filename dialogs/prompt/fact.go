package prompt

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"nod/dialogs/safetext"
	"nod/policy"
	"nod/policy/shell"
)

// Fact is a conclusion that nod draws from a request, in nod's words, with quotes from the request escaped.
type Fact struct {
	Text  string
	Level shell.Level
}

func addIf(facts []Fact, isTrue bool, text string, l shell.Level) []Fact {
	if isTrue {
		facts = append(facts, Fact{text, l})
	}
	return facts
}

func appendNew[T comparable](list []T, more ...T) []T {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// deletesFolders is omitted if another risk names what is deleted.
const deletesFolders = "Deletes folders and their contents"

// riskFacts converts risks to facts. Risks that differ only in a place become one fact.
func riskFacts(risks []policy.Risk) []Fact {
	isDeletion := func(r policy.Risk) bool { return r.What != "" && strings.HasPrefix(r.Text, "Deletes") }
	if slices.ContainsFunc(risks, isDeletion) {
		risks = slices.DeleteFunc(slices.Clone(risks), func(r policy.Risk) bool { return r.Text == deletesFolders })
	}
	var texts []string
	named, levels := map[string][]string{}, map[string]shell.Level{}
	for _, r := range risks {
		texts, levels[r.Text] = appendNew(texts, r.Text), max(levels[r.Text], r.Level)
		isBelow := func(name string) bool { return strings.HasPrefix(r.What, name+"/") }
		if r.What != "" && !slices.ContainsFunc(named[r.Text], isBelow) {
			named[r.Text] = appendNew(named[r.Text], r.What)
		}
	}
	facts := make([]Fact, len(texts))
	for i, text := range texts {
		facts[i] = Fact{tr(text, values{"What": firstOf(named[text])}), levels[text]}
	}
	return facts
}

const maxFact = 60

func firstOf(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return safeEndsOf(names[0], maxFact)
	}
	return safeEndsOf(names[0], maxFact) + fmt.Sprintf(" (+%d)", len(names)-1)
}

func worstFirst(facts []Fact) []Fact {
	slices.SortStableFunc(facts, func(a, b Fact) int { return int(b.Level) - int(a.Level) })
	return facts
}

// sentence joins facts: "Reads keys, and reaches example.com".
func sentence(facts []Fact) string {
	text := facts[0].Text
	for i, f := range facts[1:] {
		form := "{{.Some}}, {{.Next}}"
		if i == len(facts)-2 {
			form = "{{.Some}}, and {{.Next}}"
		}
		text = tr(form, values{"Some": text, "Next": withinSentence(f.Text)})
	}
	return text
}

// withinSentence returns a fact without its capital letter.
func withinSentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if next, _ := utf8.DecodeRuneInString(text[size:]); unicode.IsLower(next) {
		return string(unicode.ToLower(first)) + text[size:]
	}
	return text
}

// Worst returns the highest level among facts.
func Worst(facts []Fact) shell.Level {
	level := shell.Note
	for _, f := range facts {
		level = max(level, f.Level)
	}
	return level
}

func classLevel(c policy.Class) shell.Level {
	switch c {
	case policy.ReadOnly:
		return shell.Note
	case policy.Destructive:
		return shell.Danger
	}
	return shell.Caution
}

func reportedBy(machine string) string {
	return tr("reported by {{.Machine}}", values{"Machine": machineName(machine)})
}

type danger struct {
	At   int
	Text string // on one line
}

// describedBy returns the parts of a command for which a risk says what they do, and not only that they could do a lot.
func describedBy(risks []policy.Risk) (parts []string) {
	for _, r := range risks {
		if r.Level > shell.Note && r.Text != shell.RiskOther && r.Text != shell.RiskNetwork {
			parts = append(parts, r.Line)
		}
	}
	return parts
}

const longLine = 240

func dangersOf(command string, risks []policy.Risk) []danger {
	if !strings.Contains(strings.TrimSpace(command), "\n") && len(command) < longLine {
		return nil
	}
	var found []danger
	for _, r := range risks {
		if r.Level < shell.Danger || r.Line == "" || r.At > len(command) {
			continue
		}
		at := pipelineStart(command, r.At)
		if !slices.ContainsFunc(found, func(d danger) bool { return d.At == at }) {
			line, part := strings.Count(command[:at], "\n")+1, command[at:r.At]+r.Line
			after, isThere := strings.CutPrefix(command[at:], part)
			isRedirected := strings.IndexAny(strings.TrimLeft(after, " \t0123456789&"), "<>") == 0
			if !isThere || isRedirected { // r.Line has no redirections, and the values of variables
				part, _, _ = strings.Cut(command[at:], "\n")
			}
			text := tr("Line {{.Line}}: {{.Command}}", values{"Line": line, "Command": safeEndsOf(part, maxFact)})
			found = append(found, danger{at, text})
		}
	}
	slices.SortFunc(found, func(a, b danger) int { return a.At - b.At })
	return found
}

// pipelineStart returns where the line of the command at at starts if that reads from a pipe, because "sh" alone says
// nothing.
func pipelineStart(command string, at int) int {
	line := command[strings.LastIndex(command[:at], "\n")+1 : at]
	if before := strings.TrimRight(line, " \t"); !strings.HasSuffix(before, "|") || strings.HasSuffix(before, "||") {
		return at
	}
	return at - len(strings.TrimLeft(line, " \t"))
}

const muchRemoved = 100

func changeFact(added, removed int) Fact {
	level := shell.Note
	if removed >= muchRemoved && removed > 2*added {
		level = shell.Caution
	}
	return Fact{tr("+{{.Added}} -{{.Removed}} lines", values{"Added": Number(added), "Removed": Number(removed)}), level}
}

// HostOf returns the host and port that a program would connect to for address, or "" if programs might disagree.
func HostOf(address string) (host string, u *url.URL) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return "", nil
	}
	if strings.ContainsAny(address, "\\") || strings.ContainsAny(u.Host, "%@ ") || safetext.HasHidden(address) {
		return "", nil // some programs read \ as /, and drop invisible characters
	}
	name := u.Hostname()
	if !isForeign(name) {
		if _, err := netip.ParseAddr(name); err != nil && endsInNumber(name) {
			return "", nil // browsers read 2130706433 and 127.1 as 127.0.0.1, others as names
		}
		return u.Host, u
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", nil
	}
	return ascii + strings.TrimPrefix(u.Host, name), u
}

// isForeign reports whether a host name contains characters other than ASCII, possibly encoded.
func isForeign(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") ||
		strings.ContainsFunc(name, func(c rune) bool { return c >= utf8.RuneSelf })
}

// endsInNumber reports whether the last label of a host name is a number. Browsers then parse the name as an IP address
// (https://url.spec.whatwg.org/#ends-in-a-number-checker).
func endsInNumber(name string) bool {
	name = strings.TrimSuffix(name, ".")
	last := strings.ToLower(name[strings.LastIndex(name, ".")+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

const longQuery = 64

func addressFacts(address string) []Fact {
	host, u := HostOf(address)
	if host == "" {
		return []Fact{{tr("Unclear which host: programs may read this address differently"), shell.Danger}}
	}
	facts := addIf(nil, u.Scheme != "https", tr("Not encrypted"), shell.Caution)
	facts = addIf(facts, len(u.RawQuery)+len(u.Fragment) >= longQuery, tr("Sends data in the address"), shell.Caution)
	user := tr("A user name precedes the host: {{.Name}}@", values{"Name": PlainText(u.User.Username())})
	facts = addIf(facts, u.User != nil, user, shell.Danger)
	return append(facts, hostFacts(u.Hostname())...)
}

func hostFacts(name string) []Fact {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	addr, err := netip.ParseAddr(name)
	addr = addr.Unmap()
	isLocal := err == nil && (addr.IsLoopback() || addr.IsUnspecified())
	const metadata = "169.254.169.254" // where cloud machines get their keys
	switch {
	case name == metadata || name == "metadata.google.internal" || name == "fd00:ec2::254":
		return []Fact{{tr("Exposes this computer's keys"), shell.Danger}}
	case isLocal || name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return []Fact{{tr("This computer"), shell.Caution}}
	case err == nil && (addr.IsPrivate() || addr.IsLinkLocalUnicast()):
		return []Fact{{tr("Local network"), shell.Caution}}
	case err == nil:
		return []Fact{{tr("A bare IP address"), shell.Caution}}
	case isForeign(name):
		shown, _ := idna.Lookup.ToUnicode(name) // undecodable labels stay unchanged
		return []Fact{{tr("Host name with foreign letters: {{.Name}}", values{"Name": PlainText(shown)}), shell.Caution}}
	}
	return nil
}

func commandFacts(args arguments, at places) []Fact {
	var facts []Fact
	if _, dir, ok := args.text("workdir", "cwd", "dir_path", "directory"); ok && dir != "" {
		l := at.locate(dir)
		facts = addIf(facts, l.Path == "", tr("Unclear which folder it works in"), shell.Danger)
		facts = addIf(facts, l.Path != "" && !l.Inside, tr("Works outside the project"), shell.Caution)
	}
	isBackground := args.isTrue("run_in_background") || args.isTrue("is_background")
	facts = addIf(facts, isBackground, tr("In the background"), shell.Note)
	_, permissions, _ := args.text("sandbox_permissions")
	isOutside := args.isTrue("dangerouslyDisableSandbox") || args.isTrue("with_escalated_permissions") ||
		permissions == "require_escalated"
	return addIf(facts, isOutside, tr("Outside the sandbox"), shell.Danger)
}
