package dialogs

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

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

// factLevel is how loud a fact is.
type factLevel int

const (
	factNeutral factLevel = iota // good to know
	factCaution                  // look again
	factDanger                   // hard to undo, or outside what the agent was given
)

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
	if l.Own {
		facts = append(facts, fact{tr("nod's own file"), factDanger})
	}
	if l.Guarded != "" {
		facts = append(facts, fact{tr("protected: {{.Name}}", values{"Name": l.Guarded}), factDanger})
	}
	if l.Secret {
		facts = append(facts, fact{tr("keeps keys or passwords"), factDanger})
	}
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
func changeFact(d diff) fact {
	return fact{tr("+{{.Added}} −{{.Removed}} lines", values{"Added": d.added, "Removed": d.removed}), factNeutral}
}

// hostOf returns the host that a program would go to for address, with its port, or "" when programs might
// disagree about it.
func hostOf(address string) (host string, u *url.URL) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return "", nil
	}
	if strings.ContainsAny(address, "\\") || strings.ContainsAny(u.Host, "%@ ") || safetext.HasHidden(address) {
		return "", nil // some programs take \ for /, and drop what does not show
	}
	return u.Host, u
}

// addressFacts says what is special about the place that a URL leads to.
func addressFacts(address string) []fact {
	host, u := hostOf(address)
	if host == "" {
		return []fact{{tr("unclear which host"), factDanger}}
	}
	facts := []fact{{tr("host {{.Host}}", values{"Host": plainText(host)}), factNeutral}}
	if u.Scheme != "https" {
		facts = append(facts, fact{tr("not encrypted"), factCaution})
	}
	if u.User != nil {
		facts = append(facts, fact{tr("has a user name in front of the host"), factDanger})
	}
	return append(facts, hostFacts(u.Hostname())...)
}

func hostFacts(name string) []fact {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	addr, err := netip.ParseAddr(name)
	switch {
	case name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && (addr.IsLoopback() || addr.IsUnspecified()):
		return []fact{{tr("this computer"), factCaution}}
	case err == nil && (addr.IsPrivate() || addr.IsLinkLocalUnicast()):
		return []fact{{tr("local network"), factCaution}}
	case err == nil:
		return []fact{{tr("a bare IP address"), factCaution}}
	case strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--"):
		return []fact{{tr("host name in foreign letters"), factCaution}}
	}
	return nil
}

// commandFacts says what the fields beside a command ask for.
func commandFacts(args arguments, cwd string) []fact {
	var facts []fact
	if _, dir, ok := args.text("workdir", "cwd", "dir_path", "directory"); ok && dir != "" {
		for _, f := range placeFacts(policy.Locate(dir, cwd)) {
			if f.Level > factNeutral {
				facts = append(facts, fact{tr("works in a folder: {{.What}}", values{"What": f.Text}), f.Level})
			}
		}
	}
	if args.isTrue("run_in_background") || args.isTrue("is_background") {
		facts = append(facts, fact{tr("in the background"), factNeutral})
	}
	_, permissions, _ := args.text("sandbox_permissions")
	if args.isTrue("dangerouslyDisableSandbox") || args.isTrue("with_escalated_permissions") || permissions == "require_escalated" {
		facts = append(facts, fact{tr("outside the sandbox"), factDanger})
	}
	return facts
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
	if a.Deletes {
		facts = append(facts, fact{tr("deletes"), factDanger})
	}
	if a.Network {
		facts = append(facts, fact{tr("reaches the network"), factCaution})
	}
	if shell.DrivesScreen(a) {
		facts = append(facts, fact{tr("can control your screen"), factDanger})
	}
	if a.Opaque || a.Unreadable {
		facts = append(facts, fact{tr("not all of it can be foreseen"), factCaution})
	}
	return append(facts, writtenFacts(a, cwd)...)
}

// programNames lists the programs that a command starts, each once.
func programNames(a shell.Analysis) string {
	var names []string
	for _, p := range a.Programs {
		if p.Name != "" && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	if len(names) > maxPrograms {
		names = append(names[:maxPrograms], "…")
	}
	return plainText(strings.Join(names, ", "))
}

// writtenFacts says where the paths lead that a command writes: the worst of each kind once.
func writtenFacts(a shell.Analysis, cwd string) []fact {
	var facts []fact
	for _, p := range a.Parts {
		for _, access := range slices.Concat(p.Accesses, p.Output) {
			if access.Kind < shell.Write {
				continue
			}
			for _, f := range placeFacts(policy.Locate(access.Path, cwd)) {
				if !slices.Contains(facts, f) {
					facts = append(facts, f)
				}
			}
		}
	}
	outside := slices.ContainsFunc(facts, func(f fact) bool { return f.Level > factNeutral })
	return slices.DeleteFunc(facts, func(f fact) bool { return outside && f.Level == factNeutral })
}
