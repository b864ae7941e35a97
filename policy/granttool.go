package policy

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"nod/policy/shell"
	"nod/policy/shell/language"
)

// What a grant may cover for a call that is neither a command nor an edit: all calls of its tool, the host it fetches
// from, or the folder it reads in. Each grant is for one agent in one project, and decides only if nothing else asks.

// here returns the folder that a grant is tied to: the project, or without one the folder that the agent works in.
// Links are followed, so that a grant does not pass to a folder that takes the place of the project.
func (f *facts) here() string { return cmp.Or(f.realTop(), f.call.CWD) }

func (f *facts) grantForTool() *Grant {
	for g := range f.granted(f.call.Tool, "") {
		isKept := g.Scope.IsPermanent() || g.Tool != f.call.Tool
		covers := g.AnyInput && f.spansTool() == nil && !(isKept && f.mayHarm()) ||
			g.Host != "" && f.fetches() == g.Host
		if covers && g.isAt(f.here()) {
			return g
		}
	}
	return nil
}

func (f *facts) offerTool() ([]Grant, error) {
	if err := f.spansTool(); err != nil {
		return nil, err
	}
	return []Grant{{CWD: f.here(), Tool: f.call.Tool, AnyInput: true, Shown: f.call.Tool}}, nil
}

// anyTool follows the name of a server in the Tool of a grant that covers all its tools.
const anyTool = "*"

// offerServer allows the tools of an MCP server, except those that may do harm.
func (f *facts) offerServer() ([]Grant, error) {
	server := serverOf(f.call.Tool)
	switch err := f.spansTool(); {
	case err != nil:
		return nil, err
	case server == "":
		return nil, errors.New("nod can't tell which MCP server it is of")
	case f.mayHarm():
		return nil, errors.New("a tool that may delete things or run code is not allowed with others")
	}
	tool := mcpPrefix + server + "__" + anyTool
	return []Grant{{CWD: f.here(), Tool: tool, AnyInput: true, Shown: tool}}, nil
}

// serverOf returns the MCP server in the name of a tool. It returns "" for other tools, and if the name can be split in
// several ways or has characters that models' APIs accept in no name: look-alike letters hide what a tool does.
func serverOf(tool string) string {
	rest, isMCP := strings.CutPrefix(tool, mcpPrefix)
	server, name, _ := strings.Cut(rest, "__")
	isOdd := strings.HasSuffix(server, "_") || strings.HasPrefix(server, "_") || strings.HasPrefix(name, "_")
	if !isMCP || name == "" || isOdd || strings.Contains(name, "__") || strings.ContainsFunc(rest, isOddInName) {
		return ""
	}
	return server
}

func isOddInName(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
}

func (g *Grant) server() string {
	if name, ok := strings.CutSuffix(g.Tool, "__"+anyTool); ok && g.AnyInput {
		return strings.TrimPrefix(name, mcpPrefix)
	}
	return ""
}

// spansTool says why the tool cannot be allowed as a whole. Of the tools that nod knows a web search can: the others
// have a narrower grant. What a tool of an MCP server does, only the server knows.
func (f *facts) spansTool() error {
	isSearch := f.isKnown && f.class == Network && !f.tool.fetches && !f.input.isOdd && len(f.reach()) == 0 &&
		strings.Contains(strings.ToLower(f.call.Tool), "search")
	switch {
	case f.input.isRun || isShell(f.call.Tool):
		return errors.New("it runs a command")
	case strings.HasSuffix(f.call.Tool, anyTool):
		return errors.New("its name ends with *")
	case isFetcher(f.call.Tool):
		return errors.New("it fetches pages: allow its host instead")
	case hasWord(f.call.Tool, screenWords):
		return errors.New("it may control your screen and click for you")
	case !isMCP(f.call.Tool) && !isSearch:
		return errors.New("only MCP tools and web searches can be allowed for any input")
	}
	return nil
}

// mayHarm reports whether a tool of an MCP server may destroy something or run code, according to its name or the
// caller. A server may name its tools as it likes, so a harmless name proves nothing.
func (f *facts) mayHarm() bool {
	return f.call.Declared == Destructive || f.call.Declared == Execute || hasWord(f.call.Tool, harmWords)
}

const (
	screenWords language.Words = "computer desktop screen mouse keyboard"
	harmWords   language.Words = "delete del remove rm unlink drop destroy purge wipe erase clear reset truncate " +
		"overwrite kill terminate revoke uninstall exec execute run eval evaluate shell bash terminal command " +
		"script code sql rmdir trash cmd powershell python javascript deletes deleted deletion removes removed " +
		"removal archive invoke deleting removing destroys executes executed kills prune flush expunge discard " +
		"cleanup spawn subprocess process repl js ruby perl php lua ssh deploy migration " +
		"flushall flushdb cypher kubectl cli"
)

func hasWord(name string, words language.Words) bool {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		isLast := i+1 < len(letters) && unicode.IsLower(letters[i+1]) // of several capitals: the D of DBDelete
		if unicode.IsUpper(r) && i > 0 && (isLast || !unicode.IsUpper(letters[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	between := func(r rune) bool { return !unicode.IsLetter(r) }
	return slices.ContainsFunc(strings.FieldsFunc(b.String(), between), words.Has)
}

func (f *facts) offerHost() ([]Grant, error) {
	host := f.fetches()
	if host == "" {
		return nil, errors.New("it does more than fetch pages of one public host")
	}
	return []Grant{{CWD: f.here(), Tool: f.call.Tool, Host: host, Shown: "https://" + host}}, nil
}

// fetches returns the one host that a tool fetches pages from if it does nothing else; "" if that is not certain. The
// tool and all fields must be known, and every address in the input, even if only mentioned, must be of that host.
func (f *facts) fetches() string {
	if !f.isKnown || !f.tool.fetches || f.class != Network || f.input.isOdd || f.input.isRun || len(f.reach()) > 0 ||
		f.call.Tool == roams {
		return ""
	}
	host := ""
	for _, field := range f.call.Input.fields {
		if f.tool.fields[field.name] != urlField {
			continue
		}
		h := pageHost(field.value)
		if h == "" || host != "" && h != host {
			return ""
		}
		host = h
	}
	all, sure := f.hosts()
	if !sure || slices.ContainsFunc(all, func(h string) bool { return h != host }) {
		return ""
	}
	return host
}

// roams is Crush's tool that gives a page to an agent of its own, which follows links from there.
const roams = "agentic_fetch"

// pageHost returns the host of an address that a grant may be about: https, the usual port, a public name, and a
// spelling that all programs read alike. It returns "" for any other address.
func pageHost(address string) string {
	host, ok := hostOf(address)
	if !ok || !isPublicName(host) {
		return ""
	}
	scheme, rest, _ := strings.Cut(strings.ToLower(address), "://")
	authority, _, _ := strings.Cut(rest, "/")
	if name := strings.TrimSuffix(strings.TrimSuffix(authority, ":443"), "."); scheme != "https" || name != host {
		return ""
	}
	return host
}

// isPublicName reports whether a host is a lower-case name that is not one of this machine or network. A last label
// with a digit may be part of an IP address; among names, only those in foreign letters have one.
func isPublicName(host string) bool {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2 || slices.Contains(labels, "") || strings.Contains(host, ":"):
		return false
	case strings.ContainsAny(last, "0123456789") && !strings.HasPrefix(last, "xn--"):
		return false
	}
	return !slices.Contains([]string{"localhost", "local", "localdomain", "internal", "lan", "home", "arpa"}, last)
}

// offerReads allows reading in the folders that this call reads in, or in the whole project.
func (f *facts) offerReads() ([]Grant, error) {
	if !f.isReader() {
		return nil, errors.New("it does more than read")
	}
	var list []Grant
	for _, a := range f.reach() {
		if f.readsByClass(a.place) {
			continue
		}
		folder, err := f.readRoot(a)
		if err != nil {
			return nil, err
		}
		g := Grant{CWD: f.here(), Reads: folder, Shown: "reading in " + tilde(folder, f.policy.places.Home)}
		if !slices.ContainsFunc(list, g.SameAs) {
			list = append(list, g)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("everything it reads is already allowed")
	}
	return list, nil
}

func (f *facts) isReader() bool {
	return f.isKnown && f.line == nil && f.class == ReadOnly && !f.input.isOdd && !f.input.isRun
}

func (f *facts) readsByClass(p place) bool {
	return f.policy.auto[ReadOnly.care()] && (len(f.policy.roots) == 0 || f.policy.isInRoots(p))
}

func (f *facts) readRoot(a access) (string, error) {
	folder := a.real
	if a.kind == shell.Read {
		folder = filepath.ToSlash(filepath.Dir(filepath.FromSlash(a.real)))
	}
	g := &f.policy.guard
	switch {
	case a.kind >= shell.Write || a.lost || a.relative:
		return "", errors.New("it does more than read")
	case f.inProject(a.place):
		return f.project(), nil
	case a.clean != a.real:
		return "", errors.New("symbolic links lead elsewhere")
	case g.holdsHome(folder) || g.holdsOwn(folder) || strings.Count(folder, "/") < 2:
		return "", errors.New("that folder contains too much")
	}
	return folder, nil
}

func (f *facts) grantForReads() *Grant {
	if !f.isReader() {
		return nil
	}
	var last *Grant
	for _, a := range f.reach() {
		if f.readsByClass(a.place) {
			continue
		}
		if last = f.grantForRead(a); last == nil {
			return nil
		}
	}
	return last
}

func (f *facts) grantForRead(a access) *Grant {
	if a.kind >= shell.Write || a.lost || a.relative {
		return nil
	}
	for g := range f.granted("", "") {
		if g.Reads != "" && isWithin(a.real, g.Reads) && isWithin(a.clean, g.Reads) && g.CWD == f.here() {
			return g
		}
	}
	return nil
}

// Offers are all that a prompt may show and offer about one call.
type Offers struct {
	Parts  []CommandPart `json:"parts,omitempty"` // of a command line that can be judged in parts
	Grants []Offer       `json:"grants,omitempty"`

	Allowed int `json:"allowed,omitempty"` // how often the user allowed exactly this call today
}

// An Offer is a grant that a prompt offers with an allow.
type Offer struct {
	Scope Scope `json:"scope"`
	Cover Cover `json:"cover"`
	// Object is the tool, host or folder that it covers; empty for what the call itself says.
	Object string `json:"object,omitempty"`
	Text   string `json:"text"` // what will be saved, word for word: what the grants share, then a line for each
}

// Grant returns the offer of a scope and cover; the zero Offer if there is none.
func (o Offers) Grant(scope Scope, cover Cover) Offer {
	for _, offer := range o.Grants {
		if offer.Scope == scope && offer.Cover == cover {
			return offer
		}
	}
	return Offer{}
}

// NewOffers works out what a prompt may offer for a call, in addition to the policy's grants. While the configuration
// is broken, the parts are judged by what is left of the policy, and the offers by the last good one.
func NewOffers(c Call, parts, good *Compiled, now time.Time) Offers {
	f := newFacts(&c, good, now)
	offers := Offers{Grants: f.offers()}
	if c.Contains {
		if project := f.containable(); project != "" {
			text := fmt.Sprintf("run the commands of %s in a sandbox and edit its files, without asking", plain(project))
			offers.Grants = append(offers.Grants, Offer{Always, CoverSandbox, project, text})
		}
	}
	if parts != good {
		f = newFacts(&c, parts, now)
	}
	offers.Parts = f.commandParts()
	return offers
}

func (f *facts) offers() []Offer {
	if f.call.Refused {
		return nil
	}
	var offers []Offer
	for _, cover := range Covers {
		list, err := f.grantsFor(cover)
		for _, scope := range Scopes {
			if err != nil || f.maySpan(scope, cover) != nil || scope == Everywhere && f.mayRoam(list) != nil {
				continue
			}
			for i := range list {
				list[i].Scope = scope
			}
			home := f.policy.places.Home
			offers = append(offers, Offer{scope, cover, list[0].object(home), grantsText(list, home)})
		}
	}
	return offers
}

// commandParts returns the state of each part of a command line. There are none for calls that run no command, and for
// commands that can only be judged as a whole.
func (f *facts) commandParts() []CommandPart {
	verdicts, _ := f.judgeParts()
	var parts []CommandPart
	for _, v := range verdicts {
		part := CommandPart{Text: v.part.Text, State: v.state, By: v.by.Rule, Why: v.part.Why}
		if v.file != nil {
			part.Text, part.Why = "> "+v.file.clean, ""
		}
		parts = append(parts, part)
	}
	return parts
}
