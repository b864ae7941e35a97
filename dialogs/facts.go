package dialogs

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"nod/dialogs/safetext"
	"nod/policy"
	"nod/policy/shell"
)

// fact is one thing that nod worked out from a request itself, shown as a short badge beside the input. Its
// text is nod's own; what it quotes of a request is spelled out.
type fact struct {
	Text  string
	Level factLevel
}

// factLevel is how much a fact calls for attention.
type factLevel int

const (
	factNeutral factLevel = iota // good to know
	factCaution                  // look again
	factDanger                   // hard to undo, or outside what the agent was given
)

// addIf adds a fact when it is true.
func addIf(facts []fact, isTrue bool, text string, l factLevel) []fact {
	if isTrue {
		facts = append(facts, fact{text, l})
	}
	return facts
}

// placesFacts says what [placeFacts] says of each path, everything once.
func placesFacts(paths []string, cwd string) []fact {
	var facts []fact
	for _, l := range locate(paths, cwd) {
		facts = appendNew(facts, placeFacts(l)...)
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

// placeFacts says where a path leads and what is special there.
func placeFacts(l policy.Location) []fact {
	var facts []fact
	switch {
	case l.Path == "":
		facts = append(facts, fact{tr("unclear where this leads"), factDanger})
	case l.Inside:
		facts = append(facts, fact{tr("inside the project"), factNeutral})
	default:
		facts = append(facts, fact{tr("outside the project"), factCaution})
	}
	facts = addIf(facts, l.Own, tr("nod's own file"), factDanger)
	facts = addIf(facts, l.Guarded != "", tr("protected: {{.Name}}", values{"Name": l.Guarded}), factDanger)
	facts = addIf(facts, l.Secret, tr("keeps keys or passwords"), factDanger)
	return facts
}

// sizeFact is how much there is to read.
func sizeFact(text string) fact {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	chars := utf8.RuneCountInString(text)
	if lines == 1 {
		return fact{tr("{{.Chars}} characters", values{"Chars": chars}), factNeutral}
	}
	return fact{tr("{{.Lines}} lines, {{.Chars}} characters", values{"Lines": lines, "Chars": chars}), factNeutral}
}

// changeFact is how many lines a change adds and removes.
func changeFact(added, removed int) fact {
	return fact{tr("+{{.Added}} −{{.Removed}} lines", values{"Added": added, "Removed": removed}), factNeutral}
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

// addressFacts says what is special about the place that a URL leads to.
func addressFacts(address string) []fact {
	host, u := hostOf(address)
	if host == "" {
		return []fact{{tr("unclear which host"), factDanger}}
	}
	facts := []fact{{tr("host {{.Host}}", values{"Host": plainText(host)}), factNeutral}}
	facts = addIf(facts, u.Scheme != "https", tr("not encrypted"), factCaution)
	facts = addIf(facts, u.User != nil, tr("has a user name in front of the host"), factDanger)
	return append(facts, hostFacts(u.Hostname())...)
}

func hostFacts(name string) []fact {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	addr, err := netip.ParseAddr(name)
	addr = addr.Unmap()
	isLocal := err == nil && (addr.IsLoopback() || addr.IsUnspecified())
	switch {
	case isLocal || name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return []fact{{tr("this computer"), factCaution}}
	case err == nil && (addr.IsPrivate() || addr.IsLinkLocalUnicast()):
		return []fact{{tr("local network"), factCaution}}
	case err == nil:
		return []fact{{tr("a bare IP address"), factCaution}}
	case isForeign(name):
		shown, _ := idna.Lookup.ToUnicode(name) // what cannot be decoded stays as it is
		return []fact{{tr("host name in foreign letters: {{.Name}}", values{"Name": plainText(shown)}), factCaution}}
	}
	return nil
}

// commandFacts says what the fields beside a command ask for.
func commandFacts(args arguments, cwd string) []fact {
	var facts []fact
	if _, dir, ok := args.text("workdir", "cwd", "dir_path", "directory"); ok && dir != "" {
		for _, f := range placesFacts([]string{dir}, cwd) {
			if f.Level > factNeutral {
				facts = append(facts, fact{tr("works in a folder: {{.What}}", values{"What": f.Text}), f.Level})
			}
		}
	}
	isBackground := args.isTrue("run_in_background") || args.isTrue("is_background")
	facts = addIf(facts, isBackground, tr("in the background"), factNeutral)
	_, permissions, _ := args.text("sandbox_permissions")
	isOutside := args.isTrue("dangerouslyDisableSandbox") || args.isTrue("with_escalated_permissions") ||
		permissions == "require_escalated"
	return addIf(facts, isOutside, tr("outside the sandbox"), factDanger)
}

// maxPrograms is how many of a command's programs are named.
const maxPrograms = 6

// shellFacts says what a command line would do, as far as reading it tells.
func shellFacts(command, cwd string) []fact {
	a := shell.Analyze(command)
	var facts []fact
	if names := programNames(a); names != "" {
		facts = append(facts, fact{tr("runs {{.Programs}}", values{"Programs": names}), factNeutral})
	}
	facts = addIf(facts, a.Deletes, tr("deletes"), factDanger)
	facts = addIf(facts, a.Network, tr("reaches the network"), factCaution)
	facts = addIf(facts, shell.DrivesScreen(a), tr("can control your screen"), factDanger)
	facts = addIf(facts, a.Opaque || a.Unreadable, tr("not all of it can be foreseen"), factCaution)
	return append(facts, writtenFacts(a, cwd)...)
}

// programNames lists the programs that a command starts, each once.
func programNames(a shell.Analysis) string {
	var names []string
	for _, name := range a.Programs {
		if name != "" {
			names = appendNew(names, name)
		}
	}
	if len(names) > maxPrograms {
		names = append(names[:maxPrograms], "…")
	}
	return plainText(strings.Join(names, ", "))
}

// writtenFacts says where the paths lead that a command writes: the worst of each kind once.
func writtenFacts(a shell.Analysis, cwd string) []fact {
	var paths []string
	for _, p := range a.Parts {
		for _, access := range slices.Concat(p.Accesses, p.Output) {
			if access.Kind >= shell.Write {
				paths = append(paths, access.Path)
			}
		}
	}
	facts := placesFacts(paths, cwd)
	outside := slices.ContainsFunc(facts, func(f fact) bool { return f.Level > factNeutral })
	return slices.DeleteFunc(facts, func(f fact) bool { return outside && f.Level == factNeutral })
}
