package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nod/policy/shell"
	"nod/policy/shell/language"
)

// Limits of one rule.
const (
	maxArgs     = 20
	maxExamples = 20
)

// mcpPrefix begins the names of tools of MCP servers: mcp__SERVER__TOOL.
const mcpPrefix = "mcp__"

func checkServer(name string) string {
	if strings.ContainsAny(name, " \t\n/") {
		return fmt.Sprintf("%q: want the name of an MCP server, in which * is any text and ? a character", name)
	}
	return ""
}

func checkHost(host string) string {
	name := strings.TrimPrefix(host, "*.")
	isPlain := name != "" && strings.Trim(name, hostLetters) == ""
	if isPlain && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".") {
		return ""
	}
	return fmt.Sprintf("%q: want a host in small letters, as in example.com, or *.example.com for those below it; "+
		"foreign letters as xn--…", host)
}

const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-:"

func checkArgs(r Rule) *FieldError {
	if len(r.Args) > maxArgs {
		return &FieldError{"args", fmt.Sprintf("%d of them: want at most %d", len(r.Args), maxArgs)}
	}
	for i, a := range r.Args {
		switch {
		case a.Field == "":
			const missing = "missing: want the name of a field of the input, or a JSON pointer such as /options/force"
			return &FieldError{fmt.Sprintf("args[%d].field", i), missing}
		case a.Value == "":
			const missing = "missing: want a text, in which * is any text and ? a character"
			return &FieldError{fmt.Sprintf("args[%d].value", i), missing}
		}
	}
	return nil
}

func checkExpires(text string) string {
	if _, err := expiry(text); err != nil {
		return fmt.Sprintf("%q: want a day such as 2030-12-31, or a time such as 2030-12-31T18:00:00Z", text)
	}
	return ""
}

// expiry returns the moment from which a rule is no longer in force; zero for never.
func expiry(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	return time.Parse(time.RFC3339, text)
}

func (r *compiledRule) inForce(now time.Time) bool {
	return r.expires.IsZero() || now.Before(r.expires)
}

// matchesServer matches the server in the tool's name. If the name can be split in several ways, as mcp_a_b_c can, an
// allow matches no server, and other effects match any of them.
func (r *compiledRule) matchesServer(f *facts) bool {
	rest, isMCP := strings.CutPrefix(f.call.Tool, mcpPrefix)
	mark := "__"
	if !isMCP && !r.Effect.Permits() {
		rest, isMCP = strings.CutPrefix(f.call.Tool, "mcp_")
		mark = "_"
	}
	if !isMCP {
		return false
	}
	first := strings.Index(rest, "__")
	if r.Effect.Permits() && (first < 1 || strings.LastIndex(rest, "__") != first) {
		return false
	}
	for i := 1; i < len(rest); i++ {
		if strings.HasPrefix(rest[i:], mark) && language.Wildcard(r.Server, rest[:i]) {
			return true
		}
	}
	return false
}

// matchesHost matches every address in the input. To allow, the tool must be one that only fetches, or one that the
// rule names, all addresses must match without doubt, and the rule must name the files that the call reaches. Otherwise
// a single match is enough, or a doubtful address.
func (r *compiledRule) matchesHost(f *facts) bool {
	if !r.Effect.Permits() {
		return r.mayReach(f)
	}
	hosts, sure := f.hosts()
	if !sure || len(hosts) == 0 || isShell(f.call.Tool) || f.input.isRun || !r.mayFetch(f) {
		return false
	}
	isFile := func(a access) bool { return a.source == fromField }
	return (r.path != nil || !slices.ContainsFunc(f.reach(), isFile)) &&
		!slices.ContainsFunc(hosts, func(host string) bool { return !r.isHost(host) })
}

// mayReach reports whether an address in the input is, or may be, of the rule's host. What else a field that nod does
// not know names may be a host, too, and so may a word of a command that reaches the network.
func (r *compiledRule) mayReach(f *facts) bool {
	in := &f.input
	isIn := func(address string) bool {
		if bareAddress().MatchString(address) {
			address = "http://" + address
		}
		host, ok := hostOf(address)
		return !ok || r.isHost(host)
	}
	isNamed := func(text string) bool { return r.isHost(strings.ToLower(aroundHost().ReplaceAllString(text, "$1"))) }
	isTold := func(p shell.Part) bool { return slices.ContainsFunc(p.Argv, isNamed) }
	return in.problem != "" || f.call.Input.isHidden || slices.ContainsFunc(in.addresses, isIn) ||
		f.line != nil && f.line.Network && slices.ContainsFunc(slices.Concat(f.line.Parts, f.line.Readings), isTold) ||
		slices.ContainsFunc(in.names, isNamed) || slices.ContainsFunc(in.named, func(n namedPath) bool {
		return n.field == unlisted && isNamed(n.path)
	})
}

var (
	bareAddress = language.Compiled(`^[\w-]+(\.[\w-]+)*(:\d+)?(/|$)`)
	aroundHost  = language.Compiled(`^(?:-+[\w-]+=)?(?:/dev/(?:tc|ud)p/|(?:[\w+.-]+:)?/+)?(?:[^/@]*@)?([^/:@]*?)\.?` +
		`(?:[/:].*)?$`)
)

func (r *compiledRule) mayFetch(f *facts) bool {
	if f.isKnown {
		return f.tool.fetches && (f.class == Network || r.Class != "" || r.Tool != "")
	}
	return isFetcher(f.call.Tool) || strings.Trim(r.Tool, "*?") != ""
}

func (r *compiledRule) isHost(host string) bool { return MatchesHost(r.Host, host) }

// MatchesHost reports whether a rule's pattern matches a lower-case host: example.com, or *.example.com for all below
// it.
func MatchesHost(pattern, host string) bool {
	if suffix, below := strings.CutPrefix(pattern, "*"); below {
		return len(host) > len(suffix) && strings.HasSuffix(host, suffix)
	}
	return host == pattern
}

// hosts returns the hosts of the addresses in the input. sure is false if an address could be read in two ways.
func (f *facts) hosts() (hosts []string, sure bool) {
	if f.input.problem != "" || f.call.Input.isHidden {
		return nil, false
	}
	for _, text := range f.input.addresses {
		host, ok := hostOf(text)
		if !ok {
			return hosts, false
		}
		hosts = append(hosts, host)
	}
	return hosts, true
}

// hostOf returns the lower-case host that every program contacts for a web address.
func hostOf(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" ||
		strings.ContainsAny(address, "\\ \t\r\n") || strings.ContainsAny(u.Host, "%@") {
		return "", false
	}
	host := strings.TrimRight(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String(), true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	isNumber := strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "" // 127.1 is 127.0.0.1 to many
	return host, host != "" && !isNumber && strings.Trim(host, hostLetters) == ""
}

const addressKeys language.Words = "url urls href link links website"

// addAddresses notes the addresses in a text: the whole text if the field is for an address, otherwise each word that
// contains one.
func (in *input) addAddresses(key, value string, f meaning) {
	hasScheme := strings.Contains(value, "://")
	if (f == urlField && !hasScheme) || (f == unlisted || f == urlField) && addressKeys.Has(lastWord(key)) {
		in.addAddress(value)
		return
	}
	if !hasScheme {
		return
	}
	for word := range strings.FieldsSeq(value) {
		start := strings.Index(strings.ToLower(word), "http")
		switch {
		case start >= 0 && strings.Contains(word[start:], "://"):
			in.addAddress(strings.TrimRight(word[start:], `"'`+"`"+`)]>,;`))
		case f == urlField && strings.Contains(word, "://"):
			in.addAddress(word) // of which the host is doubtful
		}
	}
}

func (in *input) addAddress(address string) {
	if len(in.addresses) == maxPaths {
		in.problem = "the input names more addresses than nod looks at"
		return
	}
	in.addresses = append(in.addresses, address)
}

func (r *compiledRule) matchesArgs(f *facts) bool {
	return !slices.ContainsFunc(r.Args, func(a Arg) bool {
		value, isThere := f.arg(a.Field, !r.Effect.Permits())
		return !isThere || !language.Wildcard(a.Value, value)
	})
}

// arg returns the text of one field of the input: a text, a number, true or false. With anyCase the letter case of the
// field's name does not matter.
func (f *facts) arg(field string, anyCase bool) (string, bool) {
	if !f.isTree {
		f.isTree = true
		decoder := json.NewDecoder(bytes.NewReader(f.call.Input.Raw))
		decoder.UseNumber()
		if decoder.Decode(&f.tree) != nil {
			f.tree = nil
		}
	}
	keys := []string{field}
	if strings.HasPrefix(field, "/") {
		keys = slices.Collect(jsontext.Pointer(field).Tokens())
	}
	value := f.tree
	for _, key := range keys {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
			for name := range v {
				if anyCase && value == nil && strings.EqualFold(name, key) {
					value = v[name]
				}
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != key {
				return "", false
			}
			value = v[i]
		default:
			return "", false
		}
	}
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
